/* sum/two_kernel: every thread walks the array in strides of the whole grid.
 *
 * The grid has as many threads as were asked for, not as many as there are elements. Thread g
 * adds x[g], x[g + G], x[g + 2 G], ..., where G is the number of threads in the grid; neighbouring
 * threads read neighbouring elements all the way. Each block folds its threads' sums by halving
 * and writes one result. A second kernel, of a single block, adds the block results in the same
 * manner: the end of the first kernel is the barrier that the whole grid waits at. */
#include "kernels/blocks/grid_stride.cuh"

namespace
{

template <typename S, typename A>
__global__ void first_stage(const S *x, size_t n, unsigned threads, unsigned blocks, A *result)
{
    __shared__ A shared[block_lanes];
    A sum = grid_stride_sum(x, n, threads, blocks, shared);
    if (threadIdx.x == 0)
        result[blockIdx.x] = sum;
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    unsigned blocks = grid_stride_grid(t), lanes = lanes_for(t->threads);
    cudaStream_t stream = (cudaStream_t)t->stream;
    A *result = (A *)t->workspace;
    first_stage<<<blocks, lanes, 0, stream>>>((const S *)t->of->in.data, t->of->in.n, t->threads,
                                              t->blocks, result);
    second_stage<<<1, lanes, 0, stream>>>(result, blocks, t->threads, t->of->in.n, (A *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    return grid_stride_grid(t) * sizeof(double);
}

} // namespace

extern "C" const struct cuda_method sum_two_kernel_cuda = {workspace, no_workspace, BY_TYPES(run)};
