/* sum/atomic: everybody adds to the same number.
 *
 * There is one accumulator, in memory, and an atomic addition for every element. The hardware
 * keeps additions from getting lost, but not in order: they happen as they arrive, and the bits
 * of the result tell of the weather. The accumulator starts from -0, which changes nothing. */
#include "kernels/blocks/running_sum.cuh"

namespace
{

template <typename S, typename A> __global__ void add_elements(const S *x, size_t n, A *out)
{
    size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += grid)
        add_atomically(out, convert<A>(x[i]));
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    start_running_sum<<<1, 1, 0, stream>>>(t->of->in.n, (A *)t->out);
    if (t->of->in.n > 0)
        add_elements<<<grid_for(groups_of(t->of->in.n, t->threads)), t->threads, 0, stream>>>(
            (const S *)t->of->in.data, t->of->in.n, (A *)t->out);
    return cudaGetLastError();
}

} // namespace

extern "C" const struct cuda_method sum_atomic_cuda = {no_workspace, no_workspace, BY_TYPES(run)};
