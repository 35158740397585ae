/* The steps of kernels/variance/chan.c on the device. */
#pragma once

#include "kernels/device/two_sum.cuh"
#include "kernels/mean/quotient.cuh"

template <typename A> struct part {
    unsigned long long count;
    A mean, scatter;
};

/* Merges the second into the first: `share` is its part of both counts, rounded; many(x) is x times
 * the first one's count, rounded. */
template <typename A, typename Many>
__device__ inline void merge_by(part<A> &a, const part<A> &b, A share, const Many &many)
{
    A d = subtract(b.mean, a.mean), q = multiply(d, share);
    A between = many(multiply(d, q));
    a.mean = add(a.mean, q);
    a.scatter = add(add(a.scatter, b.scatter), between);
    a.count += b.count;
}

template <typename A> __device__ inline void merge(part<A> &a, const part<A> &b)
{
    double count = (double)a.count;
    merge_by(a, b, quotient_of<A>((double)b.count, a.count + b.count),
             [=](A x) { return product<A>(convert<double>(x), count); });
}
