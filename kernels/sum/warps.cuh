/* kernels/sum/warps.h on the device: the fold of a block by warp shuffles. */
#pragma once

#include "kernels/device/device.cuh"

/* Each warp folds its lanes by halving; then the first warp folds the warps' results, at most 32
 * of them, by halving; its lanes get the sum. Places without an element hold -0. `shared` has 32
 * places and may be used again after a barrier. */
template <typename A> __device__ inline A block_warps(A v, A *shared)
{
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    v = warp_halving(v);
    if (lane == 0)
        shared[warp] = v;
    __syncthreads();
    if (warp > 0)
        return v;
    return warp_halving(lane < blockDim.x / warp_lanes ? shared[lane] : minus_zero<A>());
}
