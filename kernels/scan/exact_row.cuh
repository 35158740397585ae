/* A row of scan/exact whose elements have at most 32 bits, by a warp: its sums, exact in fp64 where
 * its elements are few enough binades apart, and its prefixes from their start (exact_start.cuh).
 */
#ifndef ULPSCOPE_SCAN_EXACT_ROW_CUH
#define ULPSCOPE_SCAN_EXACT_ROW_CUH

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
/* Of any elements. */
template <typename P, typename S> __device__ inline row_sums<P> sums_of_any(const chunk<S> &c)
{
    P v = scan_chunks(P::sum_elements(c.x)), last = v.up(1);
    return {v, threadIdx.x % warp_lanes == 0 ? P::nothing() : last};
}
/* Where no sum is rounded. */
template <typename P, typename S> __device__ inline row_sums<P> sums_in_fp64(const chunk<S> &c)
{
    unsigned lane = threadIdx.x % warp_lanes;
    double even = convert<double>(c.x[0]), odd = convert<double>(c.x[1]);
#pragma unroll
    for (unsigned j = 2; j < SCAN_CHUNK; j += 2) {
        even = __dadd_rn(even, convert<double>(c.x[j]));
        odd = __dadd_rn(odd, convert<double>(c.x[j + 1]));
    }
    double sum = __dadd_rn(even, odd);
#pragma unroll
    for (unsigned d = 1; d < warp_lanes; d *= 2) {
        double other = __shfl_up_sync(whole_warp, sum, d);
        if (lane >= d)
            sum = __dadd_rn(other, sum);
    }
    double last = __shfl_up_sync(whole_warp, sum, 1);
    return {P::leaf(sum, false), P::leaf(lane == 0 ? -0.0 : last, false)};
}
template <typename P, typename S, unsigned bytes>
__device__ inline row_sums<P> sum_row(uint4 *row, exponents *of_row)
{
    chunk<S> c;
    load_chunk<S, bytes>(c, row);
    *of_row = exponents_of_row(c);
    return of_row->add_exactly<S>() ? sums_in_fp64<P>(c) : sums_of_any<P>(c);
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
    return sums_of_any<P>(c).before;
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

} // namespace scan_pass

#endif
