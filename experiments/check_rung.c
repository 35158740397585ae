#include <math.h>

#include "experiments/check_private.h"

struct check_rung check_rung(const struct check_report *r, enum promise rung)
{
    struct check_rung is = {.counts = ""};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
        const struct check_tried *t = &r->tried[kind];
        if (check_kinds[kind].rung != rung)
            continue;
        is.attempts += t->attempts;
        is.differing += t->differing;
        is.broken |= t->broken > 0;
        if (t->distinct > is.distinct) {
            is.distinct = t->distinct;
            is.counts = t->counts;
        }
    }
    is.unseen_p95 = is.attempts ? -expm1(log(0.05) / (double)is.attempts) : 1;
    return is;
}

bool check_broken(const struct check_report *r)
{
    bool broken = false;
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung <= r->request.promise; rung++)
        broken |= check_rung(r, rung).broken;
    return broken;
}

enum promise check_kept(const struct check_report *r)
{
    enum promise kept = PROMISE_NONE;
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++) {
        struct check_rung is = check_rung(r, rung);
        bool failed = r->failure.status != STATUS_OK && check_kinds[r->failed].rung <= rung;
        if (is.broken || failed)
            break;
        if (is.attempts > 0)
            kept = rung;
    }
    return kept;
}
