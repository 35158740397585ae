/* The orders of kernels/rows/exponentials.h on the device. */
#pragma once

#include "kernels/rows/elementary.cuh"
#include "kernels/rows/exponentials.h"
#include "kernels/rows/statistics.cuh"

namespace statistics
{

template <typename A> struct exponentials {
    A max = rounded<A>(-INFINITY), sum = rounded<A>(0.0f);
};

template <typename A> __device__ inline bool masked(A x)
{
    return x == rounded<A>(-INFINITY);
}

template <typename A> __device__ inline A exponential(A x, A max)
{
    return exp_rounded(subtract(x, max));
}

template <typename A> __device__ inline A rescaled(const exponentials<A> &e, A max)
{
    return multiply(e.sum, exponential(e.max, max));
}

/* Elements begin .. end - 1 of a row. */
template <typename A, typename S>
__device__ inline A greatest(const elements<S> &x, size_t begin, size_t end, A m)
{
    for (size_t i = begin; i < end; i++)
        m = block::greater(m, x.template as<A>(i));
    return m;
}

template <typename A, typename S>
__device__ inline A sum_up(const elements<S> &x, size_t begin, size_t end, A max)
{
    A sum = rounded<A>(0.0f);
    for (size_t i = begin; i < end; i++)
        sum = add(sum, exponential(x.template as<A>(i), max));
    return sum;
}

template <typename A, typename S>
__device__ inline exponentials<A> two_passes(const elements<S> &x, size_t begin, size_t end)
{
    exponentials<A> e;
    e.max = greatest(x, begin, end, e.max);
    e.sum = sum_up(x, begin, end, e.max);
    return e;
}

/* A row of masked elements alone has no sum. */
template <typename A> __device__ inline void without(exponentials<A> &e, size_t n)
{
    if (n > 0 && masked(e.max))
        e.sum = rounded<A>(NAN);
}

template <typename A> struct serial_order {
    template <typename S> static __device__ exponentials<A> of(const elements<S> &x)
    {
        return two_passes<A>(x, 0, x.n);
    }
};

template <typename A> struct tiled_order {
    template <typename S> static __device__ exponentials<A> of(const elements<S> &x, const block &b)
    {
        exponentials<A> e;
        e.max = b.greatest<A>(x);
        A max = e.max;
        if (x.n > 0)
            e.sum = b.fold<A>(x.n, [&](size_t i) { return exponential(x.template as<A>(i), max); });
        return e;
    }
};

template <typename A> struct online_order {
    template <typename S> static __device__ exponentials<A> of(const elements<S> &x)
    {
        exponentials<A> e;
        for (size_t i = 0; i < x.n; i++) {
            A next = x.template as<A>(i);
            if (masked(next))
                continue;
            A max = block::greater(e.max, next);
            bool first = !(e.max > rounded<A>(-INFINITY));
            if (next > e.max && !first)
                e.sum = rescaled(e, next);
            e.sum = add(e.sum, exponential(next, next > e.max ? next : e.max));
            e.max = max;
        }
        without(e, x.n);
        return e;
    }
};

template <typename A> struct flash_order {
    template <typename S> static __device__ exponentials<A> of(const elements<S> &x)
    {
        exponentials<A> e;
        for (size_t begin = 0, end; begin < x.n; begin = end) {
            end = min(x.n, begin + EXPONENTIALS_BLOCK);
            A max = greatest(x, begin, end, e.max);
            if (masked(max))
                continue;
            A sum = sum_up(x, begin, end, max);
            A before = masked(e.max) ? rounded<A>(0.0f) : rescaled(e, max);
            e.max = max;
            e.sum = add(before, sum);
        }
        without(e, x.n);
        return e;
    }
};

template <typename A> struct split_order {
    template <typename S> static __device__ exponentials<A> of(const elements<S> &x)
    {
        size_t length = groups_of(x.n, EXPONENTIALS_PARTS), parts = 0;
        exponentials<A> part[EXPONENTIALS_PARTS], e;
        for (size_t begin = 0; begin < x.n; begin += length) {
            exponentials<A> one = two_passes<A>(x, begin, min(x.n, begin + length));
            if (masked(one.max))
                continue;
            e.max = block::greater(e.max, one.max);
            part[parts++] = one;
        }
        for (size_t k = 0; k < parts; k++)
            e.sum = add(e.sum, rescaled(part[k], e.max));
        without(e, x.n);
        return e;
    }
};

/* A row of an operation's Result<A>, whose write(x, e, y, begin, step) makes of the sum e the
 * results of elements begin, begin + step, ..., or that of the row. */
template <typename Result, typename Order> struct by_thread {
    static constexpr bool each = Result::each;
    template <typename S, typename A>
    static __device__ void row(const elements<S> &x, const results<A> &y, double)
    {
        Result::write(x, Order::of(x), y, 0, 1);
    }
};

template <typename Result, typename Order> struct by_block {
    static constexpr bool each = Result::each;
    template <typename S, typename A>
    static __device__ void row(const elements<S> &x, const results<A> &y, double, const block &b)
    {
        Result::write(x, Order::of(x, b), y, threadIdx.x, blockDim.x);
    }
};

template <template <typename> class Result> struct exponentials_rows {
    template <typename A> using serial = by_thread<Result<A>, serial_order<A>>;
    template <typename A> using online = by_thread<Result<A>, online_order<A>>;
    template <typename A> using flash = by_thread<Result<A>, flash_order<A>>;
    template <typename A> using split = by_thread<Result<A>, split_order<A>>;
    template <typename A> using tiled = by_block<Result<A>, tiled_order<A>>;
};

} // namespace statistics

#define EXPONENTIALS_WALK(its_operation, order, result)                                            \
    STATISTIC_CUDA(its_operation, order, no_workspace,                                             \
                   statistics::walk_narrow<statistics::exponentials_rows<result>::order>(t, 0))
/* The CUDA sides of OPERATION/serial, tiled, online, flash, split. */
#define EXPONENTIALS_CUDA(its_operation, result)                                                   \
    EXPONENTIALS_WALK(its_operation, serial, result)                                               \
    EXPONENTIALS_WALK(its_operation, online, result)                                               \
    EXPONENTIALS_WALK(its_operation, flash, result)                                                \
    EXPONENTIALS_WALK(its_operation, split, result)                                                \
    STATISTIC_CUDA(its_operation, tiled, statistics::workspace,                                    \
                   statistics::fold_narrow<statistics::exponentials_rows<result>::tiled>(t, 0))
