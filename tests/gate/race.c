/* Subjects of tests/gate/run: an honest sum; and one with a race: with a probability of 1/1000 a
 * run is off by a unit in the last place, independently of all others. */
#include <math.h>
#include <stdint.h>
#include <sys/random.h>

#include "ulpscope_subject.h"

static float sum(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float s = 0;
    for (size_t i = 0; i < t->n; i++)
        s += x[i];
    return s;
}

/* Of the kernel's generator: runs of different processes, too, are independent. */
static int rarely(void)
{
    static uint64_t drawn[32];
    static unsigned left;
    if (left == 0 && getrandom(drawn, sizeof drawn, 0) == (ssize_t)sizeof drawn)
        left = sizeof drawn / sizeof *drawn;
    return left > 0 && drawn[--left] < UINT64_MAX / 1000;
}

static int honest(const struct ulpscope_task *t)
{
    *(float *)t->out = sum(t);
    return 0;
}

static int race(const struct ulpscope_task *t)
{
    float s = sum(t);
    *(float *)t->out = rarely() ? nextafterf(s, INFINITY) : s;
    return 0;
}

#define SUBJECT(name, says)                                                                        \
    {                                                                                              \
#name, says, ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_RUN_TO_RUN,                             \
            ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32), 0, name                                   \
    }

static const struct ulpscope_subject subject[] = {
    SUBJECT(honest, "one after the other"),
    SUBJECT(race, "one run in 1,000 differs"),
};
const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION,
                                                    sizeof subject / sizeof *subject, subject};
