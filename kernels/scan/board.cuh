/* What the warps of a block of the pipeline are, and where they tell each other of its tiles. */
#pragma once

#include <cuda_awbarrier_primitives.h>

#include "kernels/scan/pass.cuh"

namespace scan_pass
{

constexpr unsigned stages_most = 16, none = 0xffffffff; /* none: no tile */

/* Numbers of warps: 0 .. publisher-1 are the rows'. */
constexpr unsigned publisher = SCAN_ROWS, completer = publisher + 1, first_scout = completer + 1;
template <typename P, typename S, typename O> struct crew {
    static constexpr size_t stage = SCAN_ROWS * sizeof(place_of_row<P, S, O>); /* bytes */
    /* Rows with starts pass fast: a block alone on its multiprocessor needs more scouts. */
    static constexpr bool alone = !P::exact || (P::starts && chunk_bytes<S, O> > 32);
    static constexpr unsigned scouts = P::starts && alone ? 4 : 2;
    static constexpr unsigned threads = (first_scout + scouts) * warp_lanes;
};

/* What the warps of a block tell each other of its k-th tile, in slot k % slots. A row's warp is at
 * most a block's stages ahead of another, since it needs every prefix; and so are the publisher,
 * the scouts and the completer, whom it needs: the completer only to keep it near, at next to no
 * cost, since what it waits for lies before the tile too. So there are more slots than are in use.
 */
constexpr unsigned slots = 2 * stages_most;

template <typename P> struct board_of_rows {
    __mbarrier_t claimed[slots], summed[slots];
    __mbarrier_t ready[slots]; /* prefix[], and the completer is done with the tile; the others: */
    unsigned claim[slots];     /* the tile, or `none` */
    unsigned turn;             /* comes with the first claim */
    P row[slots][SCAN_ROWS];   /* the sums of its rows */
    P prefix[slots];           /* the sum of all before it */
};
/* Of each row that has a start. Others have nothing here. */
template <bool starts> struct board_of_starts {
};
template <> struct board_of_starts<true> {
    exponents of_row[slots][SCAN_ROWS];
    row_start start[slots][SCAN_ROWS];
};
template <typename P> struct board : board_of_rows<P>, board_of_starts<P::starts> {
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

/* The tile that claim k of the block gave it. */
template <typename P> __device__ inline unsigned claimed_tile(board<P> *b, unsigned k)
{
    wait_for(b->claimed, k);
    return b->claim[k % slots];
}

} // namespace scan_pass
