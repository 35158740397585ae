/* kernels/mean/quotient.h on the device. */
#pragma once

#include "kernels/blocks/product.cuh"

/* a / n rounded once to A, of a number a of A, or a whole one; n is taken whole. NaN or inf for
 * n = 0. */
template <typename A> __device__ inline A quotient_of(double a, size_t n)
{
    double by = (double)n, quotient = __ddiv_rn(a, by);
    if constexpr (same_type<A, double>)
        return quotient;
    else
        return round_pair<A>(quotient, __fma_rn(-quotient, by, a));
}

template <typename A> __device__ inline A quotient(A a, size_t n)
{
    return quotient_of<A>(convert<double>(a), n);
}
