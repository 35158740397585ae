/* What some consecutive elements of a scan add up to, in the accumulator A: what the tree of
 * scan/tiled is walked for on a GPU. The three kinds are those of scan/tiled, scan/compensated and
 * scan/segmented, whose .c files say how they are added. (A fourth is exact_piece.cuh's.)
 *
 * Nothing is a value that changes none when it is added: -0, with no error and no head. (Where a
 * sum is not finite, its error may become a NaN; it does not count then.)
 *
 * To be published a piece is coded as words of which none is 0. */
#pragma once

#include "kernels/device/coded.cuh"
#include "kernels/device/two_sum.cuh"

/* As pieces are published. */
typedef unsigned long long word;

template <typename A> struct plain_piece {
    typedef A accumulator;
    static constexpr unsigned words = 1;
    static constexpr bool segmented = false, exact = false, starts = false;
    A sum;

    static __device__ plain_piece nothing() { return {minus_zero<A>()}; }
    static __device__ plain_piece leaf(A x, bool) { return {x}; }
    __device__ A value(bool *) const { return sum; }
    /* Of the lane d before, of the lane whose number differs by the bits d, of lane d. */
    __device__ plain_piece up(unsigned d) const { return {__shfl_up_sync(whole_warp, sum, d)}; }
    __device__ plain_piece across(unsigned d) const
    {
        return {__shfl_xor_sync(whole_warp, sum, d)};
    }
    __device__ plain_piece of(unsigned d) const { return {__shfl_sync(whole_warp, sum, d)}; }
    __device__ word code(unsigned) const { return code_of<word>(sum); }
    static __device__ plain_piece decode(const word *w) { return {coded<A>(w[0])}; }
};

template <typename A> __device__ inline plain_piece<A> join(plain_piece<A> a, plain_piece<A> b)
{
    return {add(a.sum, b.sum)};
}

/* A sum and what the roundings of its additions lost. */
template <typename A> struct compensated_piece {
    typedef A accumulator;
    static constexpr unsigned words = 2;
    static constexpr bool segmented = false, exact = false, starts = false;
    A sum, error;

    static __device__ compensated_piece nothing() { return leaf(minus_zero<A>(), false); }
    static __device__ compensated_piece leaf(A x, bool) { return {x, rounded<A>(0.0f)}; }
    __device__ A value(bool *) const { return is_number_but_zero(error) ? add(sum, error) : sum; }
    __device__ compensated_piece up(unsigned d) const
    {
        return {__shfl_up_sync(whole_warp, sum, d), __shfl_up_sync(whole_warp, error, d)};
    }
    __device__ compensated_piece across(unsigned d) const
    {
        return {__shfl_xor_sync(whole_warp, sum, d), __shfl_xor_sync(whole_warp, error, d)};
    }
    __device__ compensated_piece of(unsigned d) const
    {
        return {__shfl_sync(whole_warp, sum, d), __shfl_sync(whole_warp, error, d)};
    }
    __device__ word code(unsigned k) const { return code_of<word>(k ? error : sum); }
    static __device__ compensated_piece decode(const word *w)
    {
        return {coded<A>(w[0]), coded<A>(w[1])};
    }
};

/* Knuth's TwoSum, and the errors of both. */
template <typename A>
__device__ inline compensated_piece<A> join(compensated_piece<A> a, compensated_piece<A> b)
{
    sum_and_error<A> both = two_sum(a.sum, b.sum);
    return {both.sum, add(a.error, add(b.error, both.error))};
}

/* A sum since the last head; nothing that lies before a head is added. */
template <typename A> struct segmented_piece {
    typedef A accumulator;
    static constexpr unsigned words = 2;
    static constexpr bool segmented = true, exact = false, starts = false;
    A sum;
    bool head;

    static __device__ segmented_piece nothing() { return {minus_zero<A>(), false}; }
    static __device__ segmented_piece leaf(A x, bool head) { return {x, head}; }
    __device__ A value(bool *) const { return sum; }
    __device__ segmented_piece up(unsigned d) const
    {
        return {__shfl_up_sync(whole_warp, sum, d), (bool)__shfl_up_sync(whole_warp, (int)head, d)};
    }
    __device__ segmented_piece across(unsigned d) const
    {
        return {__shfl_xor_sync(whole_warp, sum, d),
                (bool)__shfl_xor_sync(whole_warp, (int)head, d)};
    }
    __device__ segmented_piece of(unsigned d) const
    {
        return {__shfl_sync(whole_warp, sum, d), (bool)__shfl_sync(whole_warp, (int)head, d)};
    }
    __device__ word code(unsigned k) const { return k ? 1 + head : code_of<word>(sum); }
    static __device__ segmented_piece decode(const word *w) { return {coded<A>(w[0]), w[1] > 1}; }
};

template <typename A>
__device__ inline segmented_piece<A> join(segmented_piece<A> a, segmented_piece<A> b)
{
    return {b.head ? b.sum : add(a.sum, b.sum), a.head || b.head};
}
