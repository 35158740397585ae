/* A tile of sum/tiled (kernels/sum/tiled.h), summed by one warp.
 *
 * Each lane holds 8 of the 256 column sums, all of them added serially down their columns; then
 * the columns are folded by halving. Which columns a lane holds depends on the width of its loads,
 * V elements: column (256 / 8) V j + V lane + k is value V j + k, for k < V and j < 8 / V. */
#ifndef ULPSCOPE_TILE_CUH
#define ULPSCOPE_TILE_CUH

#include "kernels/device.cuh"
#include "kernels/sum/tiled.h"

constexpr unsigned per_lane = TILE_COLUMNS / warp_lanes;
static_assert(per_lane == 8, "a lane's columns are loaded 16 bytes at a time");

/* Folds the column sums by halving, 128, 64, ..., 1 columns apart; every lane gets the result.
 *
 * Partners that lie in one lane are added there. Where a partner is lane xor s, and the lane has
 * more than one value left, the two lanes share the work: each sends the half of its values that
 * the other keeps, so that every step halves the values. What then distinguishes the columns of a
 * lane has become a bit of the lane's number, and the last log2 V steps run over those bits. */
template <unsigned V, typename A> __device__ inline A fold_columns(A (&v)[per_lane], unsigned lane)
{
#pragma unroll
    for (unsigned count = per_lane / 2; count >= V; count /= 2)
#pragma unroll
        for (unsigned i = 0; i < count; i++)
            v[i] = add(v[i], v[i + count]);
#pragma unroll
    for (unsigned stride = warp_lanes / 2, count = V / 2; stride > 0; stride /= 2, count /= 2) {
#pragma unroll
        for (unsigned i = 0; i < count; i++) {
            bool upper = lane & stride;
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

/* The sum of a tile that is full and aligned to 16 bytes. */
template <typename S, typename A> __device__ inline A sum_full_tile(const S *tile, unsigned lane)
{
    constexpr unsigned V = piece<S>::width, pieces = per_lane / V; /* of a row, for each lane */
    constexpr unsigned rows = TILE_ROWS / pieces; /* 8 loads on their way at once */
    const uint4 *from = (const uint4 *)tile + lane;
    A v[per_lane];
#pragma unroll
    for (unsigned top = 0; top < TILE_ROWS; top += rows) {
        piece<S> loaded[rows * pieces];
#pragma unroll
        for (unsigned i = 0; i < rows * pieces; i++)
            loaded[i].load(from + (top * pieces + i) * warp_lanes);
#pragma unroll
        for (unsigned i = 0; i < rows * pieces; i++)
#pragma unroll
            for (unsigned k = 0; k < V; k++) {
                A x = convert<A>(loaded[i].x[k]), &column = v[i % pieces * V + k];
                column = top + i / pieces == 0 ? x : add(column, x);
            }
    }
    return fold_columns<V>(v, lane);
}

/* The sum of the `present` elements of any tile. */
template <typename A, typename S>
__device__ inline A sum_any_tile(const S *tile, size_t present, unsigned lane)
{
    constexpr unsigned rows = sizeof(S) > 4 ? 2 : 4; /* fetched at once */
    A v[per_lane];
#pragma unroll
    for (unsigned k = 0; k < per_lane; k++)
        v[k] = minus_zero<A>();
    for (unsigned top = 0; top < TILE_ROWS && top * TILE_COLUMNS < present; top += rows) {
        S fetched[rows][per_lane];
        unsigned first = top * TILE_COLUMNS + lane;
#pragma unroll
        for (unsigned i = 0; i < rows * per_lane; i++)
            if (first + i * warp_lanes < present)
                fetched[i / per_lane][i % per_lane] = tile[first + i * warp_lanes];
#pragma unroll
        for (unsigned i = 0; i < rows * per_lane; i++)
            if (first + i * warp_lanes < present)
                v[i % per_lane] =
                    add(v[i % per_lane], convert<A>(fetched[i / per_lane][i % per_lane]));
    }
    return fold_columns<1>(v, lane);
}

#endif
