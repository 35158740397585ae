/* The tree of sum/tiled (its words stand in tiled.c) on a GPU, at the speed of memory, for anything
 * that can be added: sum/tiled, and the methods that walk the same tree with pieces of several
 * words.
 *
 * Everything here is a schedule, in one launch:
 *
 *   - A block takes a run of consecutive tiles, each warp a tile at a time (tile.cuh). Tiles that
 *     are not full, or not aligned to 16 bytes, are summed by the block together.
 *   - It leaves the tiles' pieces where other blocks find them (mailbox.cuh). 2048 of them are a
 *     tile of the next level, a group. The block that had the last run of a group waits for the
 *     pieces of the others, sums the group, and leaves that piece for the next level; and so on,
 *     until the block with the last run of all writes the result.
 *   - Where there are few tiles, time is latency. Then each tile has a block, and each column a
 *     thread: the shortest way from the first load to the last addition.
 *
 * A run has a power of two tiles, 2048 at most, so that none belongs to two groups. */
#pragma once

#include "kernels/blocks/mailbox.cuh"
#include "kernels/blocks/tile.cuh"

namespace sum_tree
{

struct schedule {
    size_t n;
    unsigned tiles, full; /* full: tiles that are full, if x is aligned to 16 bytes, else 0 */
    unsigned run_log2;    /* tiles of a run */
};

/* Tile `tile` of x, by the whole block. */
template <typename P, typename S, typename Terms>
__device__ P sum_of_tile(const S *x, const Terms &terms, size_t n, unsigned tile, P *shared)
{
    typedef typename P::tile T;
    static_assert(sizeof(T) <= sizeof(P), "a tile's columns are folded in the place of pieces");
    size_t begin = (size_t)tile * TILE;
    unsigned present = (unsigned)min((size_t)TILE, n - begin);
    return raised<P>(tile_by_block(
        (T *)shared, [=](unsigned c) { return column_sum<T>(x + begin, terms, present, c); }));
}

/* Column c of a group of `present` pieces, as soon as they are there. So many rows are waited for
 * at a time as registers hold. */
template <typename P> __device__ P awaited_sum(place<P> *group, unsigned present, unsigned c)
{
    constexpr unsigned together = P::words > 2 ? TILE_ROWS / 2 : TILE_ROWS;
    unsigned rows = c < present ? (present - c - 1) / TILE_COLUMNS + 1 : 0;
    P sum = nothing<P>();
#pragma unroll 1
    for (unsigned top = 0; top < TILE_ROWS; top += together) {
        P piece[together];
        place<P> *first = group + (top * TILE_COLUMNS + c) * P::words;
        take(first, TILE_COLUMNS, rows > top ? rows - top : 0, piece);
#pragma unroll
        for (unsigned i = 0; i < together; i++)
            if (top + i < rows)
                sum.join(piece[i]);
    }
    return sum;
}

/* After this block has left the first level's pieces up to `end`, the last of them its own: sums
 * every group that ends there, one level after the other. Levels follow each other in `pieces`. */
template <typename P, typename Terms>
__device__ void climb(const schedule &s, unsigned end, place<P> *pieces, P *shared,
                      const Terms &terms, typename P::result *out)
{
    unsigned count = s.tiles;
    while (end % TILE == 0 || end == count) {
        unsigned group = (end - 1) / TILE, groups = (count - 1) / TILE + 1;
        place<P> *first = pieces + (size_t)group * TILE * P::words;
        P sum = tile_by_block(
            shared, [=](unsigned c) { return awaited_sum<P>(first, end - group * TILE, c); });
        if (groups == 1) {
            if (threadIdx.x == 0)
                *out = terms.result(s.n, sum);
            return;
        }
        pieces += (size_t)count * P::words;
        if (threadIdx.x == 0)
            leave(pieces + (size_t)group * P::words, sum);
        count = groups;
        end = group + 1;
        __syncthreads();
    }
}

template <typename P, typename S, typename Terms>
__global__ __launch_bounds__(TILE_THREADS_MAX, 1) void sum_runs(const S *x, Terms terms, schedule s,
                                                                place<P> *pieces,
                                                                typename P::result *out)
{
    terms.begin();
    __shared__ P shared[TILE_COLUMNS];
    unsigned warp = threadIdx.x / warp_lanes, warps = blockDim.x / warp_lanes;
    unsigned run = 1u << s.run_log2;
    for (unsigned first = blockIdx.x * run; first < s.tiles; first += gridDim.x * run) {
        unsigned end = min(first + run, s.tiles);
        for (unsigned tile = first + warp; tile < min(end, s.full); tile += warps) {
            P sum = raised<P>(tile_by_warp<typename P::tile>(x + (size_t)tile * TILE, terms));
            if (threadIdx.x % warp_lanes == 0)
                leave(pieces + (size_t)tile * P::words, sum);
        }
        for (unsigned tile = max(first, s.full); tile < end; tile++) {
            P sum = sum_of_tile(x, terms, s.n, tile, shared);
            if (threadIdx.x == 0)
                leave(pieces + (size_t)tile * P::words, sum);
            __syncthreads();
        }
        climb(s, end, pieces, shared, terms, out);
    }
}

template <typename P, typename S, typename Terms>
__global__ __launch_bounds__(TILE_COLUMNS, 2) void sum_few(const S *x, Terms terms, schedule s,
                                                           place<P> *pieces,
                                                           typename P::result *out)
{
    terms.begin();
    __shared__ P shared[TILE_COLUMNS];
    P sum = sum_of_tile(x, terms, s.n, blockIdx.x, shared);
    if (threadIdx.x == 0 && s.tiles == 1)
        *out = terms.result(s.n, sum);
    if (s.tiles == 1)
        return;
    if (threadIdx.x == 0)
        leave(pieces + blockIdx.x * P::words, sum);
    __syncthreads();
    climb(s, blockIdx.x + 1, pieces, shared, terms, out);
}

/* One for the sum of nothing. They fit: 2^32 tiles are more than any memory. */
inline unsigned tiles_of(size_t n)
{
    return n > 0 ? (unsigned)groups_of(n, TILE) : 1;
}

inline schedule schedule_for(const struct cuda_task *t)
{
    schedule s = {};
    s.n = t->of->in.n;
    s.tiles = tiles_of(t->of->in.n);
    s.full = (uintptr_t)t->of->in.data % sizeof(uint4) == 0 ? (unsigned)(t->of->in.n / TILE) : 0;
    size_t least = lanes_for(t->threads) / warp_lanes, share = groups_of(s.tiles, t->blocks);
    while (1u << s.run_log2 < TILE && (1u << s.run_log2 < least || 1u << s.run_log2 < share))
        s.run_log2++;
    return s;
}

template <typename P, typename S, typename Terms = elements<typename P::word>>
int run(const struct cuda_task *t, Terms terms = Terms())
{
    schedule s = schedule_for(t);
    cudaStream_t stream = (cudaStream_t)t->stream;
    const S *x = (const S *)t->of->in.data;
    place<P> *pieces = (place<P> *)t->workspace;
    typename P::result *out = (typename P::result *)t->out;
    if (s.tiles <= TILE_FEW && t->threads == TILE_COLUMNS && t->blocks == s.tiles) {
        sum_few<P><<<s.tiles, TILE_COLUMNS, 0, stream>>>(x, terms, s, pieces, out);
    } else {
        unsigned runs = ((s.tiles - 1) >> s.run_log2) + 1;
        sum_runs<P>
            <<<min(runs, t->blocks), lanes_for(t->threads), 0, stream>>>(x, terms, s, pieces, out);
    }
    return cudaGetLastError();
}

/* Places for the pieces of all levels, but not for the last. */
inline size_t workspace(const struct cuda_task *t, unsigned words)
{
    size_t count = tiles_of(t->of->in.n), pieces = count;
    while (count > TILE) {
        count = groups_of(count, TILE);
        pieces += count;
    }
    return pieces * words * sizeof(double);
}

/* A method whose pieces for the accumulator A are Kind<A>, in every format. */
template <template <typename> class Kind> struct method {
    static size_t workspace(const struct cuda_task *t)
    {
        return sum_tree::workspace(t, Kind<double>::words);
    }
    static int enqueue(const struct cuda_task *t)
    {
        return with_stored_types(
            t, [t](auto s, auto a) { return run<Kind<decltype(a)>, decltype(s)>(t); });
    }
};

} // namespace sum_tree
