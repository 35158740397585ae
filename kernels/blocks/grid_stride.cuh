/* kernels/blocks/grid_stride.h on the device: the stages that sum/two_kernel, sum/host_finish and
 * sum/last_block share.
 *
 * Blocks have whole warps; only the first `threads` lanes have elements. `shared` has block_lanes
 * places and must not be in use; results are in the first warp. */
#pragma once

#include "kernels/device/device.cuh"

/* Blocks that have elements, of those asked for; one for the sum of nothing. */
inline unsigned grid_stride_grid(const struct cuda_task *t)
{
    size_t needed = groups_of(t->of->in.n, t->threads);
    return needed == 0 ? 1 : needed < t->blocks ? (unsigned)needed : t->blocks;
}

/* This block's sum of x, where `blocks` were asked for: with G = blocks * threads, thread
 * g = blockIdx.x * threads + t adds x[g], x[g + G], x[g + 2 G], ... serially; the threads are
 * folded by halving. */
template <typename S, typename A>
__device__ A grid_stride_sum(const S *x, size_t n, unsigned threads, unsigned blocks, A *shared)
{
    size_t grid = (size_t)blocks * threads;
    A sum = minus_zero<A>();
    if (threadIdx.x < threads)
#pragma unroll 4
        for (size_t i = (size_t)blockIdx.x * threads + threadIdx.x; i < n; i += grid)
            sum = add(sum, convert<A>(x[i]));
    return block_halving(sum, shared);
}

/* The second stage, by one block: thread t adds block results t, t + threads, ... serially; the
 * threads are folded by halving. The results may come from blocks of the same launch, so they
 * are read from the second-level cache, where all multiprocessors agree. */
template <typename A>
__device__ A second_stage_sum(const A *result, unsigned count, unsigned threads, A *shared)
{
    A sum = minus_zero<A>();
    if (threadIdx.x < threads)
#pragma unroll 4
        for (unsigned b = threadIdx.x; b < count; b += threads)
            sum = add(sum, __ldcg(&result[b]));
    return block_halving(sum, shared);
}

namespace
{

/* The second stage as a kernel of its own, launched with one block. */
template <typename A>
__global__ void second_stage(const A *result, unsigned count, unsigned threads, size_t n, A *out)
{
    __shared__ A shared[block_lanes];
    A sum = second_stage_sum(result, count, threads, shared);
    if (threadIdx.x == 0)
        *out = sum_of(n, sum);
}

} // namespace
