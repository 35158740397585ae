/* A row of scan/exact whose elements have at most 32 bits, by a warp: its sums, in fp64 where that
 * is exact since its elements are few enough binades apart, or else in several doubles; and its
 * prefixes from their start (exact_start.cuh). */
#pragma once

#include "kernels/scan/exact_start.cuh"
#include "kernels/scan/row.cuh"

namespace scan_pass
{

/* Magnitudes in x, the largest so far, and the smallest but 0, less 1: 0 becomes the largest. */
template <typename S> __device__ inline void note_sizes(unsigned x, unsigned *most, unsigned *least)
{
    if (sizeof(S) == 2) {
        *most = __vmaxu2(*most, x & 0x7fff7fff);
        *least = __viaddmin_u16x2(x & 0x7fff7fff, 0xffffffff, *least);
    } else {
        *most = max(*most, x & 0x7fffffff);
        *least = __viaddmin_u32(x & 0x7fffffff, 0xffffffff, *least);
    }
}

template <typename S> __device__ inline exponents exponents_of_row(const chunk<S> &c)
{
    unsigned most = 0, least = 0xffffffff;
#pragma unroll
    for (unsigned i = 0; i < chunk<S>::vectors; i++) {
        note_sizes<S>(c.vector[i].x, &most, &least);
        note_sizes<S>(c.vector[i].y, &most, &least);
        note_sizes<S>(c.vector[i].z, &most, &least);
        note_sizes<S>(c.vector[i].w, &most, &least);
    }
    if (sizeof(S) == 2) {
        most = max(most & 0xffff, most >> 16);
        least = min(least & 0xffff, least >> 16);
    }
    most = __reduce_max_sync(whole_warp, most);
    least = __reduce_min_sync(whole_warp, least) + 1;
    if (most == 0)
        return {0, 0};
    return {(unsigned short)max(most >> layout_of<S>::fraction, 1u),
            (unsigned short)max(least >> layout_of<S>::fraction, 1u)};
}

/* The sum of all chunks in the row up to the lane's, and of those before it. */
template <typename P> struct row_sums {
    P up_to, before;
};
/* The sums of all lanes up to each. */
__device__ inline double scan_doubles(double sum)
{
    unsigned lane = threadIdx.x % warp_lanes;
#pragma unroll
    for (unsigned d = 1; d < warp_lanes; d *= 2) {
        double other = __shfl_up_sync(whole_warp, sum, d);
        if (lane >= d)
            sum = __dadd_rn(other, sum);
    }
    return sum;
}
/* Where no sum is rounded. */
template <typename P, typename S> __device__ inline row_sums<P> sums_in_fp64(const chunk<S> &c)
{
    double even = convert<double>(c.x[0]), odd = convert<double>(c.x[1]);
#pragma unroll
    for (unsigned j = 2; j < SCAN_CHUNK; j += 2) {
        even = __dadd_rn(even, convert<double>(c.x[j]));
        odd = __dadd_rn(odd, convert<double>(c.x[j + 1]));
    }
    double sum = scan_doubles(__dadd_rn(even, odd));
    double last = __shfl_up_sync(whole_warp, sum, 1);
    return {P::leaf(sum, false), P::leaf(threadIdx.x % warp_lanes == 0 ? -0.0 : last, false)};
}
/* Of any elements. Those of a lane are added to a double whose last bit is worth 2^g, g = most - 43
 * where `most` is the largest exponent: the sums of all their parts that are multiples of it are
 * exact. What that rounds away, at most 2^(g-1) of each, is added to another double in the same
 * way, 45 binades below, and so on; what is left below the last grid is added to one double more.
 * So, on one grid, the row's sum and those before its chunks lack at most
 *     13 roundings * 2^-53 * 512 * 2^(g-1) < 2^(most-84),
 * and nothing where that last double has bits enough. A sum of nothing but -0 is -0. */
template <unsigned grids, typename P, typename S>
__device__ inline row_sums<P> sums_on_grids(const chunk<S> &c, exponents of_row)
{
    int most = of_row.most - layout_of<S>::bias;
    double magic[grids], part[grids + 1][2], v[grids + 1];
#pragma unroll
    for (unsigned k = 0; k < grids; k++)
        part[k][0] = part[k][1] = magic[k] = 1.5 * power_of_2(most + 9 - 45 * (int)k);
    part[grids][0] = part[grids][1] = -0.0;
#pragma unroll
    for (unsigned j = 0; j < SCAN_CHUNK; j++) {
        double x = convert<double>(c.x[j]);
#pragma unroll
        for (unsigned k = 0; k < grids; k++) {
            double sum = __dadd_rn(part[k][j % 2], x);
            x = __dsub_rn(x, __dsub_rn(sum, part[k][j % 2]));
            part[k][j % 2] = sum;
        }
        part[grids][j % 2] = __dadd_rn(part[grids][j % 2], x);
    }
#pragma unroll
    for (unsigned k = 0; k <= grids; k++) {
        double even = part[k][0], odd = part[k][1];
        if (k < grids) {
            even = -__dsub_rn(magic[k], even);
            odd = -__dsub_rn(magic[k], odd);
        }
        v[k] = scan_doubles(__dadd_rn(even, odd));
    }
    P up_to = {v[0], 0,
               of_row.add_exactly_on<S>(grids) ? 0 : power_of_2(most - 39 - 45 * (int)grids)};
#pragma unroll
    for (unsigned k = 1; k <= grids; k++)
        up_to = append(up_to, v[k]);
    P before = up_to.up(1);
    return {up_to, threadIdx.x % warp_lanes == 0 ? P::nothing() : before};
}

/* The same in three doubles that TwoSum keeps: slower, for rows that hold what is no number. */
template <typename P, typename S> __device__ inline row_sums<P> sums_of_any(const chunk<S> &c)
{
    P v = scan_chunks(P::sum_elements(c.x)), last = v.up(1);
    return {v, threadIdx.x % warp_lanes == 0 ? P::nothing() : last};
}

template <typename P, typename S>
__device__ inline row_sums<P> sums_of_row(const chunk<S> &c, exponents of_row)
{
    constexpr unsigned grids = grids_for<S, typename P::result>;
    if (of_row.add_exactly<S>())
        return sums_in_fp64<P>(c);
    if constexpr (grids == 0)
        return sums_of_any<P>(c);
    else
        return sums_on_grids<grids, P>(c, of_row);
}
template <typename P, typename S, unsigned bytes>
__device__ inline row_sums<P> sum_row(uint4 *row, exponents *of_row)
{
    chunk<S> c;
    load_chunk<S, bytes>(c, row);
    *of_row = exponents_of_row(c);
    return sums_of_row<P>(c, *of_row);
}

/* What sum_row() told of the chunks before, from the only double of it that was kept: it is all of
 * it where no sum was rounded. */
template <typename P, typename S, unsigned bytes>
__device__ inline P sum_before(uint4 *row, double kept, exponents of_row)
{
    if (of_row.add_exactly<S>())
        return P::leaf(kept, false);
    chunk<S> c;
    load_chunk<S, bytes>(c, row);
    if constexpr (grids_for<S, typename P::result> == 0) /* no other way is left */
        return sums_of_any<P>(c).before;
    else
        return sums_of_row<P>(c, of_row).before;
}

/* Replaces the elements of a lane's chunk by its prefixes, from the sum before it. */
template <bool exclusive, typename A, typename S, typename O>
__device__ inline void scan_chunk_on_grid(uint4 *row, double sum, bool first)
{
    chunk<S> c;
    chunk<O> o;
    load_chunk<S, chunk_bytes<S, O>>(c, row);
#pragma unroll
    for (unsigned j = 0; j < SCAN_CHUNK; j++) {
        double before = sum;
        sum = __dadd_rn(sum, convert<double>(c.x[j]));
        A value = rounded<A>(exclusive ? before : sum);
        if (exclusive && j == 0 && first)
            value = convert<A>(0.0f); /* the sum of nothing */
        o.x[j] = convert<O>(value);
    }
    store_chunk<O, chunk_bytes<S, O>>(o, row);
}

/* The same from the sum before the row, and of what lies between it and the chunk, unless a prefix
 * of the row is too near to a point half-way between floats; returns whether none is. */
template <bool exclusive, typename S, typename O>
__device__ inline bool scan_chunk_near(uint4 *row, double sum, double inside)
{
    chunk<S> c;
    chunk<O> o;
    unsigned nearest = 0xffffffff;
    load_chunk<S, chunk_bytes<S, O>>(c, row);
#pragma unroll
    for (unsigned j = 0; j < SCAN_CHUNK; j++) {
        double before = inside;
        inside = __dadd_rn(inside, convert<double>(c.x[j]));
        double prefix = __dadd_rn(sum, exclusive ? before : inside);
        /* Of the 29 bits that are rounded away, half-way less 3 becomes 0; others leave by the
         * upper end. */
        nearest = min(nearest, 8 * ((unsigned)__double2loint(prefix) - 0x0ffffffdu));
        o.x[j] = convert<O>(rounded<float>(prefix));
    }
    if (__any_sync(whole_warp, nearest <= 8 * 6))
        return false;
    store_chunk<O, chunk_bytes<S, O>>(o, row);
    return true;
}

/* The same where sums of elements are rounded, too. With u = 2^-53, a prefix is off by at most
 *     u (1.5 |sum| + 2 |inside| + 2 |before| + the magnitudes of all prefixes up to there):
 * `sum` by a rounding and half of one; `inside` by two, and by less than u |before| (as admits()
 * says) for what its parts lack and the last of them; the others by a rounding each. As |inside| is
 * at most |sum| + |before|, that is at most 1.5 u `off`, which is added up in floats and so may
 * lack a hundred-thousandth. Where that is at most 250 u times the least prefix, it is less than
 * 252 units in the last place of any. */
template <bool exclusive, typename S, typename O>
__device__ inline bool scan_chunk_nearly(uint4 *row, double sum, double inside)
{
    chunk<S> c;
    chunk<O> o;
    double prefix = __dadd_rn(sum, inside);
    float smallest = INFINITY, off = 2 * fabsf((float)sum) + fabsf((float)inside);
    unsigned nearest = 0xffffffff;
    off += 2 * fabsf((float)prefix);
    load_chunk<S, chunk_bytes<S, O>>(c, row);
#pragma unroll
    for (unsigned j = 0; j < SCAN_CHUNK; j++) {
        double before = prefix;
        prefix = __dadd_rn(prefix, convert<double>(c.x[j]));
        double told = exclusive ? before : prefix;
        float value = rounded<float>(told);
        off = __fadd_rn(off, fabsf(value));
        smallest = fminf(smallest, fabsf(value));
        nearest = min(nearest, 8 * ((unsigned)__double2loint(told) - (0x10000000u - 252)));
        o.x[j] = convert<O>(value);
    }
    bool told = smallest >= 0x1p-100f && off <= 166 * smallest && off < 0x1p127f;
    if (!__all_sync(whole_warp, told && nearest > 8 * 2 * 252))
        return false;
    store_chunk<O, chunk_bytes<S, O>>(o, row);
    return true;
}

} // namespace scan_pass
