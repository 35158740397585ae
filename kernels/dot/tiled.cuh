/* The tree of sum/tiled over products, at the speed of memory: kernels/blocks/tiled.cuh with two
 * arrays at its leaves. Only how a tile of products becomes a piece is here; what becomes of pieces
 * is there.
 *
 * A piece P is one of kernels/blocks/piece.cuh, with
 *   append(x, y)    adds the product of two elements, as they are stored
 *   begin(x, y)     the piece of a product alone */
#pragma once

#include "kernels/blocks/product.cuh"
#include "kernels/blocks/tiled.cuh"

namespace dot_tree
{

using sum_tree::schedule;

/* The columns of a lane, row by row, as add_rows of kernels/blocks/tile.cuh. */
template <typename P, typename S>
__device__ inline void add_products(const uint4 *x, const uint4 *y, P (&column)[per_lane])
{
    constexpr unsigned V = load<S>::width, parts = per_lane / V;
    constexpr unsigned loads = P::words > 1 ? 4 : 8; /* of each array, on their way at once */
    constexpr unsigned rows = loads / parts;
#pragma unroll
    for (unsigned top = 0; top < TILE_ROWS; top += rows) {
        load<S> a[loads], b[loads];
#pragma unroll
        for (unsigned i = 0; i < loads; i++) {
            a[i].from(x + (top * parts + i) * warp_lanes);
            b[i].from(y + (top * parts + i) * warp_lanes);
        }
#pragma unroll
        for (unsigned i = 0; i < loads; i++)
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                if (top + i / parts == 0)
                    column[i * V + k] = P::begin(a[i].x[k], b[i].x[k]);
                else
                    column[i % parts * V + k].append(a[i].x[k], b[i].x[k]);
    }
}

/* A tile that is full and aligned to 16 bytes, by the lanes of a warp, of which lane 0 gets it. */
template <typename P, typename S> __device__ inline P tile_by_warp(const S *x, const S *y)
{
    constexpr unsigned V = load<S>::width;
    unsigned lane = threadIdx.x % warp_lanes;
    P column[per_lane], v[V];
    add_products<P, S>((const uint4 *)x + lane, (const uint4 *)y + lane, column);
    fold_parts<0, 1>(v, [&](unsigned j, P(&part)[V]) {
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            part[k] = column[j * V + k];
    });
    return fold_lanes(v);
}

/* Column c of a tile of `present` products, added serially. */
template <typename P, typename S>
__device__ inline P column_sum(const S *x, const S *y, unsigned present, unsigned c)
{
    unsigned rows = c < present ? (present - c - 1) / TILE_COLUMNS + 1 : 0;
    S a[TILE_ROWS], b[TILE_ROWS];
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        if (row < rows) {
            a[row] = __ldcs(x + row * TILE_COLUMNS + c);
            b[row] = __ldcs(y + row * TILE_COLUMNS + c);
        }
    P sum = nothing<P>();
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        if (row == 0 && rows > 0)
            sum = P::begin(a[0], b[0]);
        else if (row < rows)
            sum.append(a[row], b[row]);
    return sum;
}

template <typename P, typename S>
__device__ P sum_of_tile(const S *x, const S *y, size_t n, unsigned tile, P *shared)
{
    size_t begin = (size_t)tile * TILE;
    unsigned present = (unsigned)min((size_t)TILE, n - begin);
    return tile_by_block(
        shared, [=](unsigned c) { return column_sum<P>(x + begin, y + begin, present, c); });
}

/* As sum_tree::sum_runs and sum_few. */
template <typename P, typename S>
__global__ __launch_bounds__(TILE_THREADS_MAX, 1) void sum_runs(const S *x, const S *y, schedule s,
                                                                place<P> *pieces,
                                                                typename P::result *out)
{
    __shared__ P shared[TILE_COLUMNS];
    unsigned warp = threadIdx.x / warp_lanes, warps = blockDim.x / warp_lanes;
    unsigned run = 1u << s.run_log2;
    for (unsigned first = blockIdx.x * run; first < s.tiles; first += gridDim.x * run) {
        unsigned end = min(first + run, s.tiles);
        for (unsigned tile = first + warp; tile < min(end, s.full); tile += warps) {
            P sum = tile_by_warp<P>(x + (size_t)tile * TILE, y + (size_t)tile * TILE);
            if (threadIdx.x % warp_lanes == 0)
                leave(pieces + (size_t)tile * P::words, sum);
        }
        for (unsigned tile = max(first, s.full); tile < end; tile++) {
            P sum = sum_of_tile(x, y, s.n, tile, shared);
            if (threadIdx.x == 0)
                leave(pieces + (size_t)tile * P::words, sum);
            __syncthreads();
        }
        sum_tree::climb(s, end, pieces, shared, elements<typename P::word>(), out);
    }
}

template <typename P, typename S>
__global__ __launch_bounds__(TILE_COLUMNS, 2) void sum_few(const S *x, const S *y, schedule s,
                                                           place<P> *pieces,
                                                           typename P::result *out)
{
    __shared__ P shared[TILE_COLUMNS];
    P sum = sum_of_tile(x, y, s.n, blockIdx.x, shared);
    if (threadIdx.x == 0 && s.tiles == 1)
        *out = sum_of(s.n, sum.value());
    if (s.tiles == 1)
        return;
    if (threadIdx.x == 0)
        leave(pieces + blockIdx.x * P::words, sum);
    __syncthreads();
    sum_tree::climb(s, blockIdx.x + 1, pieces, shared, elements<typename P::word>(), out);
}

template <typename P, typename S> int run(const struct cuda_task *t)
{
    schedule s = sum_tree::schedule_for(t);
    if ((uintptr_t)t->of->in2.data % sizeof(uint4) != 0)
        s.full = 0;
    cudaStream_t stream = (cudaStream_t)t->stream;
    const S *x = (const S *)t->of->in.data, *y = (const S *)t->of->in2.data;
    place<P> *pieces = (place<P> *)t->workspace;
    typename P::result *out = (typename P::result *)t->out;
    if (s.tiles <= TILE_FEW && t->threads == TILE_COLUMNS && t->blocks == s.tiles) {
        dot_tree::sum_few<P><<<s.tiles, TILE_COLUMNS, 0, stream>>>(x, y, s, pieces, out);
    } else {
        unsigned runs = ((s.tiles - 1) >> s.run_log2) + 1;
        dot_tree::sum_runs<P>
            <<<min(runs, t->blocks), lanes_for(t->threads), 0, stream>>>(x, y, s, pieces, out);
    }
    return cudaGetLastError();
}

} // namespace dot_tree
