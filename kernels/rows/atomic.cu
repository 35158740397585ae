/* rows/atomic: partial sums, each added to its row by an atomic addition.
 *
 * As a user would write it: a warp sums a piece of a row that is consecutive, a thread a piece of
 * any other, neighbours side by side; rows of few elements have a thread each. No row of many
 * elements is one piece.
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

/* Elements begin, begin + step, ... before end of a row, added to each other. */
template <typename A, typename S>
__device__ A piece_sum(const S *row, size_t begin, size_t end, size_t step, size_t stride)
{
    constexpr unsigned ahead = 8;
    A sum = minus_zero<A>();
    size_t k = begin;
    for (; k + (ahead - 1) * step < end; k += ahead * step) {
        S next[ahead];
#pragma unroll
        for (unsigned i = 0; i < ahead; i++)
            next[i] = row[(k + i * step) * stride];
#pragma unroll
        for (unsigned i = 0; i < ahead; i++)
            sum = add(sum, convert<A>(next[i]));
    }
    for (; k < end; k += step)
        sum = add(sum, convert<A>(row[k * stride]));
    return sum;
}

/* Consecutive rows: pieces of `piece` elements, one by a warp. By whole warps. */
template <typename S, typename A>
__global__ void add_by_warps(const S *x, size_t rows, size_t length, size_t piece, A *out)
{
    size_t pieces = groups_of(length, piece), warps = (size_t)gridDim.x * (blockDim.x / warp_lanes);
    size_t first = (size_t)blockIdx.x * (blockDim.x / warp_lanes) + threadIdx.x / warp_lanes;
    unsigned lane = threadIdx.x % warp_lanes;
    for (size_t i = first; i < rows * pieces; i += warps) {
        size_t row = i / pieces, begin = i % pieces * piece;
        A sum = warp_halving(piece_sum<A>(x + row * length, begin + lane,
                                          min(length, begin + piece), warp_lanes, 1));
        if (lane == 0)
            add_to(out, row, sum);
    }
}

/* The others: one by a thread. */
template <typename S, typename A>
__global__ void add_by_threads(const S *x, size_t rows, size_t length, size_t stride, size_t piece,
                               A *out)
{
    size_t pieces = groups_of(length, piece), grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < rows * pieces; i += grid) {
        size_t batch = i / stride / pieces, row = batch * stride + i % stride;
        size_t begin = i / stride % pieces * piece;
        add_to(out, row,
               piece_sum<A>(x + matrix_at(row, 0, length, stride), begin,
                            min(length, begin + piece), 1, stride));
    }
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    A *out = (A *)t->out;
    if (t->of->bins > 0)
        start<<<grid_for(groups_of(t->of->bins, t->threads)), t->threads, 0, stream>>>(
            t->of->bins, t->of->in.n, out);
    if (t->of->in.n == 0)
        return cudaGetLastError();
    const S *x = (const S *)t->of->in.data;
    size_t rows = t->of->bins, length = matrix_length(t->of->in.n, rows);
    if (t->of->stride == 1 && length >= warp_lanes) {
        unsigned block = lanes_for(t->threads);
        size_t piece =
            groups_of(max((size_t)warp_lanes, min((size_t)4096, length / 4)), warp_lanes);
        size_t warps = rows * groups_of(length, piece * warp_lanes);
        add_by_warps<<<grid_for(groups_of(warps, block / warp_lanes)), block, 0, stream>>>(
            x, rows, length, piece * warp_lanes, out);
    } else {
        size_t piece = max((size_t)8, min((size_t)256, length / 4));
        size_t all = rows * groups_of(length, piece);
        add_by_threads<<<grid_for(groups_of(all, t->threads)), t->threads, 0, stream>>>(
            x, rows, length, t->of->stride, piece, out);
    }
    return cudaGetLastError();
}

} // namespace

extern "C" const struct cuda_method rows_atomic_cuda = {no_workspace, no_workspace, BY_TYPES(run)};
