/* dot/two_kernel: every thread walks both arrays in strides of the whole grid; then a second kernel
 * adds the blocks' results, as in sum/two_kernel. */
#include "kernels/blocks/product.cuh"
#include "kernels/blocks/grid_stride.cuh"

namespace
{

template <bool fuse, typename S, typename A>
__global__ void first_stage(const S *x, const S *y, size_t n, unsigned threads, unsigned blocks,
                            A *result)
{
    __shared__ A shared[block_lanes];
    size_t grid = (size_t)blocks * threads;
    A sum = minus_zero<A>();
    if (threadIdx.x < threads)
#pragma unroll 4
        for (size_t i = (size_t)blockIdx.x * threads + threadIdx.x; i < n; i += grid)
            sum = add_product<fuse>(sum, x[i], y[i]);
    sum = block_halving(sum, shared);
    if (threadIdx.x == 0)
        result[blockIdx.x] = sum;
}

template <bool fuse, typename S, typename A> int run(const struct cuda_task *t)
{
    unsigned blocks = grid_stride_grid(t), lanes = lanes_for(t->threads);
    cudaStream_t stream = (cudaStream_t)t->stream;
    A *result = (A *)t->workspace;
    first_stage<fuse><<<blocks, lanes, 0, stream>>>((const S *)t->of->in.data,
                                                    (const S *)t->of->in2.data, t->of->in.n,
                                                    t->threads, t->blocks, result);
    second_stage<<<1, lanes, 0, stream>>>(result, blocks, t->threads, t->of->in.n, (A *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    return grid_stride_grid(t) * sizeof(double);
}

int enqueue(const struct cuda_task *t)
{
    return with_products(t, [t](auto s, auto a, auto fuse) {
        return run<decltype(fuse)::value, decltype(s), decltype(a)>(t);
    });
}

} // namespace

extern "C" const struct cuda_method dot_two_kernel_cuda = {workspace, no_workspace, enqueue};
