/* What the warps do that have rows of a block's tiles: they fetch, sum, scan and store them. */
#pragma once

#include "kernels/scan/board.cuh"

namespace scan_pass
{

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
        P v;
        exponents of_row = {};
        if constexpr (P::starts) {
            row_sums<P> sums = sum_row<P, S, bytes>(at->vector, &of_row);
            v = sums.up_to;
            at->before[lane] = sums.before.sum;
        } else {
            v = scan_chunks(sum_chunk<P, S, bytes>(at->vector, heads));
            P before = v.up(1);
            at->before[lane] = lane == 0 ? P::nothing() : before;
        }
        if (lane == warp_lanes - 1) {
            b->row[k % slots][row] = v;
            if constexpr (P::starts)
                b->of_row[k % slots][row] = of_row;
            __mbarrier_arrive(&b->summed[k % slots]);
        }
    }

    /* Whether all prefixes of a row were found from its start. */
    __device__ bool scan_from_start(unsigned k, bool first)
    {
        place *at = place_of(k);
        row_start start = b->start[k % slots][row];
        double inside = at->before[lane], before = __dadd_rn(start.sum, inside);
        if (!__all_sync(whole_warp, start.admits(before)))
            return false;
        if (start.near())
            return t.scan_near(at->vector, start.sum, inside,
                               grids_for<S, typename P::result> == 0 ||
                                   b->of_row[k % slots][row].template add_exactly<S>());
        t.template scan_on_grid<typename P::result>(at->vector, before, first);
        return true;
    }

    /* What the row begins with is asked for late: asked for earlier, it kept a plain scan from 1 to
     * 2% of its speed. (Measured on an H200.) */
    __device__ void scan_plainly(unsigned k, unsigned tile)
    {
        place *at = place_of(k);
        unsigned heads = P::segmented ? b->heads[k % slots][row][lane] : 0;
        P rows = fold_lanes<SCAN_ROWS>(lane < row ? b->row[k % slots][lane] : P::nothing()).of(0);
        P seed = join(b->prefix[k % slots], join(rows, at->before[lane]));
        bool first = begin(tile) + lane == 0;
        t.scan(tile, at->vector, seed, heads, first);
    }

    __device__ void scan_exactly(unsigned k, unsigned tile, bool first)
    {
        place *at = place_of(k);
        P before;
        if constexpr (P::starts) {
            if (scan_from_start(k, first))
                return;
            exponents of_row = b->of_row[k % slots][row];
            before = sum_before<P, S, bytes>(at->vector, at->before[lane], of_row);
        } else {
            before = at->before[lane];
        }
        P rows = fold_lanes<SCAN_ROWS>(lane < row ? b->row[k % slots][lane] : P::nothing()).of(0);
        P seed = join(b->prefix[k % slots], join(rows, before));
        /* Not of 16 bits: with this code bf16's usual rows lost 2% of their speed. (Measured on an
         * H200.) */
        if (sizeof(S) > 2 && __all_sync(whole_warp, seed.off != 0))
            t.scan(tile, at->vector, typename P::rough{seed}, 0, first);
        else
            t.scan(tile, at->vector, seed, 0, first);
    }

    __device__ void scan(unsigned k)
    {
        wait_for(b->ready, k);
        unsigned tile = b->claim[k % slots];
        place *at = place_of(k);
        if constexpr (P::exact)
            scan_exactly(k, tile, begin(tile) + lane == 0);
        else
            scan_plainly(k, tile);
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

} // namespace scan_pass
