/* sum/last_block: one kernel, whose last block finishes the job.
 *
 * Blocks work as in sum/two_kernel, but no kernel waits for all of them. Each block writes its
 * result, makes sure that all can see it, and takes a ticket from a counter. The block that draws
 * the last ticket knows that all results are there, and adds them, in the fixed order of
 * sum/two_kernel's second kernel: which block finishes depends on timing, the order does not.
 * The counter wraps to zero with the last ticket and so is ready for the next run. */
#include "kernels/blocks/grid_stride.cuh"

namespace
{

template <typename S, typename A>
__global__ void single_pass(const S *x, size_t n, unsigned threads, unsigned blocks,
                            unsigned *ticket, A *result, A *out)
{
    __shared__ A shared[block_lanes];
    __shared__ bool last;
    A sum = grid_stride_sum(x, n, threads, blocks, shared);
    if (threadIdx.x == 0) {
        result[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last)
        return;
    sum = second_stage_sum(result, gridDim.x, threads, shared);
    if (threadIdx.x == 0)
        *out = sum_of(n, sum);
}

constexpr size_t ticket_bytes = 256; /* so that the results behind it are aligned */

template <typename S, typename A> int run(const struct cuda_task *t)
{
    char *workspace = (char *)t->workspace;
    single_pass<<<grid_stride_grid(t), lanes_for(t->threads), 0, (cudaStream_t)t->stream>>>(
        (const S *)t->of->in.data, t->of->in.n, t->threads, t->blocks, (unsigned *)workspace,
        (A *)(workspace + ticket_bytes), (A *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    return ticket_bytes + grid_stride_grid(t) * sizeof(double);
}

} // namespace

extern "C" const struct cuda_method sum_last_block_cuda = {workspace, no_workspace, BY_TYPES(run)};
