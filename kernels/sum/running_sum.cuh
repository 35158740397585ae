/* The accumulator of the atomic methods: the result itself, in memory. */
#ifndef ULPSCOPE_RUNNING_SUM_CUH
#define ULPSCOPE_RUNNING_SUM_CUH

#include "kernels/device.cuh"

/* Before the additions: -0, the identity, or the sum of nothing. */
template <typename A> static __global__ void start_running_sum(size_t n, A *out)
{
    *out = sum_of(n, minus_zero<A>());
}

#endif
