/* gpu_to_gpu: numbers of threads that nothing but its environment tells a subject. */
#include <unistd.h>

#include "experiments/check/attempts.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/clock.h"

enum { NUMBERS = 5 };

/* Is there time to start another process? */
static bool time_for_start(const struct check *c)
{
    return clock_ns() + clock_span(foreign_start_s(c->request->method)) < c->last;
}

enum status check_environment(struct check *c, struct check_outcome *o, struct problem *p)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned cores = online > 0 && online < THREADS_MAX / 2 ? (unsigned)online : 1;
    const unsigned number[NUMBERS] = {1, 3, 2 * cores, 2, 7};
    struct check_setting plain = check_plain(c, &c->at);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < NUMBERS && status == STATUS_OK && !check_enough(c, o); i++) {
        struct check_setting s = plain;
        struct array out;
        status = foreign_with_threads(&s.method, plain.method, number[i], p);
        if (status != STATUS_OK || (!check_keeps(c, s.method) && !time_for_start(c)))
            break;
        if (i == 0) {
            status = check_once(c, &plain, &out, p);
            if (status == STATUS_OK)
                status = check_take(c, o, &out, 0, p, "in this environment");
        }
        check_keep(c, s.method); /* processes stay up from case to case */
        if (status == STATUS_OK)
            status = check_once(c, &s, &out, p);
        o->now = check_variant(&s);
        if (status == STATUS_OK)
            status =
                check_take(c, o, &out, 0, p, "OMP_NUM_THREADS=%u in its environment", number[i]);
    }
    return status;
}
