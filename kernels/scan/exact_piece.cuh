/* What scan/exact takes through the pass of scan/tiled: an exact sum, as nearly as three doubles
 * tell it, from which prefixes are rounded once to A.
 *
 * TwoSum splits each addition to `sum` into its rounded sum and its error, and each addition of
 * such an error to `error` again. So the exact sum is sum + error + all that these second additions
 * have lost, whose magnitudes are added up in `off`: mostly none, as the errors of neighbouring
 * sums have few bits. The sum is known exactly then, and ties are no riddle.
 *
 * A prefix that is rounded correctly is the same by any tree; so those of a chunk are found as it
 * is fastest. `off` errs itself by a factor of at most 1 + gamma_L, L the length of the longest
 * path: a few thousand for any n. */
#pragma once

#include "kernels/blocks/certificate.cuh"
#include "kernels/scan/piece.cuh"

/* Are all sums of some of these, 16 at most, exact in fp64? Yes where the exponents of those that
 * are not 0 differ by at most 25: 24 bits of a significand, and 4 for carries. */
template <typename S, unsigned count> __device__ inline bool sums_exactly(const S (&x)[count])
{
    static_assert(count <= 16, "4 bits for carries");
    unsigned most = 0, least = 0x7f800000;
#pragma unroll
    for (unsigned j = 0; j < count; j++) {
        unsigned size = __float_as_uint(convert<float>(x[j])) & 0x7fffffff;
        most = max(most, size);
        least = min(least, size == 0 ? least : size);
    }
    return most < 0x7f800000 && (most >> 23) <= max(least >> 23, 1u) + 25;
}
template <unsigned count> __device__ inline bool sums_exactly(const double (&)[count])
{
    return false;
}

template <typename A, bool rows> struct rough_piece;

/* `rows`: of elements of at most 32 bits, most rows of which are scanned from their starts
 * (exact_start.cuh). */
template <typename A, bool rows> struct exact_piece {
    typedef A result;
    typedef double accumulator;
    typedef rough_piece<A, rows> rough;
    static constexpr unsigned words = 3;
    static constexpr bool segmented = false, exact = true, starts = rows;
    double sum, error, off;

    template <typename S> static __device__ exact_piece sum_elements(const S (&x)[16]);
    template <bool exclusive, typename S, typename Use>
    static __device__ void prefixes(const S (&x)[16], exact_piece seed, Use use);

    static __device__ exact_piece nothing() { return {-0.0, 0, 0}; }
    static __device__ exact_piece leaf(double x, bool) { return {x, 0, 0}; }
    /* The prefix, a value of A; what is not certain is marked. */
    __device__ double value(bool *doubtful) const
    {
        double nearest = __dadd_rn(sum, error);
        if (off == 0 && rounds_like_its_nearest<A>(nearest))
            return convert<double>(rounded<A>(nearest));
        return value_with_care(doubtful);
    }
    /* Not inlined: it is rare, and would take registers. */
    __device__ __noinline__ double value_with_care(bool *doubtful) const
    {
        A result;
        *doubtful |= !round_certified(sum, error, __dmul_ru(off, 1 + 0x1p-20), &result);
        return convert<double>(result);
    }
    __device__ exact_piece up(unsigned d) const
    {
        return {__shfl_up_sync(whole_warp, sum, d), __shfl_up_sync(whole_warp, error, d),
                __shfl_up_sync(whole_warp, off, d)};
    }
    __device__ exact_piece across(unsigned d) const
    {
        return {__shfl_xor_sync(whole_warp, sum, d), __shfl_xor_sync(whole_warp, error, d),
                __shfl_xor_sync(whole_warp, off, d)};
    }
    __device__ exact_piece of(unsigned d) const
    {
        return {__shfl_sync(whole_warp, sum, d), __shfl_sync(whole_warp, error, d),
                __shfl_sync(whole_warp, off, d)};
    }
    __device__ word code(unsigned k) const
    {
        return code_of<word>(k == 0 ? sum : k == 1 ? error : off);
    }
    static __device__ exact_piece decode(const word *w)
    {
        return {coded<double>(w[0]), coded<double>(w[1]), coded<double>(w[2])};
    }
};

