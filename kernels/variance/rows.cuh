/* Means and variances of a row on the device, as kernels/mean and kernels/variance have them. */
#pragma once

#include "kernels/mean/running.cuh"
#include "kernels/rows/statistics.cuh"
#include "kernels/variance/chan.cuh"

/* Beside part, where templates look for it. */
template <typename A> __device__ inline void join(part<A> &a, const part<A> &b)
{
    merge(a, b);
}

namespace statistics
{

template <typename A> struct moments {
    A mean, variance;
};

/* Of no elements a mean is NaN. */
template <typename A, typename S>
__device__ inline A tiled_mean(const elements<S> &x, const block &b)
{
    if (x.n == 0)
        return rounded<A>(NAN);
    return quotient(b.fold<A>(x.n, [&](size_t i) { return x.template as<A>(i); }), x.n);
}

template <typename A> struct textbook {
    template <typename S> static __device__ moments<A> of(const elements<S> &x, const block &b)
    {
        if (x.n == 0)
            return {rounded<A>(NAN), rounded<A>(NAN)};
        two_sums<A> both = b.fold<two_sums<A>>(x.n, [&](size_t i) {
            return two_sums<A>{x.template as<A>(i), product<A>(x[i], x[i])};
        });
        A mean = quotient(both.sum, x.n);
        return {mean, subtract(quotient(both.squares, x.n), multiply(mean, mean))};
    }
};

template <typename A> struct two_pass {
    template <typename S> static __device__ moments<A> of(const elements<S> &x, const block &b)
    {
        A mean = tiled_mean<A>(x, b);
        if (x.n == 0)
            return {mean, mean};
        A squares = b.fold<A>(x.n, [&](size_t i) {
            A distance = subtract(x.template as<A>(i), mean);
            return multiply(distance, distance);
        });
        return {mean, quotient(squares, x.n)};
    }
};

template <typename A> struct chan {
    template <typename S> static __device__ moments<A> of(const elements<S> &x, const block &b)
    {
        if (x.n == 0)
            return {rounded<A>(NAN), rounded<A>(NAN)};
        part<A> all = b.fold<part<A>>(x.n, [&](size_t i) {
            A element = x.template as<A>(i);
            return part<A>{1, element, subtract(element, element)};
        });
        return {all.mean, quotient(all.scatter, x.n)};
    }
};

template <typename A> struct welford {
    template <typename S> static __device__ moments<A> of(const elements<S> &x)
    {
        A mean = rounded<A>(NAN), scatter = mean;
        for (size_t k = 1; k <= x.n; k++) {
            A element = x.template as<A>(k - 1);
            if (k == 1) {
                mean = element;
                scatter = subtract(element, element);
                continue;
            }
            A before = subtract(element, mean);
            mean = running_mean(mean, before, k);
            scatter = add(scatter, multiply(before, subtract(element, mean)));
        }
        return {mean, quotient(scatter, x.n)};
    }
};

} // namespace statistics
