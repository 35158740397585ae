/* scatter/atomic: everybody adds to the bins in memory.
 *
 * An atomic addition for every element, which the second-level cache carries out in the order of
 * arrival. Where many elements go to one bin, they wait for each other there. */
#include "kernels/scatter/bins.cuh"

namespace
{

constexpr unsigned elements_each = 8; /* of a thread, in a great array */

template <typename S, typename A>
__global__ void add_elements(const S *x, const uint32_t *keys, size_t n, A *out)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    add_to_bins(x, keys, i, n, (size_t)gridDim.x * blockDim.x, out);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    empty_bins *empty = (empty_bins *)t->workspace;
    begin_bins<<<grid_for(groups_of(t->of->bins, bin_threads)), bin_threads, 0, stream>>>(
        (A *)t->out, t->of->bins, empty);
    if (t->of->in.n > 0)
        add_elements<<<grid_for(groups_of(t->of->in.n, (size_t)t->threads * elements_each)),
                       t->threads, 0, stream>>>((const S *)t->of->in.data, t->of->keys, t->of->in.n,
                                                (A *)t->out);
    return settle_bins<A>(t, empty);
}

size_t workspace(const struct cuda_task *t)
{
    return empty_bins_bytes(t->of->bins);
}

} // namespace

extern "C" const struct cuda_method scatter_atomic_cuda = {workspace, no_workspace, BY_TYPES(run)};
