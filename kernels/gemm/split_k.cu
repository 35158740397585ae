/* gemm/split_k: each slice of the products has blocks of its own, and leaves its sums in memory; a
 * second kernel adds them up in order, and C. */
#include "kernels/gemm/products.cuh"
#include "kernels/gemm/slices.h"

namespace
{

constexpr unsigned THREADS = 256;

template <typename A>
__global__ void add_slices(struct gemm::product p, const A *sums, size_t slices, size_t outputs)
{
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += grid) {
        A sum = minus_zero<A>();
        for (size_t s = 0; s < slices; s++)
            sum = add(sum, sums[s * outputs + i]);
        gemm::finish_d(p, i, sum);
    }
}

int run(const struct cuda_task *t)
{
    const struct gemm_slices slices = gemm_slices(t->of->gemm.k, t->blocks);
    const struct gemm::product p = gemm::product_of(t);
    const size_t outputs = outputs_of(p);
    const int error = gemm::enqueue_products(t, gemm::WRITE_SLICES, slices.count, slices.length,
                                             slices.length, t->workspace);
    if (error != cudaSuccess || outputs == 0)
        return error;
    return with_type(t->accumulator, [&](auto a) -> int {
        typedef decltype(a) A;
        add_slices<A>
            <<<grid_for(groups_of(outputs, THREADS)), THREADS, 0, (cudaStream_t)t->stream>>>(
                p, (const A *)t->workspace, slices.count, outputs);
        return cudaGetLastError();
    });
}

size_t workspace(const struct cuda_task *t)
{
    return gemm_slices(t->of->gemm.k, t->blocks).count * t->of->bins *
           (size_t)format_facts[t->accumulator].bytes;
}

} // namespace

extern "C" const struct cuda_method gemm_split_k_cuda = {workspace, no_workspace, run};
