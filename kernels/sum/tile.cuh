/* A tile of sum/tiled (kernels/sum/tiled.h), summed by a warp or by a whole block: the same order.
 */
#ifndef ULPSCOPE_TILE_CUH
#define ULPSCOPE_TILE_CUH

#include "kernels/device.cuh"
#include "kernels/sum/tiled.h"

/* By a warp: each lane holds 8 of the 256 column sums. Which ones depends on the width of its
 * loads, V elements: column 32 V j + V lane + k is value V j + k, for k < V and j < 8 / V. */
constexpr unsigned per_lane = TILE_COLUMNS / warp_lanes;
static_assert(per_lane == 8, "a lane's columns are loaded 16 bytes at a time");

/* Folds the column sums by halving, 128, 64, ..., 1 columns apart; every lane gets the result.
 *
 * Partners that lie in one lane are added there. Where a partner is lane xor s, and the lane has
 * more than one value left, the two lanes share the work: each sends the half of its values that
 * the other keeps, so that every step halves the values. What then distinguishes the columns of a
 * lane has become a bit of the lane's number, and the last log2 V steps run over those bits. */
template <unsigned V, typename A> __device__ inline A fold_columns(A (&v)[per_lane])
{
#pragma unroll
    for (unsigned count = per_lane / 2; count >= V; count /= 2)
#pragma unroll
        for (unsigned i = 0; i < count; i++)
            v[i] = add(v[i], v[i + count]);
#pragma unroll
    for (unsigned stride = warp_lanes / 2, count = V / 2; stride > 0; stride /= 2, count /= 2) {
        bool upper = threadIdx.x & stride;
#pragma unroll
        for (unsigned i = 0; i < count; i++) {
            A sent = upper ? v[i] : v[i + count];
            A kept = upper ? v[i + count] : v[i];
            v[i] = add(kept, __shfl_xor_sync(whole_warp, sent, stride));
        }
        if (count == 0)
            v[0] = add(v[0], __shfl_xor_sync(whole_warp, v[0], stride));
    }
#pragma unroll
    for (unsigned stride = warp_lanes / 2, count = V / 2; count > 0; stride /= 2, count /= 2)
        v[0] = add(v[0], __shfl_xor_sync(whole_warp, v[0], stride));
    return v[0];
}

/* 16 bytes of elements, read once and not again. */
template <typename S> struct piece {
    static constexpr unsigned width = sizeof(uint4) / sizeof(S);
    S x[width];
    __device__ void load(const uint4 *from)
    {
        uint4 bytes = __ldcs(from);
        memcpy(x, &bytes, sizeof bytes);
    }
};

/* A tile that is full and aligned to 16 bytes, by the lanes of a warp, which all get the sum. */
template <typename S, typename A> __device__ inline A tile_by_warp(const S *tile)
{
    constexpr unsigned V = piece<S>::width, pieces = per_lane / V; /* of a row, for each lane */
    constexpr unsigned loads = 8, rows = loads / pieces;           /* on their way at once */
    const uint4 *from = (const uint4 *)tile + threadIdx.x % warp_lanes;
    A v[per_lane];
#pragma unroll
    for (unsigned top = 0; top < TILE_ROWS; top += rows) {
        piece<S> loaded[loads];
#pragma unroll
        for (unsigned i = 0; i < loads; i++)
            loaded[i].load(from + (top * pieces + i) * warp_lanes);
#pragma unroll
        for (unsigned i = 0; i < loads; i++)
#pragma unroll
            for (unsigned k = 0; k < V; k++) {
                A x = convert<A>(loaded[i].x[k]), &column = v[i % pieces * V + k];
                column = top + i / pieces == 0 ? x : add(column, x);
            }
    }
    return fold_columns<V>(v);
}

/* Column c of a tile of `present` elements, added serially. */
template <typename A, typename S>
__device__ inline A column_sum(const S *tile, unsigned present, unsigned c)
{
    S x[TILE_ROWS];
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        if (row * TILE_COLUMNS + c < present)
            x[row] = __ldcs(tile + row * TILE_COLUMNS + c);
    A sum = minus_zero<A>();
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        if (row * TILE_COLUMNS + c < present)
            sum = add(sum, convert<A>(x[row]));
    return sum;
}

/* Any tile, by the threads of a block, each of which takes a column, or several: column(c) is the
 * sum of column c. The lanes of the first warp get the tile's sum. `shared` has TILE_COLUMNS places
 * and may be used again after a barrier. */
template <typename A, typename Column> __device__ inline A tile_by_block(A *shared, Column column)
{
    for (unsigned c = threadIdx.x; c < TILE_COLUMNS; c += blockDim.x)
        shared[c] = column(c);
    __syncthreads();
    A v[per_lane] = {};
    if (threadIdx.x >= warp_lanes)
        return v[0];
#pragma unroll
    for (unsigned k = 0; k < per_lane; k++)
        v[k] = shared[k * warp_lanes + threadIdx.x];
    return fold_columns<1>(v);
}

#endif
