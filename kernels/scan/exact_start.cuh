/* Where the prefixes of a row begin in scan/exact, so that rounding each as it is found in fp64
 * gives the exact prefix rounded once. There are three ways.
 *
 * On a grid, the multiples of 2^g: elements are on it, all sums of a row's elements are below
 * 2^(g+50), and what lies before the row is below 2^(g+51). So fp64 adds elements without rounding,
 * in any order. Of such grids the finest is taken. Mostly what lies before is on it, and prefixes
 * are known, signs of zeros included. If not, a prefix lies strictly between two neighbours on the
 * grid. So half a step is added to what lies before, rounded to the grid, towards the rest: then
 * what is found lies between the same two. Points half-way between neighbours in A are on the grid
 * where the prefix is at least 2^(g+24), A having at most 24 bits; so none is between, and both
 * round alike.
 *
 * Near, for fp32 only: what lies before the row is rounded to a double, and to it the exact sum of
 * elements is added, rounded again. Where no prefix is below half of what lies before, they are off
 * by less than three units in their last place, so they round alike unless one is that near to a
 * point half-way between floats: scan_chunk_near() sees that.
 *
 * Nearly, for fp32 only, where elements lie in so many binades that fp64 does not add them exactly:
 * what lies before the chunk is rounded to a double, and the chunk's elements are added one by one,
 * rounded each time. How far off a prefix may be at most is added up beside, and only where that is
 * little enough, and no prefix that near to a point half-way between floats, they are taken:
 * scan_chunk_nearly() sees to both.
 *
 * Rows that admit none are left to exact_piece.cuh. */
#pragma once

#include "kernels/blocks/certificate.cuh"
#include "kernels/scan/tiled.h"

namespace scan_pass
{

static_assert(SCAN_CHUNK <= 16 && SCAN_ROW <= 512, "4 and 9 bits for carries");

/* The formats of at most 32 bits. */
template <typename S> struct layout_of {
    static constexpr int fraction = sizeof(S) == 4 ? 23 : is_bf16<S> ? 7 : 10;
    static constexpr int bias = sizeof(S) == 4 || is_bf16<S> ? 127 : 15;
    static constexpr unsigned not_finite = 2 * bias + 1;
};

/* The exponents that a row's elements have, as their fields: 1 for a subnormal, too. */
struct exponents {
    unsigned short most, least; /* of those that are not 0; most is 0 where all are */
    /* Are all sums of the row's elements exact in fp64? */
    template <typename S> __device__ bool add_exactly() const
    {
        return most == 0 || (most < layout_of<S>::not_finite &&
                             most - least <= 53 - 10 - layout_of<S>::fraction);
    }
    /* And all of sums_on_grids(), the last of which is below 2^(most+10-45 grids)? */
    template <typename S> __device__ bool add_exactly_on(unsigned grids) const
    {
        return most - least <= 53 - 10 + 45 * (int)grids - layout_of<S>::fraction;
    }
};

/* Grids of sums_on_grids(). None where fp64 adds all rows of numbers exactly. One tells the sums
 * far better than prefixes need, unless much is taken back: it is for bf16, two of whose blocks
 * share a multiprocessor's registers, and where a second one costs usual data 1% of its speed, too.
 * (Measured on an H200.) */
template <typename S, typename A>
constexpr unsigned grids_for = 2 * layout_of<S>::bias <= 53 - 10 - layout_of<S>::fraction ? 0
                               : sizeof(S) == 2 && sizeof(A) <= 4                         ? 1
                                                                                          : 2;

struct row_start {
    double sum;   /* before the row */
    double least; /* magnitude of what lies before a chunk, at least; no number: in no way */
    /* Near or nearly, not on the grid; its magnitude counts. */
    __device__ bool near() const { return least < 0; }
    __device__ bool admits(double before) const { return fabs(before) >= fabs(least); }
};

/* 2^e, normal. */
__device__ inline double power_of_2(int e)
{
    return __hiloint2double((1023 + e) << 20, 0);
}

/* The exact sum of two: the nearest double, -0 only where both are, and the rest. */
__device__ inline double settle_sum(double a, double b, double *rest)
{
    double sum = __dadd_rn(a, b);
    *rest = lost(a, b, sum);
    return sum != 0 ? sum : a == 0 ? a : 0.0;
}

/* `before`: the exact piece before the row. */
template <typename A, typename S, typename P>
__device__ inline row_start start_row(const P &before, exponents of_row)
{
    typedef layout_of<S> layout;
    double rest, sum = settle_sum(before.sum, before.error, &rest), size = fabs(sum), chunk = 0;
    /* The finest grid for what lies before and for the elements, which may be on a coarser one. */
    int exponent = (__double2hiint(sum) >> 20 & 0x7ff) - 1023;
    int g = min(max(exponent, -200), 200) - 50, coarsest = g;
    if (of_row.most != 0) {
        g = max(g, of_row.most - layout::bias - 40);
        coarsest = of_row.least - layout::bias - layout::fraction;
        chunk = power_of_2(of_row.most - layout::bias + 5); /* above a chunk's sums */
    }
    if (of_row.most < layout::not_finite && g <= coarsest && size < power_of_2(g + 51)) {
        double magic = 1.5 * power_of_2(g + 52), step = power_of_2(g);
        double nearest = __dsub_rn(__dadd_rn(sum, magic), magic);
        double left = __dadd_rn(__dsub_rn(sum, nearest), rest);
        if (left == 0 && before.off == 0)
            return {sum, 0};
        if (sizeof(A) <= 4 && fabs(left) > 2 * before.off && fabs(left) < step)
            return {__dadd_rn(nearest, copysign(step / 2, left)),
                    __dadd_rn(chunk, power_of_2(g + 25))};
    }
    constexpr int grids = grids_for<S, A>;
    bool finite = grids ? of_row.most < layout::not_finite : of_row.add_exactly<S>();
    if (sizeof(A) == 4 && finite && size < 0x1p200 && before.off <= size * 0x1p-54) {
        /* Half of it and a sixteenth, for what roundings do; far from what is subnormal. */
        if (grids == 0 || of_row.add_exactly<S>())
            return {sum, -__dadd_rn(__dadd_rn(chunk, 0x1p-100), 0.5625 * size)};
        /* 2^53 times what sums_on_grids() may lack: what lies before a chunk is no less. */
        int lacks = of_row.most - layout::bias + 14 - 45 * grids;
        return {sum, -__dadd_rn(power_of_2(lacks), 0x1p-100)};
    }
    return {0, __longlong_as_double(0x7ff8000000000000)};
}

} // namespace scan_pass
