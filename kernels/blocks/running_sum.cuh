/* The accumulator of the atomic methods: the result itself, in memory.
 *
 * The hardware has no atomic addition to a single fp16 or bf16: atomicAdd makes a loop of
 * compare-and-swap of it, whose retries grow with everybody who contends. It has one to a pair of
 * them. So these additions go to the pair that the result is the lower half of, with -0, which
 * changes nothing, for the upper half: one rounding, as always. */
#pragma once

#include "kernels/device/device.cuh"

template <typename A> struct running_sum {
    typedef A cell;
    static __device__ cell of(A x) { return x; }
};
template <> struct running_sum<__half> {
    typedef __half2 cell;
    static __device__ cell of(__half x) { return __halves2half2(x, minus_zero<__half>()); }
};
template <> struct running_sum<__nv_bfloat16> {
    typedef __nv_bfloat162 cell;
    static __device__ cell of(__nv_bfloat16 x)
    {
        return __halves2bfloat162(x, minus_zero<__nv_bfloat16>());
    }
};

/* Before the additions: -0, the identity, or the sum of nothing. */
template <typename A> static __global__ void start_running_sum(size_t n, A *out)
{
    typedef running_sum<A> sum;
    *(typename sum::cell *)out = sum::of(sum_of(n, minus_zero<A>()));
}

template <typename A> __device__ inline void add_atomically(A *out, A x)
{
    typedef running_sum<A> sum;
    atomicAdd((typename sum::cell *)out, sum::of(x));
}
