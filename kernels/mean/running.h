/* A mean that runs along with the elements. */
#pragma once

#include "kernels/mean/quotient.h"

/* The mean of k elements by that of k - 1 of them, `away` = x - mean rounded, x the k-th: the
 * quotient of `away` by k, which is taken whole, is rounded, and the sum is. Values of f. */
static inline double running_mean(enum format f, double mean, double away, size_t k)
{
    return format_add(f, mean, quotient_rounded(f, away, k));
}
