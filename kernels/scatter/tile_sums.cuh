/* sum/tiled's tree over the elements of a bin, on a GPU: by a warp, tile by tile. */
#pragma once

#include "kernels/scatter/sorted.cuh"

namespace
{

/* A tile's sum, by a warp; every lane gets it. 1 <= present <= TILE. */
template <typename A, typename S> __device__ A sum_of_tile(const S *x, unsigned present)
{
    constexpr unsigned parts = TILE_COLUMNS / warp_lanes;
    unsigned lane = threadIdx.x % warp_lanes;
    A column[parts];
#pragma unroll
    for (unsigned j = 0; j < parts; j++)
        column[j] = minus_zero<A>();
    for (unsigned top = 0; top < present; top += TILE_COLUMNS) {
        S element[parts];
#pragma unroll
        for (unsigned j = 0; j < parts; j++)
            if (top + j * warp_lanes + lane < present)
                element[j] = x[top + j * warp_lanes + lane];
#pragma unroll
        for (unsigned j = 0; j < parts; j++)
            if (top + j * warp_lanes + lane < present)
                column[j] = add(column[j], convert<A>(element[j]));
    }
#pragma unroll
    for (unsigned step = parts / 2; step > 0; step /= 2)
#pragma unroll
        for (unsigned j = 0; j < step; j++)
            column[j] = add(column[j], column[j + step]);
    return warp_halving(column[0]);
}

/* Leaves the sum of a unit in `out`, or, of a bin of several tiles, in `tile_sum`. */
template <typename S, typename A>
__device__ inline void sum_unit(const tile_unit &u, const S *x, A *tile_sum, A *out)
{
    A sum = rounded<A>(0.0f);
    if (u.count > 0)
        sum = sum_of_tile<A>(x + u.begin(), u.present());
    if (threadIdx.x % warp_lanes == 0)
        *(u.count <= TILE ? out + u.bin : tile_sum + u.place() + u.tile) = sum;
}

/* The sum of `count` tiles' sums, in the first of `level` and of the first lane; the others are
 * overwritten. */
template <typename A> __device__ inline A sum_of_tiles(A *level, size_t count)
{
    for (size_t groups; count > 1; count = groups) {
        groups = groups_of(count, TILE);
        for (size_t g = 0; g < groups; g++) {
            unsigned present = (unsigned)min(count - g * TILE, (size_t)TILE);
            A sum = sum_of_tile<A>(level + g * TILE, present);
            __syncwarp(); /* all have read what is overwritten now */
            if (threadIdx.x % warp_lanes == 0)
                level[g] = sum;
            __syncwarp();
        }
    }
    return level[0];
}

/* The sums of the bins of several tiles: who has a bin's second tile adds them up. unit(w): of the
 * window of TILE of the n places in order whose number is w. */
template <typename A, typename Unit>
__device__ inline void sum_bins_of_tiles(size_t n, Unit unit, A *tile_sum, A *out)
{
    size_t window = (size_t)blockIdx.x * unit_warps + threadIdx.x / warp_lanes;
    for (; window < groups_of(n, TILE); window += (size_t)gridDim.x * unit_warps) {
        tile_unit u = unit(window);
        if (!u.any || u.tile != 1)
            continue;
        A sum = sum_of_tiles(tile_sum + u.place(), u.tiles());
        if (threadIdx.x % warp_lanes == 0)
            out[u.bin] = sum;
    }
}

} // namespace
