/* minimum/two_kernel and so on: every thread walks the array in strides of the whole grid, each
 * block finds the best of its threads', and a second kernel, of a single block, the best of the
 * blocks', as in sum/two_kernel. */
#include "kernels/extremum/key.cuh"
#include "kernels/sum/grid_stride.cuh"

namespace
{

template <typename S>
__global__ void first_stage(const S *x, extremum_task t, unsigned threads, unsigned blocks,
                            found<S> *result)
{
    __shared__ found<S> shared[warp_lanes];
    size_t grid = (size_t)blocks * threads;
    found<S> best = found<S>::nothing();
    if (threadIdx.x < threads)
#pragma unroll 8
        for (size_t i = (size_t)blockIdx.x * threads + threadIdx.x; i < t.n; i += grid)
            best.offer(key_of(x[i], t.seek), i);
    best = best_of_block(best, shared);
    if (threadIdx.x == 0)
        result[blockIdx.x] = best;
}

template <typename S>
__global__ void best_of_blocks(const found<S> *result, unsigned count, unsigned threads,
                               extremum_task t)
{
    __shared__ found<S> shared[warp_lanes];
    found<S> best = found<S>::nothing();
    if (threadIdx.x < threads)
        for (unsigned b = threadIdx.x; b < count; b += threads)
            best.join(result[b]);
    best = best_of_block(best, shared);
    if (threadIdx.x == 0)
        write_extremum(t, best);
}

size_t workspace(const struct cuda_task *t)
{
    return grid_stride_grid(t) * sizeof(found<double>);
}

template <typename S> int run(const struct cuda_task *t, unsigned seek)
{
    unsigned blocks = grid_stride_grid(t), lanes = lanes_for(t->threads);
    cudaStream_t stream = (cudaStream_t)t->stream;
    found<S> *result = (found<S> *)t->workspace;
    extremum_task task = extremum_task_of(t, seek);
    first_stage<<<blocks, lanes, 0, stream>>>((const S *)t->in, task, t->threads, t->blocks,
                                              result);
    best_of_blocks<<<1, lanes, 0, stream>>>(result, blocks, t->threads, task);
    return cudaGetLastError();
}

} // namespace

#define METHOD(sought, seek) EXTREMUM_ON_GPU(sought, two_kernel, seek)
EXTREMA_ON_GPU(METHOD)
