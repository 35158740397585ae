/* Many tiles: a block takes one after the other, and has several on the way (tiled.cuh). */
#pragma once

#include "kernels/scan/worker.cuh"

namespace scan_pass
{

/* A block claims until it finds no tile. The last of all claims leaves the state for the next
 * launch. */
template <typename S, typename O>
__device__ inline unsigned tile_of_claim(const pass<S, O> &t, word claim)
{
    unsigned turn = claim >> 32, ticket = (unsigned)claim;
    if (ticket == t.tiles + gridDim.x - 1)
        t.shared->claims = (word)!turn << 32;
    return ticket < t.tiles ? ticket : none;
}

template <typename P> __device__ inline void set_claim(board<P> *b, unsigned k, unsigned tile)
{
    b->claim[k % slots] = tile;
    __mbarrier_arrive(&b->claimed[k % slots]);
}

/* The publisher publishes sums, and claims tiles: no earlier than they can be fetched, since others
 * wait for the sum of a tile that is claimed. `claim`: the first. */
template <typename P, typename S, typename O>
__device__ inline void publish_sums(const pass<S, O> &t, board<P> *b, word claim)
{
    bool first = threadIdx.x % warp_lanes == 0, more = first;
    unsigned tile;
    auto settle = [&](unsigned k) {
        unsigned claimed = more ? tile_of_claim(t, claim) : none;
        more = claimed != none;
        if (first)
            set_claim(b, k, claimed);
    };
    auto claim_another = [&] {
        if (more)
            claim = atomicAdd(&t.shared->claims, 1);
    };
    if (first)
        b->turn = claim >> 32;
    settle(0);
    claim_another();
    settle(1);
    for (unsigned k = 0; (tile = claimed_tile(b, k)) != none; k++) {
        claim_another();
        shelf<P> now(t.shared, t.tiles, b->turn), next(t.shared, t.tiles, !b->turn);
        wait_for(b->summed, k);
        P sum = sum_rows(b->row[k % slots]);
        if (first) {
            publish(now.tile(tile), sum);
            empty(next, tile);
        }
        settle(k + 2);
    }
}

/* The completer publishes the sums of groups and super-groups that end with one of the block's
 * tiles. */
template <typename P, typename S, typename O>
__device__ inline void complete_groups(const pass<S, O> &t, board<P> *b)
{
    unsigned tile;
    for (unsigned k = 0; (tile = claimed_tile(b, k)) != none; k++) {
        wait_for(b->summed, k);
        if (standing(tile).ends_group)
            complete_group(shelf<P>(t.shared, t.tiles, b->turn), tile, sum_rows(b->row[k % slots]));
        if (threadIdx.x % warp_lanes == 0)
            __mbarrier_arrive(&b->ready[k % slots]);
    }
}

/* Waits until `later` more tiles of the block have been summed, or all. */
template <typename P> __device__ inline void linger(board<P> *b, unsigned k, unsigned later)
{
    for (unsigned i = k; i <= k + later && claimed_tile(b, i) != none; i++)
        wait_for(b->summed, i);
}

/* The lanes of a scout that write what a tile's rows wait for. Each says itself that it has. */
template <typename P> constexpr unsigned scout_tellers = P::starts ? SCAN_ROWS : 1;

/* Where the rows of tile k begin, each by a lane; `prefix`: the sum of all before the tile. */
template <typename S, typename P>
__device__ inline void set_starts(board<P> *b, unsigned k, P prefix)
{
    unsigned lane = threadIdx.x % warp_lanes;
    P rows = lane < SCAN_ROWS ? b->row[k % slots][lane] : P::nothing();
#pragma unroll
    for (unsigned d = 1; d < SCAN_ROWS; d *= 2) {
        P before = rows.up(d);
        if (lane >= d)
            rows = join(before, rows);
    }
    rows = rows.up(1);
    rows = join(prefix, lane == 0 ? P::nothing() : rows);
    if (lane < SCAN_ROWS)
        b->start[k % slots][lane] =
            start_row<typename P::result, S>(rows, b->of_row[k % slots][lane]);
}

/* Scouts take turns. They do not ask for sums as soon as they could: all would ask again and again
 * for the same few that are still missing, and keep those who publish them from memory. */
template <typename P, typename S, typename O>
__device__ inline void find_prefixes(const pass<S, O> &t, board<P> *b, unsigned scout)
{
    const unsigned ahead = t.stages - 2, later = ahead - (ahead + 3) / 4;
    unsigned tile;
    for (unsigned k = 0; (tile = claimed_tile(b, k)) != none; k++) {
        if (k % crew<P, S, O>::scouts != scout)
            continue;
        linger(b, k, later);
        P prefix = look_back(shelf<P>(t.shared, t.tiles, b->turn), tile);
        if constexpr (P::starts)
            set_starts<S>(b, k, prefix);
        if (threadIdx.x % warp_lanes == 0)
            b->prefix[k % slots] = prefix;
        if (threadIdx.x % warp_lanes < scout_tellers<P>)
            __mbarrier_arrive(&b->ready[k % slots]);
    }
}

template <typename P, typename S, typename O>
__global__ __launch_bounds__(crew<P, S, O>::threads,
                             crew<P, S, O>::alone ? 1 : 2) void scan_tiles(pass<S, O> t)
{
    extern __shared__ uint4 memory[];
    __shared__ board<P> b;
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    word claim = 0;
    if (threadIdx.x == publisher * warp_lanes)
        claim = atomicAdd(&t.shared->claims, 1);
    worker<P, S, O> w = {t, &b, (place_of_row<P, S, O> *)memory, lane, warp, {}};
    for (unsigned k = threadIdx.x; k < slots; k += crew<P, S, O>::threads) {
        __mbarrier_init(&b.claimed[k], 1);
        __mbarrier_init(&b.summed[k], SCAN_ROWS);
        __mbarrier_init(&b.ready[k], scout_tellers<P> + 1); /* and the completer */
    }
    __syncthreads();
    if (warp == publisher)
        publish_sums(t, &b, claim);
    else if (warp == completer)
        complete_groups(t, &b);
    else if (warp >= first_scout)
        find_prefixes(t, &b, warp - first_scout);
    else
        work(w);
}

} // namespace scan_pass
