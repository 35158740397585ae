/* rows/atomic: an atomic addition per element, to its row.
 *
 * To a single fp16 or bf16 there is none that is fast (running_sum.cuh): it goes to the pair that
 * the row's sum is half of, with -0, which changes nothing, for the other half. Outputs end on a
 * multiple of 256 bytes, so that the last has its pair too. */
#include "kernels/device/device.cuh"
#include "kernels/method/matrix.h"

namespace
{

template <typename A> __device__ void add_to(A *out, size_t row, A x)
{
    atomicAdd(out + row, x);
}
template <> __device__ void add_to(__half *out, size_t row, __half x)
{
    __half none = minus_zero<__half>();
    atomicAdd((__half2 *)out + row / 2,
              row % 2 ? __halves2half2(none, x) : __halves2half2(x, none));
}
template <> __device__ void add_to(__nv_bfloat16 *out, size_t row, __nv_bfloat16 x)
{
    __nv_bfloat16 none = minus_zero<__nv_bfloat16>();
    atomicAdd((__nv_bfloat162 *)out + row / 2,
              row % 2 ? __halves2bfloat162(none, x) : __halves2bfloat162(x, none));
}

template <typename A> __global__ void start(size_t rows, size_t n, A *out)
{
    size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t r = (size_t)blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += grid)
        out[r] = sum_of(n, minus_zero<A>());
}

template <typename S, typename A>
__global__ void add_elements(const S *x, size_t n, size_t length, size_t stride, A *out)
{
    size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += grid)
        add_to(out, matrix_row(i, length, stride), convert<A>(x[i]));
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    A *out = (A *)t->out;
    if (t->of->bins > 0)
        start<<<grid_for(groups_of(t->of->bins, t->threads)), t->threads, 0, stream>>>(
            t->of->bins, t->of->in.n, out);
    if (t->of->in.n > 0)
        add_elements<<<grid_for(groups_of(t->of->in.n, t->threads)), t->threads, 0, stream>>>(
            (const S *)t->of->in.data, t->of->in.n, matrix_length(t->of->in.n, t->of->bins),
            t->of->stride, out);
    return cudaGetLastError();
}

} // namespace

extern "C" const struct cuda_method rows_atomic_cuda = {no_workspace, no_workspace, BY_TYPES(run)};
