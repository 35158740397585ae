/* sum/block_atomic: one atomic addition for every block.
 *
 * A block folds T consecutive elements as sum/shuffle does, and its first thread adds the sum to
 * the accumulator in memory. There is no second kernel and no buffer: that is why so many programs
 * end their reductions this way, and why their bits differ from run to run. The accumulator starts
 * from -0, which changes nothing. */
#include "kernels/blocks/running_sum.cuh"
#include "kernels/sum/warps.cuh"

namespace
{

template <typename S, typename A>
__global__ void add_blocks(const S *x, size_t n, A *out, unsigned threads)
{
    __shared__ A shared[warp_lanes];
    for (size_t g = blockIdx.x; g * threads < n; g += gridDim.x) {
        size_t i = g * threads + threadIdx.x;
        bool present = threadIdx.x < threads && i < n;
        A v = block_warps(present ? convert<A>(x[i]) : minus_zero<A>(), shared);
        if (threadIdx.x == 0)
            add_atomically(out, v);
        __syncthreads();
    }
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    start_running_sum<<<1, 1, 0, stream>>>(t->of->in.n, (A *)t->out);
    if (t->of->in.n > 0)
        add_blocks<<<grid_for(groups_of(t->of->in.n, t->threads)), lanes_for(t->threads), 0,
                     stream>>>((const S *)t->of->in.data, t->of->in.n, (A *)t->out, t->threads);
    return cudaGetLastError();
}

} // namespace

extern "C" const struct cuda_method sum_block_atomic_cuda = {no_workspace, no_workspace,
                                                             BY_TYPES(run)};
