/* Rows in the order of sum/tiled (its words stand in kernels/sum/tiled.c) on a GPU.
 *
 * Everything here is a schedule: a launch for each level of the tree. The first sums the tiles of
 * all rows; its sums are again a matrix of as many rows, in the same layout, with one element per
 * tile; and so on, until each row has one tile left.
 *
 *   - sum_consecutive, stride 1: a tile by a warp, as sum/tiled sums it.
 *   - sum_strided: a tile by a thread. Neighbours in memory belong to neighbouring rows, so that
 *     the reads of a warp are coalesced. The thread takes the columns of its tile in the order in
 *     which the tree joins them, and so keeps a few sums instead of 256.
 *   - sum_short, rows of at most 32 elements in any layout: a row by a thread. */
#pragma once

#include "kernels/method/matrix.h"
#include "kernels/blocks/tile.cuh"

namespace rows_tree
{

constexpr unsigned threads = 256, short_row = 32;

/* A tile that is not full, or not aligned to 16 bytes, by a warp, of which lane 0 gets it. */
template <typename P, typename S> __device__ P part_by_warp(const S *tile, unsigned present)
{
    unsigned lane = threadIdx.x % warp_lanes;
    P v[1];
    fold_parts<0, 1>(v, [=](unsigned j, P(&part)[1]) {
        part[0] = column_sum<P>(tile, elements<typename P::word>(), present, j * warp_lanes + lane);
    });
    return fold_lanes(v);
}

template <typename A, typename S>
__global__ __launch_bounds__(threads) void sum_consecutive(const S *x, size_t rows, size_t length,
                                                           A *out)
{
    typedef plain_sum<A> P;
    constexpr unsigned warps = threads / warp_lanes;
    size_t tiles = groups_of(length, TILE), all = rows * tiles;
    for (size_t i = (size_t)blockIdx.x * warps + threadIdx.x / warp_lanes; i < all;
         i += (size_t)gridDim.x * warps) {
        size_t first = i % tiles * TILE;
        const S *tile = x + i / tiles * length + first;
        unsigned present = (unsigned)min((size_t)TILE, length - first);
        bool fast = present == TILE && (uintptr_t)tile % sizeof(uint4) == 0;
        P sum = fast ? tile_by_warp<P>(tile, elements<A>()) : part_by_warp<P>(tile, present);
        if (threadIdx.x % warp_lanes == 0)
            out[i] = sum.value();
    }
}

/* A column of a tile whose elements are `stride` apart, from c on, serially. */
template <bool full, typename A, typename S>
__device__ A strided_column(const S *tile, size_t stride, unsigned present, unsigned c)
{
    S x[TILE_ROWS];
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        if (full || row * TILE_COLUMNS + c < present)
            x[row] = __ldcs(tile + (row * TILE_COLUMNS + c) * stride);
    A sum = minus_zero<A>();
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        if (full || row * TILE_COLUMNS + c < present)
            sum = add(sum, convert<A>(x[row]));
    return sum;
}

/* Columns c, c + apart, c + 2 apart, ..., folded by halving: the farthest apart meet first. */
template <bool full, unsigned apart, typename A, typename S>
__device__ A strided_fold(const S *tile, size_t stride, unsigned present, unsigned c)
{
    if constexpr (apart == TILE_COLUMNS) {
        return strided_column<full, A>(tile, stride, present, c);
    } else {
        A low = strided_fold<full, 2 * apart, A>(tile, stride, present, c);
        return add(low, strided_fold<full, 2 * apart, A>(tile, stride, present, c + apart));
    }
}

/* The whole tile: 32 groups of 8 columns that are 32 apart, in the order in which they are joined:
 * the q-th is that whose number has q's bits turned round. waiting[l] is a fold of 2^l groups. */
template <bool full, typename A, typename S>
__device__ A strided_tile(const S *tile, size_t stride, unsigned present)
{
    constexpr unsigned levels = 5, groups = 1 << levels;
    A waiting[levels], sum = minus_zero<A>();
#pragma unroll 1
    for (unsigned q = 0; q < groups; q++) {
        sum = strided_fold<full, groups, A>(tile, stride, present, __brev(q) >> (32 - levels));
        bool joining = true;
#pragma unroll
        for (unsigned l = 0; l < levels; l++) {
            if (joining && (q >> l & 1))
                sum = add(waiting[l], sum);
            else if (joining) {
                waiting[l] = sum;
                joining = false;
            }
        }
    }
    return sum;
}

template <typename A, typename S>
__global__ __launch_bounds__(threads) void sum_strided(const S *x, size_t rows, size_t length,
                                                       size_t stride, A *out)
{
    size_t tiles = groups_of(length, TILE), all = rows * tiles;
    for (size_t i = (size_t)blockIdx.x * threads + threadIdx.x; i < all;
         i += (size_t)gridDim.x * threads) {
        size_t batch = i / stride / tiles, first = i / stride % tiles * TILE;
        const S *tile = x + (batch * length + first) * stride + i % stride;
        unsigned present = (unsigned)min((size_t)TILE, length - first);
        out[i] = present == TILE ? strided_tile<true, A>(tile, stride, present)
                                 : strided_tile<false, A>(tile, stride, present);
    }
}

template <typename A, typename S>
__global__ __launch_bounds__(threads) void sum_short(const S *x, size_t rows, size_t length,
                                                     size_t stride, A *out)
{
    for (size_t r = (size_t)blockIdx.x * threads + threadIdx.x; r < rows;
         r += (size_t)gridDim.x * threads) {
        const S *row = x + matrix_at(r, 0, length, stride);
        A v[short_row];
#pragma unroll
        for (unsigned k = 0; k < short_row; k++)
            v[k] = k < length ? convert<A>(row[k * stride]) : minus_zero<A>();
#pragma unroll
        for (unsigned apart = short_row / 2; apart > 0; apart /= 2)
#pragma unroll
            for (unsigned k = 0; k < apart; k++)
                v[k] = add(v[k], v[k + apart]);
        out[r] = sum_of(length, v[0]);
    }
}

/* One level: the tile sums of all rows go to `out`. */
template <typename A, typename S>
void sum_tiles(const S *x, size_t rows, size_t length, size_t stride, A *out, cudaStream_t stream)
{
    size_t all = rows * groups_of(length, TILE);
    if (length <= short_row)
        sum_short<<<grid_for(groups_of(rows, threads)), threads, 0, stream>>>(x, rows, length,
                                                                              stride, out);
    else if (stride == 1)
        sum_consecutive<<<grid_for(groups_of(all, threads / warp_lanes)), threads, 0, stream>>>(
            x, rows, length, out);
    else
        sum_strided<<<grid_for(groups_of(all, threads)), threads, 0, stream>>>(x, rows, length,
                                                                               stride, out);
}

inline size_t workspace(const struct cuda_task *t)
{
    size_t sums = 0, length = matrix_length(t->of->in.n, t->of->bins);
    while (length > TILE) {
        length = groups_of(length, TILE);
        sums += t->of->bins * length;
    }
    return sums * sizeof(double);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    size_t rows = t->of->bins, length = matrix_length(t->of->in.n, rows);
    A *from = NULL, *to = length > TILE ? (A *)t->workspace : (A *)t->out;
    if (rows == 0)
        return cudaSuccess;
    sum_tiles((const S *)t->of->in.data, rows, length, t->of->stride, to, stream);
    while (length > TILE) {
        length = groups_of(length, TILE);
        from = to;
        to = length > TILE ? from + rows * length : (A *)t->out;
        sum_tiles(from, rows, length, t->of->stride, to, stream);
    }
    return cudaGetLastError();
}

inline int enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

} // namespace rows_tree
