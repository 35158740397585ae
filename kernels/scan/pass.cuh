/* What a launch is given. */
#pragma once

#include "kernels/scan/exact_row.cuh"
#include "kernels/scan/look_back.cuh"

namespace scan_pass
{

/* Tiles with outputs that are not known to be right. */
struct doubts {
    unsigned *any;  /* not 0 where there are some */
    uint8_t *tiles; /* a flag for each */
    __device__ void mark(unsigned tile) const
    {
        if (threadIdx.x % warp_lanes == 0) {
            tiles[tile] = 1;
            *any = 1;
        }
    }
};

template <typename S, typename O> struct pass {
    const S *x;
    const uint8_t *heads;
    O *out;
    size_t n;
    unsigned tiles;
    unsigned stages; /* tiles that a block has in shared memory, 2 .. stages_most */
    bool exclusive, x_aligned, heads_aligned, out_aligned; /* to 16 bytes */
    state *shared;
    struct doubts doubts; /* of pieces that are exact */

    /* The chunk of a lane of tile `tile`, by the lanes of a warp. */
    template <typename P>
    __device__ void scan(unsigned tile, uint4 *row, P seed, unsigned heads, bool first) const
    {
        bool doubtful = exclusive ? scan_chunk<true, P, S, O>(row, seed, heads, first)
                                  : scan_chunk<false, P, S, O>(row, seed, heads, first);
        if (P::exact && __any_sync(whole_warp, doubtful))
            doubts.mark(tile);
    }
    /* The same from the sum before the chunk. */
    template <typename A> __device__ void scan_on_grid(uint4 *row, double before, bool first) const
    {
        if (exclusive)
            scan_chunk_on_grid<true, A, S, O>(row, before, first);
        else
            scan_chunk_on_grid<false, A, S, O>(row, before, first);
    }
    /* From the sum before the row. Returns whether all prefixes were told. */
    __device__ bool scan_near(uint4 *row, double sum, double inside, bool exactly) const
    {
        if (!exactly)
            return exclusive ? scan_chunk_nearly<true, S, O>(row, sum, inside)
                             : scan_chunk_nearly<false, S, O>(row, sum, inside);
        return exclusive ? scan_chunk_near<true, S, O>(row, sum, inside)
                         : scan_chunk_near<false, S, O>(row, sum, inside);
    }
};

} // namespace scan_pass
