/* What all attempts at a rung come to. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "experiments/check/attempts.h"
#include "experiments/check/report.h"
#include "experiments/options/subject_name.h"
#include "experiments/subjects/foreign.h"

const char *const check_state_name[CHECK_STATES] = {
    [CHECK_NOT_TRIED] = "not tried",
    [CHECK_KEPT] = "kept",
    [CHECK_BROKEN] = "broken",
    [CHECK_FAILED] = "failed",
};

bool check_kind_of(enum check_kind kind, enum promise rung)
{
    return rung > PROMISE_NONE &&
           (check_kinds[kind].rung == rung || check_kinds[kind].beside == rung);
}

enum promise check_next(const struct operation *o, enum promise rung)
{
    do
        rung++;
    while (rung < PROMISES_ALL && (rung == PROMISES || !operation_may_promise(o, rung)));
    return rung;
}

enum promise check_meant(const struct check_report *r, enum check_kind kind)
{
    enum promise beside = check_kinds[kind].beside;
    bool other = beside == PROMISE_BATCH_INVARIANT && kind != CHECK_OFFSET;
    return other && operation_may_promise(r->request.method->operation, beside)
               ? beside
               : check_kinds[kind].rung;
}

bool check_holds(const struct check_request *r, enum promise rung)
{
    return rung > PROMISE_NONE &&
           (rung < PROMISES ? rung <= r->promise : (r->beside & 1u << rung) != 0);
}

const char *check_held_name(const struct check_request *r)
{
    enum promise rung = r->promise;
    for (enum promise i = check_next(r->method->operation, PROMISES);
         rung == PROMISE_NONE && i < PROMISES_ALL; i = check_next(r->method->operation, i))
        rung = check_holds(r, i) ? i : PROMISE_NONE;
    return promise_name[rung];
}

/* Does one include the other? Of the ladder a promise beside it includes run_to_run alone. */
static bool includes(enum promise rung, enum promise low)
{
    return rung == low || (rung < PROMISES ? low < rung : low == PROMISE_RUN_TO_RUN);
}

static struct check_rung sum_of_kinds(const struct check_report *r, enum promise rung)
{
    const struct check_over *over = &r->over[rung];
    struct check_rung is = {.shapes = over->shapes.count,
                            .lengths = over->lengths.count,
                            .inputs = over->inputs.count,
                            .batches = over->batches.count,
                            .followed = over->followed.count,
                            .least_n = over->least_n,
                            .most_n = over->most_n,
                            .counts = ""};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
        const struct check_tried *t = &r->tried[kind];
        if (!check_kind_of(kind, rung))
            continue;
        is.attempts += t->attempts;
        is.differing += t->differing;
        is.unanswered += t->unanswered;
        if (t->distinct > is.distinct) {
            is.distinct = t->distinct;
            is.counts = t->counts;
        }
    }
    if (check_kind_of(CHECK_BATCH, rung) && check_batches_tried(r) > is.batches)
        is.batches = check_batches_tried(r); /* of which the set has no room for all */
    is.unseen_p95 = is.attempts ? -expm1(log(0.05) / (double)is.attempts) : 1;
    return is;
}

/* The lowest rung that this includes in which results differ, else this; PROMISE_NONE: none. */
static enum promise lowest_broken(const struct check_report *r, enum promise rung)
{
    for (enum promise low = PROMISE_RUN_TO_RUN; low < PROMISES_ALL; low++)
        for (size_t kind = 0; kind < CHECK_KINDS; kind++)
            if (includes(rung, low) && check_kind_of(kind, low) && r->tried[kind].broken > 0)
                return low;
    return PROMISE_NONE;
}

/* Has a kind before it the same reason? */
static bool said_before(const struct check_report *r, enum promise rung, size_t kind)
{
    for (size_t k = 0; k < kind; k++)
        if (check_kind_of(k, rung) && strcmp(r->tried[k].untried, r->tried[kind].untried) == 0)
            return true;
    return false;
}

/* Reasons of its kinds, each once. */
static void say_untried(struct check_rung *is, const struct check_report *r, enum promise rung)
{
    size_t used = 0;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
        const char *why = r->tried[kind].untried;
        if (!check_kind_of(kind, rung) || !*why || said_before(r, rung, kind) ||
            used >= sizeof is->reason - 1)
            continue;
        used += (size_t)snprintf(is->reason + used, sizeof is->reason - used, "%s%s",
                                 used ? "; " : "", why);
    }
}

/* Was nothing compared with another device, or with what one gave? */
static bool alone(const struct check_report *r)
{
    return r->tried[CHECK_DEVICE].attempts + r->tried[CHECK_RECORDED].attempts == 0;
}