template <typename A, bool rows>
__device__ inline exact_piece<A, rows> join(const exact_piece<A, rows> &a,
                                            const exact_piece<A, rows> &b)
{
    double sum = __dadd_rn(a.sum, b.sum), d = lost(a.sum, b.sum, sum);
    double part = __dadd_rn(b.error, d), first = lost(b.error, d, part);
    double error = __dadd_rn(a.error, part), second = lost(a.error, part, error);
    double now = __dadd_rn(fabs(first), fabs(second));
    return {sum, error, __dadd_rn(a.off, __dadd_rn(b.off, now))};
}

/* A number more. */
template <typename A, bool rows>
__device__ inline exact_piece<A, rows> append(const exact_piece<A, rows> &a, double x)
{
    double sum = __dadd_rn(a.sum, x), d = lost(a.sum, x, sum);
    double error = __dadd_rn(a.error, d), first = lost(a.error, d, error);
    return {sum, error, __dadd_rn(a.off, fabs(first))};
}

template <typename A, bool rows>
template <typename S>
__device__ inline exact_piece<A, rows> exact_piece<A, rows>::sum_elements(const S (&x)[16])
{
    exact_piece sum = nothing();
    if (__all_sync(whole_warp, sums_exactly(x))) {
#pragma unroll
        for (unsigned j = 0; j < 16; j++)
            sum.sum = __dadd_rn(sum.sum, convert<double>(x[j]));
    } else {
#pragma unroll
        for (unsigned j = 0; j < 16; j++)
            sum = append(sum, convert<double>(x[j]));
    }
    return sum;
}

template <typename A, bool rows>
template <bool exclusive, typename S, typename Use>
__device__ inline void exact_piece<A, rows>::prefixes(const S (&x)[16], exact_piece seed, Use use)
{
    exact_piece sum = seed;
    double inside = -0.0;
    bool exactly = __all_sync(whole_warp, sums_exactly(x));
#pragma unroll
    for (unsigned j = 0; j < 16; j++) {
        if (exclusive)
            use(j, sum);
        if (exactly) {
            inside = __dadd_rn(inside, convert<double>(x[j]));
            sum = append(seed, inside);
        } else {
            sum = append(sum, convert<double>(x[j]));
        }
        if (!exclusive)
            use(j, sum);
    }
}

/* A piece of whose sum something is lost, so that what a further number loses need not be known: a
 * bound of it will do. */
template <typename A, bool rows> struct rough_piece {
    typedef double accumulator;
    static constexpr bool segmented = false, exact = true;
    exact_piece<A, rows> p;

    template <bool exclusive, typename S, typename Use>
    static __device__ void prefixes(const S (&x)[16], rough_piece sum, Use use)
    {
#pragma unroll
        for (unsigned j = 0; j < 16; j++) {
            if (exclusive)
                use(j, sum);
            sum.append(convert<double>(x[j]));
            if (!exclusive)
                use(j, sum);
        }
    }
    __device__ void append(double x)
    {
        double sum = __dadd_rn(p.sum, x), error = __dadd_rn(p.error, lost(p.sum, x, sum));
        p = {sum, error, __fma_ru(fabs(error), 0x1p-53, p.off)};
    }
    __device__ double value(bool *doubtful) const
    {
        double off = __dmul_ru(p.off, 1 + 0x1p-20);
        if constexpr (sizeof(A) == 8) {
            A least = __dadd_rn(p.sum, __dsub_rd(p.error, off));
            A most = __dadd_rn(p.sum, __dadd_ru(p.error, off));
            if (least == most && least != 0 && is_number(least))
                return least;
        } else {
            double nearest = __dadd_rn(p.sum, p.error); /* by half a unit in the last place */
            if (off <= __dmul_rn(fabs(nearest), 0x1p-54) && rounds_like_its_neighbours<A>(nearest))
                return convert<double>(rounded<A>(nearest));
        }
        return p.value_with_care(doubtful);
    }
};
