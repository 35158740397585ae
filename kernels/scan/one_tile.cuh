/* Few tiles, where time is latency: each block has one. */
#pragma once

#include "kernels/scan/pass.cuh"

namespace scan_pass
{

/* Claims a tile; with the last one, leaves the state for the next launch. A single tile needs no
 * claim. Returns the tile, and in the upper half which set of places is used. By one thread. */
__device__ inline word claim_one(state *s, unsigned tiles)
{
    if (tiles == 1)
        return 0;
    word claim = atomicAdd(&s->claims, 1);
    if ((unsigned)claim == tiles - 1)
        s->claims = (word) !(claim >> 32) << 32;
    return claim;
}

/* As many tiles as leave a block a warp for each group. */
constexpr unsigned tiles_at_once = SCAN_ROWS * SCAN_GROUP;

/* The sum of everything before a tile, one of at most tiles_at_once: each warp folds a group, so
 * that no thread waits for a sum of sums. By all threads. */
template <typename P> __device__ inline P look_back_at_once(const shelf<P> &now, unsigned tile)
{
    __shared__ P sums[SCAN_ROWS];
    unsigned lane = threadIdx.x % warp_lanes, group = threadIdx.x / warp_lanes;
    standing at(tile);
    unsigned before = group < at.group ? SCAN_GROUP : group == at.group ? at.before : 0;
    if (group <= at.group) {
        question<P> tiles(lane < before ? now.tile(group * SCAN_GROUP + lane) : NULL);
        P sum = fold_lanes<warp_lanes>(tiles.answer());
        if (lane == 0)
            sums[group] = sum;
    }
    __syncthreads();
    P of_group = fold_lanes<SCAN_ROWS>(lane < at.group ? sums[lane] : P::nothing()).of(0);
    return join(of_group, sums[at.group]);
}

/* The same of any tile. `sums`: its rows'. */
template <typename P>
__device__ inline P prefix_of_tile(const shelf<P> &now, unsigned tile, const P *sums)
{
    __shared__ P prefix;
    unsigned row = threadIdx.x / warp_lanes;
    if (now.p.tiles <= tiles_at_once)
        return look_back_at_once(now, tile);
    if (row == 0) {
        P sum = look_back(now, tile);
        if (threadIdx.x == 0)
            prefix = sum;
    } else if (row == 1 && standing(tile).ends_group) {
        complete_group(now, tile, sum_rows(sums));
    }
    __syncthreads();
    return prefix;
}

/* Each block claims one tile, and its first two warps do what publisher, scouts and completer do in
 * the pipeline, where a block cannot look back at all tiles at once.
 * Blocks of small pieces leave room for eight on a multiprocessor. */
template <typename P, typename S, typename O>
__global__ __launch_bounds__(SCAN_ROWS *warp_lanes,
                             sizeof(P) <= 4 ? 8 : 1) void scan_one_tile(pass<S, O> t)
{
    constexpr unsigned bytes = chunk_bytes<S, O>;
    extern __shared__ uint4 memory[];
    __shared__ P sums[SCAN_ROWS];
    __shared__ word claim;
    unsigned lane = threadIdx.x % warp_lanes, row = threadIdx.x / warp_lanes, heads = 0;
    if (threadIdx.x == 0)
        claim = claim_one(t.shared, t.tiles);
    __syncthreads();
    unsigned tile = (unsigned)claim, turn = claim >> 32;
    size_t begin = (size_t)tile * SCAN_TILE + row * SCAN_ROW;
    uint4 *place = memory + row * (SCAN_CHUNKS * bytes / sizeof(uint4));
    fetch_row<S, bytes>(t.x, t.n, begin, t.x_aligned, place);
    __pipeline_commit();
    if (P::segmented) {
        flags f;
        f.load(t.heads, t.n, begin, t.heads_aligned);
        heads = f.mask(begin + lane == 0);
    }
    __pipeline_wait_prior(0);
    __syncwarp();
    P v = scan_chunks(sum_chunk<P, S, bytes>(place, heads)), before = v.up(1);
    if (lane == 0)
        before = P::nothing();
    if (lane == warp_lanes - 1)
        sums[row] = v;
    __syncthreads();
    P rows = fold_lanes<SCAN_ROWS>(lane < row ? sums[lane] : P::nothing()).of(0);
    P seed = join(rows, before);
    if (t.tiles > 1) {
        shelf<P> now(t.shared, t.tiles, turn), next(t.shared, t.tiles, !turn);
        if (row == 0) {
            P sum = sum_rows(sums);
            if (lane == 0) {
                publish(now.tile(tile), sum);
                empty(next, tile);
            }
        }
        seed = join(prefix_of_tile(now, tile, sums), seed);
    }
    bool first = begin + lane == 0;
    t.scan(tile, place, seed, heads, first);
    __syncwarp();
    store_row<O, bytes>(place, t.out, t.n, begin, t.out_aligned);
}

} // namespace scan_pass
