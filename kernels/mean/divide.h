/* Means by a sum and one division, on the CPU. */
#pragma once

#include "kernels/mean/quotient.h"
#include "kernels/method/method.h"

/* The sum that a method computes, divided by n and rounded once; NaN for n = 0. */
static inline enum status mean_of_sum(const struct method *sum, const struct task *t,
                                      struct problem *p)
{
    struct task of_sum = *t;
    of_sum.method = sum;
    enum status status = sum->cpu(&of_sum, p);
    double mean = quotient_rounded(t->accumulator, array_get(&t->out, 0), t->of->in.n);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &mean);
    return status;
}
