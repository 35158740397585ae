/* What a thread adds the elements of a row to, and what is joined to the sum of the row: enclosures
 * (kernels/blocks/enclosure.cuh) that know what all elements are multiples of.
 *
 * Errors of additions are multiples of it too. Where the magnitudes of all errors add up to less
 * than 2^53 such units, adding the errors up has no error of its own, and the sum is known exactly:
 * so sums half-way between two neighbours need no second pass either. */
#pragma once

#include "kernels/blocks/enclosure.cuh"

namespace rows_exact_sum
{

/* The least that errors count as having gone through (enclosure.cuh: additions). */
constexpr size_t additions_least = 1 << 12;
/* The most elements that a thread adds. */
constexpr size_t share_most = 1 << 12;

struct __align__(16) grained
{
    enclosure e;
    int grain, unused; /* all are multiples of 2^grain */

    __device__ grained across(unsigned d) const
    {
        return {e.across(d), __shfl_xor_sync(whole_warp, grain, d), 0};
    }
};

constexpr int no_grain = 900;      /* of zeros */
constexpr int least_grain = -1074; /* with it, nothing but zeros adds up exactly */

__device__ inline grained grained_nothing()
{
    return {enclose_nothing(), no_grain, 0};
}

__device__ inline grained join(const grained &a, const grained &b)
{
    return {join(a.e, b.e), min(a.grain, b.grain), 0};
}

/* Is what adds up to `magnitude`, itself rounded, less than 2^53 units? */
__device__ inline bool adds_exactly(double magnitude, int grain)
{
    return magnitude <= __longlong_as_double((long long)(1023 + 52 + grain) << 52);
}

__device__ inline double most_off(const grained &g, size_t additions)
{
    return adds_exactly(g.e.magnitude, g.grain) ? 0
                                                : most_off(g.e, max(additions, additions_least));
}

/* The smallest magnitude but zero: its bits less one, so that a zero's are the largest. */
__device__ inline unsigned less_one(float x)
{
    return (__float_as_uint(x) & 0x7fffffff) - 1;
}
__device__ inline unsigned less_one(double x)
{
    unsigned high = (unsigned)__double2hiint(x) & 0x7fffffff;
    return (high | (__double2loint(x) != 0)) - 1;
}

/* Of the bits of an exponent, `dropped` above the last of a word; the significand's last bit is
 * 2^bias where the exponent is 1. */
__device__ inline int grain_of(unsigned least, unsigned dropped, int bias)
{
    return least == ~0u ? no_grain : (int)max((least + 1) >> dropped, 1u) - 1 + bias;
}
template <typename S> constexpr int last_place = -149;
template <> constexpr int last_place<__nv_bfloat16> = -133;

/* fp16 has 40 bits: a double adds 2^12 elements without an error. */
struct in_one_double {
    double sum = -0.0;
    __device__ void add(__half x) { sum = __dadd_rn(sum, convert<double>(x)); }
    __device__ grained finish(size_t) const { return {{sum, 0, 0}, -24, 0}; }
};

/* For sums of at most 24 bits: doubles are added up, and it is asked once whether that was without
 * an error. Else the k elements, whose magnitudes add up to m, are off by less than k 2^-53 m
 * (Rump 2012); enclosures take additions_least 2^-52 of what their errors add up to, and twice that
 * is left for roundings of these sums. */
template <typename S> struct in_double {
    double sum = -0.0;
    float magnitude = 0;
    unsigned least = ~0u;
    __device__ void add(S element)
    {
        float x = convert<float>(element);
        sum = __dadd_rn(sum, x);
        magnitude = __fadd_ru(magnitude, fabsf(x));
        least = min(least, less_one(x));
    }
    __device__ grained finish(size_t k) const
    {
        int grain = grain_of(least, 23, last_place<S>);
        if (adds_exactly(magnitude, grain))
            return {{sum, 0, 0}, grain, 0};
        return {{sum, 0, __dmul_ru(magnitude, (double)k / additions_least)}, least_grain, 0};
    }
};

/* For fp64 sums: each addition's error is found. */
template <typename S> struct with_errors {
    enclosure e = enclose_nothing();
    unsigned least = ~0u;
    __device__ void add(S x)
    {
        enclose(e, convert<double>(x));
        if constexpr (sizeof(S) == 8)
            least = min(least, less_one(x));
        else
            least = min(least, less_one(convert<float>(x)));
    }
    __device__ grained finish(size_t) const
    {
        return {e, sizeof(S) == 8 ? grain_of(least, 20, -1074) : grain_of(least, 23, last_place<S>),
                0};
    }
};

template <typename S, typename A>
using summed_in =
    typename std::conditional<std::is_same<S, __half>::value, in_one_double,
                              typename std::conditional<sizeof(S) == 8 || sizeof(A) == 8,
                                                        with_errors<S>, in_double<S>>::type>::type;

/* The sums of `lanes` neighbouring lanes, a power of 2; each of them gets it. */
__device__ inline grained join_lanes(grained g, unsigned lanes)
{
    for (unsigned d = 1; d < lanes; d *= 2)
        g = join(g, g.across(d));
    return g;
}

/* The same of `lanes` threads, up to a block; the first of them gets it. By a block. */
constexpr unsigned threads = 256;
__device__ inline grained join_threads(grained g, unsigned lanes)
{
    __shared__ grained shared[threads / warp_lanes];
    g = join_lanes(g, min(lanes, warp_lanes));
    if (lanes <= warp_lanes)
        return g;
    unsigned warp = threadIdx.x / warp_lanes, warps = lanes / warp_lanes;
    if (threadIdx.x % warp_lanes == 0)
        shared[warp] = g;
    __syncthreads();
    if (warp % warps == 0) {
        g = threadIdx.x % warp_lanes < warps ? shared[warp + threadIdx.x % warp_lanes]
                                             : grained_nothing();
        g = join_lanes(g, warps);
    }
    __syncthreads();
    return g;
}

} // namespace rows_exact_sum
