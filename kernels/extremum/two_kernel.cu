/* minimum/two_kernel and so on: every thread walks the array in strides of the whole grid, each
 * block finds the best of its threads', and a second kernel, of a single block, the best of the
 * blocks', as in sum/two_kernel. */
#include "kernels/extremum/key.cuh"
#include "kernels/blocks/grid_stride.cuh"

namespace
{

/* A thread's loads that are on their way at once. */
enum { AHEAD = 8 };

/* Where no index is sought, none is kept. */
template <bool index, typename S>
__device__ inline void offer(found<S> *best, S x, size_t i, unsigned seek)
{
    key<S> next = key_of(x, seek);
    if constexpr (index)
        best->offer(next, i);
    else
        best->k = min(best->k, next);
}

template <bool index, typename S>
__device__ inline found<S> best_of_thread(const S *x, size_t i, size_t n, size_t grid,
                                          unsigned seek)
{
    found<S> best = found<S>::nothing();
    for (; i < n && n - i > (AHEAD - 1) * grid; i += AHEAD * grid) {
        S next[AHEAD];
#pragma unroll
        for (unsigned k = 0; k < AHEAD; k++)
            next[k] = x[i + k * grid];
#pragma unroll
        for (unsigned k = 0; k < AHEAD; k++)
            offer<index>(&best, next[k], i + k * grid, seek);
    }
    for (; i < n; i += grid)
        offer<index>(&best, x[i], i, seek);
    return best;
}

template <bool index, typename S>
__global__ void first_stage(const S *x, extremum_task t, unsigned threads, unsigned blocks,
                            found<S> *result)
{
    __shared__ found<S> shared[warp_lanes];
    size_t first = (size_t)blockIdx.x * threads + threadIdx.x, grid = (size_t)blocks * threads;
    found<S> best = found<S>::nothing();
    if (threadIdx.x < threads)
        best = best_of_thread<index>(x, first, t.n, grid, t.seek);
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
    auto first = seek & SEEK_INDEX ? first_stage<true, S> : first_stage<false, S>;
    first<<<blocks, lanes, 0, stream>>>((const S *)t->of->in.data, task, t->threads, t->blocks,
                                        result);
    best_of_blocks<<<1, lanes, 0, stream>>>(result, blocks, t->threads, task);
    return cudaGetLastError();
}

} // namespace

#define METHOD(sought, seek) EXTREMUM_ON_GPU(sought, two_kernel, seek)
EXTREMA_ON_GPU(METHOD)
