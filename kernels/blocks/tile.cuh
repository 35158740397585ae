/* A tile of sum/tiled (kernels/blocks/tiled.h), summed by a warp or by a whole block: the same
 * order.
 */
#pragma once

#include <type_traits>

#include "kernels/blocks/piece.cuh"
#include "kernels/blocks/tiled.h"

/* By a warp: each lane holds 8 of the 256 columns. Which ones depends on the width of its loads, V
 * elements: column 32 V j + V lane + k is column k of part j, for k < V and j < 8 / V. */
constexpr unsigned per_lane = TILE_COLUMNS / warp_lanes;
static_assert(per_lane == 8,
              "a lane's columns are loaded 16 bytes at a time, or 8 of one byte each");

/* The columns are folded by halving, 128, 64, ..., 1 columns apart. First those that lie in one
 * lane: v[k] = the fold of columns k of the parts j, j + step, j + 2 step, ... Part j is got by
 * get(j, v) when it is its turn, so that no more parts than must be are held at a time. */
template <unsigned j, unsigned step, unsigned V, typename P, typename Get>
__device__ inline void fold_parts(P (&v)[V], const Get &get)
{
    if constexpr (step * V == per_lane) {
        get(j, v);
    } else {
        P later[V];
        fold_parts<j, 2 * step>(v, get);
        fold_parts<j + step, 2 * step>(later, get);
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            v[k].join(later[k]);
    }
}

/* Then those that lie in different lanes. Where the partner is lane xor s, and the lane has more
 * than one value left, the two lanes share the work: each sends the half of its values that the
 * other keeps, so that every step halves the values. What then distinguishes the columns of a lane
 * has become a bit of the lane's number, and the last log2 V steps run over those bits.
 *
 * The piece of the lower column is the one that is joined to. */
template <unsigned count, unsigned V, typename P> __device__ inline void share_fold(P (&v)[V])
{
    constexpr unsigned stride = warp_lanes * count / V;
    bool upper = threadIdx.x & stride;
#pragma unroll
    for (unsigned i = 0; i < count; i++) {
        P sent = v[i + count], kept = v[i];
        if (upper) {
            sent = v[i];
            kept = v[i + count];
        }
        P got = across(sent, stride);
        if constexpr (P::commutes)
            v[i] = joined(kept, got);
        else
            v[i] = joined(chosen(upper, got, kept), chosen(upper, kept, got));
    }
    if constexpr (count > 1)
        share_fold<count / 2>(v);
}

/* In the last five steps both partners join to their own, and only the lower one's counts: lane 0
 * gets the result. */
template <unsigned V, typename P> __device__ inline P fold_lanes(P (&v)[V])
{
    if constexpr (V > 1)
        share_fold<V / 2>(v);
    unsigned stride = warp_lanes / 2 / V;
#pragma unroll(P::words > 1 ? 1 : 5)
    for (unsigned step = 0; step < 5; step++) {
        v[0].join(across(v[0], stride));
        stride = stride > 1 ? stride / 2 : warp_lanes / 2;
    }
    return v[0];
}

/* 16 bytes of elements, read once and not again; 8 where that is all of a lane's columns. */
template <typename S> struct load {
    typedef std::conditional_t<sizeof(S) == 1, uint2, uint4> word;
    static constexpr unsigned width = sizeof(word) / sizeof(S);
    S x[width];
    __device__ void from(const word *address)
    {
        word bytes = __ldcs(address);
        memcpy(x, &bytes, sizeof bytes);
    }
};

