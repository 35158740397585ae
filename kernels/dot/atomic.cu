/* dot/atomic: everybody adds a product to the same number (sum/atomic). */
#include "kernels/blocks/product.cuh"
#include "kernels/blocks/running_sum.cuh"

namespace
{

template <typename S, typename A>
__global__ void add_products(const S *x, const S *y, size_t n, A *out)
{
    size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += grid)
        add_atomically(out, product<A>(x[i], y[i]));
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    start_running_sum<<<1, 1, 0, stream>>>(t->of->in.n, (A *)t->out);
    if (t->of->in.n > 0)
        add_products<<<grid_for(groups_of(t->of->in.n, t->threads)), t->threads, 0, stream>>>(
            (const S *)t->of->in.data, (const S *)t->of->in2.data, t->of->in.n, (A *)t->out);
    return cudaGetLastError();
}

} // namespace

extern "C" const struct cuda_method dot_atomic_cuda = {no_workspace, no_workspace, BY_TYPES(run)};
