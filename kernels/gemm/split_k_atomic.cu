/* gemm/split_k_atomic: each slice of the products has blocks of its own, which add their sums to
 * cells that begin as C; what these hold at the end is rounded to D. Of scaled products cells begin
 * as -0, and C is added at the end. */
#include "kernels/gemm/products.cuh"
#include "kernels/gemm/slices.h"

namespace
{

constexpr unsigned THREADS = 256;

template <typename A>
__global__ void begin_cells(struct gemm::product p, typename running_sum<A>::cell *cells,
                            size_t outputs)
{
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += grid)
        cells[i] = running_sum<A>::of(p.scaling == GEMM_UNSCALED ? gemm::load_c<A>(p, i)
                                                                 : minus_zero<A>());
}

template <typename A>
__global__ void round_cells(struct gemm::product p, const typename running_sum<A>::cell *cells,
                            size_t outputs)
{
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += grid) {
        const A sum = *(const A *)&cells[i];
        if (p.scaling == GEMM_UNSCALED)
            gemm::store_d(p, i, sum);
        else
            gemm::finish_d(p, i, sum);
    }
}

template <typename A> int run_in(const struct cuda_task *t)
{
    typedef typename running_sum<A>::cell cell;
    const struct gemm_slices slices = gemm_slices(t->of->gemm.k, t->blocks);
    const struct gemm::product p = gemm::product_of(t);
    const size_t outputs = outputs_of(p);
    const unsigned grid = grid_for(groups_of(outputs, THREADS));
    cudaStream_t stream = (cudaStream_t)t->stream;
    if (outputs == 0)
        return cudaSuccess;
    begin_cells<A><<<grid, THREADS, 0, stream>>>(p, (cell *)t->workspace, outputs);
    const int error = gemm::enqueue_products(t, gemm::ADD_TO_CELLS, slices.count, slices.length,
                                             slices.length, t->workspace);
    if (error != cudaSuccess)
        return error;
    round_cells<A><<<grid, THREADS, 0, stream>>>(p, (const cell *)t->workspace, outputs);
    return cudaGetLastError();
}

int run(const struct cuda_task *t)
{
    return with_type(t->accumulator, [t](auto a) { return run_in<decltype(a)>(t); });
}

size_t workspace(const struct cuda_task *t)
{
    size_t cell = 0;
    (void)with_type(t->accumulator, [&](auto a) {
        return cell = sizeof(typename running_sum<decltype(a)>::cell), (int)cudaSuccess;
    });
    return t->of->bins * cell;
}

} // namespace

extern "C" const struct cuda_method gemm_split_k_atomic_cuda = {workspace, no_workspace, run};
