/* Additions in the accumulator A that say what their rounding lost. */
#pragma once

#include "kernels/device/device.cuh"

/* a - b, rounded once. */
template <typename A> __device__ inline A subtract(A a, A b)
{
    return add(a, -b);
}

template <typename A> __device__ inline bool is_finite(A x)
{
    return subtract(x, x) == rounded<A>(0.0f);
}

template <typename A> __device__ inline bool is_zero(A x)
{
    return x == rounded<A>(0.0f);
}

/* Compilers make better code of this than of the two above. */
template <typename A> __device__ inline bool is_number_but_zero(A x)
{
    return x != rounded<A>(0.0f) && subtract(x, x) == rounded<A>(0.0f);
}

__device__ inline float magnitude(float x)
{
    return fabsf(x);
}
__device__ inline double magnitude(double x)
{
    return fabs(x);
}
__device__ inline __half magnitude(__half x)
{
    return __habs(x);
}
__device__ inline __nv_bfloat16 magnitude(__nv_bfloat16 x)
{
    return __habs(x);
}

/* A rounded sum, and the exact sum less the rounded one. */
template <typename A> struct sum_and_error {
    A sum, error;
};

/* Knuth's TwoSum. Where the sum is not finite, the error is a NaN. */
template <typename A> __device__ inline sum_and_error<A> two_sum(A a, A b)
{
    A sum = add(a, b);
    A of_b = subtract(sum, a), of_a = subtract(sum, of_b);
    return {sum, add(subtract(a, of_a), subtract(b, of_b))};
}

/* Dekker's Fast2Sum, for |a| >= |b|. */
template <typename A> __device__ inline sum_and_error<A> fast_two_sum(A a, A b)
{
    A sum = add(a, b);
    return {sum, subtract(b, subtract(sum, a))};
}