/* These rungs are claims about every device that runs the subject, so results of one device are no
 * evidence for them. Our methods on the CPU are the specification that the other devices are held
 * to. Correct rounding needs no second device: the exact result is the same everywhere. */
static bool needs_another(const struct check_report *r, enum promise rung)
{
    const struct check_request *q = &r->request;
    bool all = rung == PROMISE_GPU_TO_GPU || rung == PROMISE_ORDER_INVARIANT;
    bool gpu = q->device.kind == DEVICE_CUDA;
    return all && alone(r) &&
           (gpu || (q->method->foreign && format_pairs_any(method_pairs(q->method, DEVICE_CUDA))));
}

static void add_reason(struct check_rung *is, const char *words)
{
    size_t used = strlen(is->reason);
    snprintf(is->reason + used, sizeof is->reason - used, "%s%s", used ? "; " : "", words);
}

/* May OpenMP have started fewer threads than were asked for? A subject does not tell. NULL: no. */
static const char *fewer_threads(const struct check_report *r)
{
    const struct method *m = r->request.method;
    bool reads = m->foreign && (m->shape_read[r->request.device.kind] & SHAPE_THREADS);
    const char *dynamic = getenv("OMP_DYNAMIC"), *limit = getenv("OMP_THREAD_LIMIT"),
               *levels = getenv("OMP_MAX_ACTIVE_LEVELS");
    const struct numbers *asked = &r->request.threads;
    uint64_t most = asked->count ? 0 : UINT64_MAX;
    for (size_t i = 0; i < asked->count; i++)
        most = asked->item[i] > most ? asked->item[i] : most;
    if (reads && levels && strtoull(levels, NULL, 10) == 0)
        return "OMP_MAX_ACTIVE_LEVELS is 0: one thread may have run in place of those asked for";
    if (reads && dynamic && strcasecmp(dynamic, "true") == 0)
        return "OMP_DYNAMIC is true: fewer threads may have run than were asked for";
    return reads && limit && strtoull(limit, NULL, 10) < most
               ? "OMP_THREAD_LIMIT is set: fewer threads may have run than were asked for"
               : NULL;
}

/* What was not tried although the rung is kept. */
static void say_open(struct check_rung *is, const struct check_report *r, enum promise rung)
{
    char below[CHECK_REASON] = "", refused[CHECK_REFUSED];
    if (rung == PROMISE_GPU_TO_GPU && alone(r))
        add_reason(is, format_pairs_any(method_pairs(r->request.method, DEVICE_CUDA))
                           ? "on this CPU: no other device was tried"
                           : "on this CPU: no other device runs it");
    if (rung == PROMISE_GPU_TO_GPU && r->over[rung].most_message > 0) {
        char words[CHECK_REASON];
        snprintf(words, sizeof words, "messages of %zu to %zu elements",
                 r->over[rung].least_message, r->over[rung].most_message);
        add_reason(is, words);
    }
    if (rung == PROMISE_GPU_TO_GPU && fewer_threads(r))
        add_reason(is, fewer_threads(r));
    for (enum promise low = PROMISE_RUN_TO_RUN; low < PROMISES && low < rung; low++) {
        size_t used = strlen(below);
        if (includes(rung, low) && check_rung(r, low).state == CHECK_NOT_TRIED)
            snprintf(below + used, sizeof below - used, "%s%s",
                     used ? ", " : "not tried below it: ", promise_name[low]);
    }
    if (*below)
        add_reason(is, below);
    check_refused_text(refused, r);
    if (*refused)
        add_reason(is, refused);
}

/* The lowest rung below that was begun and is not tried, so that this one, which includes it, is
 * not either; PROMISE_NONE: none. One that nothing was asked of leaves open what say_open says. The
 * exact result, rounded once, tells for itself that no run gave another. */
static enum promise begun_below(const struct check_report *r, enum promise rung)
{
    for (enum promise low = PROMISE_RUN_TO_RUN; low < PROMISES; low++) {
        if (low == rung || !includes(rung, low) || rung == PROMISE_CORRECTLY_ROUNDED)
            continue;
        uint64_t attempts = sum_of_kinds(r, low).attempts;
        if (attempts > 0 && (attempts < CHECK_LEAST || check_missed(NULL, r, low)))
            return low;
    }
    return PROMISE_NONE;
}

/* A function object of Python runs in the process that started ulpscope, where the number of
 * threads stays as it is. */
static bool lent(const struct check_request *q)
{
    return check_environs(q) && name_is_python(q->method->name) && !foreign_restarts(q->method);
}

static const char own_threads[] = "a function of this process has its threads alone: name it "
                                  "(MODULE.FUNCTION, FILE.py:FUNCTION) to try others";