/* The columns of a lane, row by row: the order in which they lie in memory. */
template <typename P, typename S, typename Terms>
__device__ inline void add_rows(const typename load<S>::word *from, const Terms &terms,
                                P (&column)[per_lane])
{
    constexpr unsigned V = load<S>::width, parts = per_lane / V; /* of a row, for each lane */
    constexpr unsigned loads = 8, rows = loads / parts;          /* on their way at once */
#pragma unroll
    for (unsigned top = 0; top < TILE_ROWS; top += rows) {
        load<S> loaded[loads];
#pragma unroll
        for (unsigned i = 0; i < loads; i++)
            loaded[i].from(from + (top * parts + i) * warp_lanes);
#pragma unroll
        for (unsigned i = 0; i < loads; i++)
#pragma unroll
            for (unsigned k = 0; k < V; k++) {
                auto x = terms.leaf_of(loaded[i].x[k]);
                if (top + i / parts == 0)
                    column[i * V + k] = leaf<P>(x);
                else
                    column[i % parts * V + k].append(x);
            }
    }
}

/* The columns of part j of a lane. */
template <typename S, typename P, unsigned V, typename Terms>
__device__ inline void add_part(const typename load<S>::word *from, unsigned j, const Terms &terms,
                                P (&column)[V])
{
    load<S> loaded[TILE_ROWS];
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        loaded[row].from(from + (row * per_lane / V + j) * warp_lanes);
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
#pragma unroll
        for (unsigned k = 0; k < V; k++) {
            auto x = terms.leaf_of(loaded[row].x[k]);
            if (row == 0)
                column[k] = leaf<P>(x);
            else
                column[k].append(x);
        }
}

/* A tile that is full and aligned to 16 bytes, by the lanes of a warp, of which lane 0 gets it.
 * Registers hold all columns of one or two words, but not of more. */
template <typename P, typename S, typename Terms>
__device__ inline P tile_by_warp(const S *tile, const Terms &terms)
{
    constexpr unsigned V = load<S>::width;
    const auto *from = (const typename load<S>::word *)tile + threadIdx.x % warp_lanes;
    P v[V];
    if constexpr (P::words > 2) {
        fold_parts<0, 1>(v, [&](unsigned j, P(&part)[V]) { add_part<S>(from, j, terms, part); });
    } else {
        P column[per_lane];
        add_rows<P, S>(from, terms, column);
        fold_parts<0, 1>(v, [&](unsigned j, P(&part)[V]) {
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                part[k] = column[j * V + k];
        });
    }
    return fold_lanes(v);
}

/* Column c of a tile of `present` elements, added serially. */
template <typename P, typename S, typename Terms>
__device__ inline P column_sum(const S *tile, const Terms &terms, unsigned present, unsigned c)
{
    unsigned rows = c < present ? (present - c - 1) / TILE_COLUMNS + 1 : 0;
    S x[TILE_ROWS];
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        if (row < rows)
            x[row] = __ldcs(tile + row * TILE_COLUMNS + c);
    P sum = nothing<P>();
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        if (row < rows)
            sum.append(terms.leaf_of(x[row]));
    return sum;
}

/* Any tile, by the threads of a block, each of which takes a column, or several: column(c) is the
 * piece of column c. The block's first thread gets the tile's. `shared` has TILE_COLUMNS places and
 * may be used again after a barrier.
 *
 * Pieces of one word are best folded by the first warp alone; of more, by as many warps as can, and
 * with as few copies of the code as can be. */
template <typename P, typename Column> __device__ inline P tile_by_block(P *shared, Column column)
{
    for (unsigned c = threadIdx.x; c < TILE_COLUMNS; c += blockDim.x)
        shared[c] = column(c);
    __syncthreads();
    if constexpr (P::words > 1)
#pragma unroll 1
        for (unsigned stride = TILE_COLUMNS / 2; stride >= warp_lanes; stride /= 2) {
            for (unsigned c = threadIdx.x; c < stride; c += blockDim.x)
                shared[c].join(shared[c + stride]);
            __syncthreads();
        }
    if (threadIdx.x >= warp_lanes)
        return nothing<P>();
    P v[1];
    if constexpr (P::words > 1)
        v[0] = shared[threadIdx.x];
    else
        fold_parts<0, 1>(
            v, [=](unsigned j, P(&part)[1]) { part[0] = shared[j * warp_lanes + threadIdx.x]; });
    return fold_lanes(v);
}
