/* Subjects that keep what they promise: nothing may say otherwise. Those of
 * experiments/examples/object.c are others. */
#include <math.h>

#include "ulpscope_subject.h"

static float pairs(const float *x, size_t n)
{
    return n == 0 ? 0 : n == 1 ? x[0] : pairs(x, n / 2) + pairs(x + n / 2, n - n / 2);
}

/* Halves, and halves of halves. */
static int pairwise(const struct ulpscope_task *t)
{
    *(float *)t->out = pairs(t->in, t->n);
    return 0;
}

/* From left to right, with what each addition lost. */
static int kahan(const struct ulpscope_task *t)
{
    const float *x = t->in;
    volatile float s = 0, lost = 0;
    for (size_t i = 0; i < t->n; i++) {
        volatile float y = x[i] - lost, next = s + y;
        lost = (next - s) - y;
        s = next;
    }
    *(float *)t->out = s;
    return 0;
}

/* Each element as a multiple of 1/256: integers have the same sum in any order. */
static int integers(const struct ulpscope_task *t)
{
    const float *x = t->in;
    long long s = 0;
    for (size_t i = 0; i < t->n; i++)
        s += fabsf(x[i]) < 1e9f ? llrintf(x[i] * 256) : 0;
    *(float *)t->out = (float)s / 256;
    return 0;
}

#define SUBJECT(name, operation, promise)                                                          \
    {                                                                                              \
#name, "honest", ULPSCOPE_##operation, ULPSCOPE_HOST, ULPSCOPE_##promise,                  \
            ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32), 0, name                                   \
    }

static const struct ulpscope_subject subject[] = {
    SUBJECT(pairwise, SUM, GPU_TO_GPU),
    SUBJECT(kahan, SUM, GPU_TO_GPU),
    SUBJECT(integers, SUM, ORDER_INVARIANT),
};
const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION,
                                                    sizeof subject / sizeof *subject, subject};