/* Does its library have fewer threads than were asked for? Time would not mend that. */
static bool says_fewer(struct check_rung *is, const struct check_report *r)
{
    const struct numbers *asked = &r->request.threads;
    if (asked->count > 0 && lent(&r->request)) {
        snprintf(is->reason, sizeof is->reason, "%s", own_threads);
        return true;
    }
    for (size_t i = 0; i < asked->count; i++) {
        unsigned made = check_threads_made(&r->request, (unsigned)asked->item[i]);
        if (made == asked->item[i])
            continue;
        snprintf(is->reason, sizeof is->reason, "%llu threads were asked for: its library has %u",
                 (unsigned long long)asked->item[i], made);
        return true;
    }
    return false;
}

/* Why what was tried is no evidence of other launch shapes, which gpu_to_gpu speaks of before all,
 * or, of a model, of other chips; NULL: it is. Of a subject of the user's one shape is none; our
 * own are known. */
static const char *shapes_open(const struct check_report *r, enum promise rung)
{
    const struct check_request *q = &r->request;
    const struct check_tried *shape = &r->tried[CHECK_SHAPE],
                             *environment = &r->tried[CHECK_ENVIRONMENT];
    bool varies = (q->tried[CHECK_SHAPE] && q->method->shape_read[q->device.kind]) ||
                  (q->tried[CHECK_ENVIRONMENT] && check_environs(q));
    if (rung != PROMISE_GPU_TO_GPU)
        return NULL;
    if (q->tried[CHECK_ENVIRONMENT] && lent(q))
        return own_threads;
    if (shape->late || environment->late)
        return "time ran out before another launch shape: more --seconds reach it";
    if (r->tried[CHECK_DEVICE].late && q->method->of_chip)
        return "time ran out before another chip's model: more --seconds reach it";
    uint64_t others = shape->attempts + environment->attempts;
    bool one = r->over[rung].shapes.count == 1 || others == 0;
    if (varies && q->method->foreign && !one && others < CHECK_LEAST && !shape->all &&
        !environment->all)
        return "fewer than 10 attempts in another launch shape: more --seconds make more";
    return !varies || !q->method->foreign || !one ? NULL
           : check_environs(q)
               ? "tried in one launch shape alone: give --threads two numbers or more"
               : "tried in one launch shape alone: give --threads two numbers or more, or --blocks";
}

/* Why what was tried is no evidence of other numbers of ranks; NULL: it is. */
static const char *ranks_open(const struct check_report *r, enum promise rung)
{
    return rung == PROMISE_RANK_INVARIANT && r->over[rung].ranks.count == 1
               ? "tried on one number of ranks alone: give --ranks fewer, so that more can be added"
               : NULL;
}

/* Kinds of attempt that time ran out before: what an output may depend on is something else in
 * each, so that batch_invariant needs all. "": none. */
static void kinds_open(char words[CHECK_REASON], const struct check_report *r, enum promise rung)
{
    size_t used = 0;
    *words = 0;
    for (size_t kind = 0; kind < CHECK_KINDS && rung == PROMISE_BATCH_INVARIANT; kind++)
        if (check_kind_of(kind, rung) && r->request.tried[kind] && r->tried[kind].attempts == 0 &&
            r->tried[kind].late)
            used += (size_t)snprintf(words + used, CHECK_REASON - used, "%s%s",
                                     used ? ", " : "time ran out before ", check_kinds[kind].name);
    if (used)
        snprintf(words + used, CHECK_REASON - used, ": more --seconds reach %s",
                 strchr(words, ',') ? "them" : "it");
}

/* Were all cases of its kinds tried, so that more time would make no more attempts? */
static bool all_tried(const struct check_report *r, enum promise rung)
{
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (check_kind_of(kind, rung) && r->request.tried[kind] &&
            (r->tried[kind].attempts > 0 ? !r->tried[kind].all : r->tried[kind].late))
            return false;
    return true;
}

static void say_unanswered(struct check_rung *is)
{
    char words[CHECK_REASON];
    snprintf(words, sizeof words,
             "%llu run%s had no answer when the time ended: more --seconds tell why",
             (unsigned long long)is->unanswered, is->unanswered > 1 ? "s" : "");
    add_reason(is, words);
}

