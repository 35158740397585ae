/* Many tiles: a block takes one after the other, and has several on the way (tiled.cuh). */
#ifndef ULPSCOPE_SCAN_PIPELINE_CUH
#define ULPSCOPE_SCAN_PIPELINE_CUH

#include <cuda_awbarrier_primitives.h>

#include "kernels/scan/pass.cuh"

namespace scan_pass
{

constexpr unsigned stages_most = 16, none = 0xffffffff; /* none: no tile */

/* Numbers of warps: 0 .. publisher-1 are the rows'. */
constexpr unsigned publisher = SCAN_ROWS, completer = publisher + 1, first_scout = completer + 1;
template <typename P, typename S, typename O> struct crew {
    static constexpr size_t stage = SCAN_ROWS * sizeof(place_of_row<P, S, O>); /* bytes */
    static constexpr unsigned scouts = 2;
    static constexpr unsigned threads = (first_scout + scouts) * warp_lanes;
};

/* What the warps of a block tell each other of its k-th tile, in slot k % slots. A row's warp is at
 * most a block's stages ahead of another, since it needs every prefix; and so are the publisher,
 * the scouts and the completer, whom it needs: the completer only to keep it near, at next to no
 * cost, since what it waits for lies before the tile too. So there are more slots than are in use.
 */
constexpr unsigned slots = 2 * stages_most;
template <typename P> struct board {
    __mbarrier_t claimed[slots], summed[slots];
    __mbarrier_t ready[slots]; /* prefix[], and the completer is done with the tile; the others: */
    unsigned claim[slots];     /* the tile, or `none` */
    unsigned turn;             /* comes with the first claim */
    P row[slots][SCAN_ROWS];   /* the sums of its rows */
    P prefix[slots];           /* the sum of all before it */
    /* The heads of each chunk, a bit each. */
    unsigned short heads[P::segmented ? slots : 1][SCAN_ROWS][SCAN_CHUNKS];
};

/* Waits until all have arrived that are expected of tile k. */
__device__ inline void wait_for(__mbarrier_t *barrier, unsigned k)
{
    bool parity = k / slots % 2;
#if __CUDA_ARCH__ >= 900
    while (!__mbarrier_try_wait_parity(barrier + k % slots, parity, 200 /* ns */))
        ;
#elif defined __CUDA_ARCH__
    while (!__mbarrier_test_wait_parity(barrier + k % slots, parity))
        ;
#endif
}

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

/* The tile that claim k of the block gave it. */
template <typename P> __device__ inline unsigned claimed_tile(board<P> *b, unsigned k)
{
    wait_for(b->claimed, k);
    return b->claim[k % slots];
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
        if (threadIdx.x % warp_lanes == 0) {
            b->prefix[k % slots] = prefix;
            __mbarrier_arrive(&b->ready[k % slots]);
        }
    }
}

/* A warp and its row of the block's tiles. */
template <typename P, typename S, typename O> struct worker {
    typedef place_of_row<P, S, O> place;
    static constexpr unsigned bytes = chunk_bytes<S, O>;
    const pass<S, O> &t;
    board<P> *b;
    place *places;
    unsigned lane, row;
    flags coming; /* of the tile fetched last */

    __device__ place *place_of(unsigned k) const
    {
        return places + (k % t.stages * SCAN_ROWS + row);
    }
    __device__ size_t begin(unsigned tile) const
    {
        return (size_t)tile * SCAN_TILE + row * SCAN_ROW;
    }

    __device__ void fetch(unsigned k)
    {
        unsigned tile = claimed_tile(b, k);
        if (tile != none)
            fetch_row<S, bytes>(t.x, t.n, begin(tile), t.x_aligned, place_of(k)->vector);
        __pipeline_commit();
    }
    __device__ void look_at_heads(unsigned k)
    {
        unsigned tile = b->claim[k % slots];
        if (P::segmented && tile != none)
            coming.load(t.heads, t.n, begin(tile), t.heads_aligned);
    }

    __device__ void sum(unsigned k)
    {
        unsigned tile = b->claim[k % slots], heads = 0;
        place *at = place_of(k);
        if (tile == none)
            return;
        if (P::segmented)
            b->heads[k % slots][row][lane] = heads = coming.mask(begin(tile) + lane == 0);
        P v = scan_chunks(sum_chunk<P, S, bytes>(at->vector, heads)), before = v.up(1);
        at->before[lane] = lane == 0 ? P::nothing() : before;
        if (lane == warp_lanes - 1) {
            b->row[k % slots][row] = v;
            __mbarrier_arrive(&b->summed[k % slots]);
        }
    }

    __device__ void scan(unsigned k)
    {
        wait_for(b->ready, k);
        unsigned tile = b->claim[k % slots];
        place *at = place_of(k);
        unsigned heads = P::segmented ? b->heads[k % slots][row][lane] : 0;
        P rows = fold_lanes<SCAN_ROWS>(lane < row ? b->row[k % slots][lane] : P::nothing()).of(0);
        P seed = join(b->prefix[k % slots], join(rows, at->before[lane]));
        bool first = begin(tile) + lane == 0;
        t.scan(tile, at->vector, seed, heads, first);
        __syncwarp();
        store_row<O, bytes>(at->vector, t.out, t.n, begin(tile), t.out_aligned);
        __syncwarp();
    }
};

/* Of the stages one is fetched, one is scanned, and the others have been summed: the further a sum
 * is ahead, the more time it has to become known. */
template <typename P, typename S, typename O> __device__ inline void work(worker<P, S, O> &w)
{
    unsigned ahead = w.t.stages - 2, k = 0, scanned = 0;
    w.fetch(0);
    w.look_at_heads(0);
    for (; w.b->claim[k % slots] != none; k++) {
        w.fetch(k + 1);
        __pipeline_wait_prior(1);
        __syncwarp();
        w.sum(k);
        w.look_at_heads(k + 1);
        if (k >= ahead)
            w.scan(scanned++);
    }
    while (scanned < k)
        w.scan(scanned++);
}

template <typename P, typename S, typename O>
__global__ __launch_bounds__(crew<P, S, O>::threads, P::exact ? 2 : 1) void scan_tiles(pass<S, O> t)
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
        __mbarrier_init(&b.ready[k], 2); /* a scout, the completer */
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

#endif