struct check_rung check_rung(const struct check_report *r, enum promise rung)
{
    struct check_rung is = sum_of_kinds(r, rung);
    enum promise broken = lowest_broken(r, rung), begun = begun_below(r, rung);
    bool failed = r->failure.status != STATUS_OK && check_kind_of(r->failed, rung);
    bool enough = is.attempts >= CHECK_LEAST;
    const char *open = shapes_open(r, rung);
    open = open ? open : ranks_open(r, rung);
    char missed[CHECK_REASON] = "", kinds[CHECK_REASON];
    kinds_open(kinds, r, rung);
    open = open || !*kinds ? open : kinds;
    if (is.attempts > 0)
        check_missed(missed, r, rung);
    is.state = broken                                                             ? CHECK_BROKEN
               : failed                                                           ? CHECK_FAILED
               : enough && !begun && !*missed && !open && !needs_another(r, rung) ? CHECK_KEPT
                                                                                  : CHECK_NOT_TRIED;
    if (broken && broken != rung)
        snprintf(is.reason, sizeof is.reason, "%s is broken", promise_name[broken]);
    else if (is.state == CHECK_FAILED)
        snprintf(is.reason, sizeof is.reason, "%.*s", CHECK_REASON - 1, r->failure.text);
    else if (is.state == CHECK_KEPT)
        say_open(&is, r, rung);
    else if (is.state == CHECK_NOT_TRIED && enough && !*missed && open)
        snprintf(is.reason, sizeof is.reason, "%s", open);
    else if (is.state == CHECK_NOT_TRIED && enough && *missed && says_fewer(&is, r))
        ;
    else if (is.state == CHECK_NOT_TRIED && enough && *missed)
        snprintf(is.reason, sizeof is.reason,
                 "asked for, but time ran out before: %s; more --seconds reach it", missed);
    else if (is.state == CHECK_NOT_TRIED && enough && begun && check_missed(missed, r, begun))
        snprintf(is.reason, sizeof is.reason, "%s below it was not tried at %s",
                 promise_name[begun], missed);
    else if (is.state == CHECK_NOT_TRIED && enough && begun)
        snprintf(is.reason, sizeof is.reason,
                 "of %s below it %llu attempts, %d are needed: more --seconds", promise_name[begun],
                 (unsigned long long)sum_of_kinds(r, begun).attempts, CHECK_LEAST);
    else if (is.state == CHECK_NOT_TRIED && enough)
        snprintf(is.reason, sizeof is.reason, "needs another %s",
                 r->request.device.kind == DEVICE_CUDA ? "GPU" : "device");
    else if (is.state == CHECK_NOT_TRIED && is.attempts > 0 && all_tried(r, rung))
        snprintf(is.reason, sizeof is.reason,
                 "%llu attempts, %d are needed, and all cases that were asked for are tried: other "
                 "--data, --input or --n make more",
                 (unsigned long long)is.attempts, CHECK_LEAST);
    else if (is.state == CHECK_NOT_TRIED && is.attempts > 0)
        snprintf(is.reason, sizeof is.reason, "%llu attempts, %d are needed: more --seconds",
                 (unsigned long long)is.attempts, CHECK_LEAST);
    else if (is.state == CHECK_NOT_TRIED)
        say_untried(&is, r, rung);
    if (is.unanswered > 0 && (is.state == CHECK_KEPT || is.state == CHECK_NOT_TRIED))
        say_unanswered(&is);
    return is;
}

bool check_unheld(const struct check_report *report, enum promise promise)
{
    const struct check_request *r = &report->request;
    if (promise == PROMISE_NONE)
        return false;
    const struct check_rung rung = check_rung(report, promise);
    if (rung.state != CHECK_NOT_TRIED || !check_partly(report))
        return rung.state == CHECK_NOT_TRIED;
    const bool one_case = r->inputs == 1 && r->n.count == 1 && r->pairs.count == 1;
    return check_missed(NULL, report, promise) || (!one_case && rung.attempts < CHECK_LEAST);
}

enum promise check_first_broken(const struct check_report *r)
{
    const struct operation *o = r->request.method->operation;
    for (enum promise rung = check_next(o, PROMISE_NONE); rung < PROMISES_ALL;
         rung = check_next(o, rung))
        if (check_holds(&r->request, rung) && check_rung(r, rung).state == CHECK_BROKEN)
            return rung;
    return PROMISE_NONE;
}

bool check_exceeded(const struct check_report *r)
{
    return r->tried[CHECK_EXACT].exceeding > 0;
}

bool check_broken(const struct check_report *r)
{
    return check_first_broken(r) > PROMISE_NONE || check_exceeded(r);
}

enum promise check_kept(const struct check_report *r)
{
    enum promise kept = PROMISE_NONE;
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++) {
        enum check_state state = check_rung(r, rung).state;
        if (state == CHECK_BROKEN || state == CHECK_FAILED)
            break;
        if (state == CHECK_KEPT)
            kept = rung;
    }
    return kept;
}
