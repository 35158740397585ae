/* scatter/block_local: each block has bins of its own.
 *
 * They lie in its shared memory where they fit, else in memory. There atomic additions are faster:
 * fewer threads contend, and closer by. In the end each block leaves its bins as a row; the rows
 * are folded, neighbours first. */
#include "kernels/scatter/bins.cuh"
#include "kernels/scatter/fold_parts.cuh"

namespace
{

/* The workspace begins with `empty`; the rows of the blocks follow. */
struct places {
    empty_bins *empty;
    char *rows;
};

size_t aligned(size_t bytes)
{
    return groups_of(bytes, 256) * 256;
}

/* A row may have a place more than bins: see add_to_bin. */
size_t row_places(const struct cuda_task *t)
{
    return t->of->bins + t->of->bins % 2;
}

struct places places_of(const struct cuda_task *t)
{
    char *workspace = (char *)t->workspace;
    return {(empty_bins *)workspace, workspace + aligned(empty_bins_bytes(t->of->bins))};
}

/* Block b adds its consecutive share of the elements, of one length but for one, to bins that it
 * fills with -0. */
template <typename S, typename A>
__device__ inline void add_share(const S *x, const uint32_t *keys, size_t n, size_t places, A *bins)
{
    size_t size = n / gridDim.x, longer = n % gridDim.x;
    size_t begin = size * blockIdx.x + min((size_t)blockIdx.x, longer);
    size_t end = begin + size + (blockIdx.x < longer);
    for (size_t b = threadIdx.x; b < places; b += blockDim.x)
        bins[b] = minus_zero<A>();
    __syncthreads();
    add_to_bins(x, keys, begin + threadIdx.x, end, blockDim.x, bins);
}

/* Bins in shared memory, which become the block's row in the end; or in the row itself. Which of
 * them it is must be known to the compiler, else atomic additions look for it every time. */
template <bool shared, typename S, typename A>
__global__ void add_shares(const S *x, const uint32_t *keys, size_t n, size_t places, A *rows,
                           empty_bins *empty)
{
    extern __shared__ double memory[];
    A *row = rows + blockIdx.x * places;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        empty->suspected = 0;
    if constexpr (shared) {
        A *bins = (A *)memory;
        add_share(x, keys, n, places, bins);
        __syncthreads();
        for (size_t b = threadIdx.x; b < places; b += blockDim.x)
            row[b] = bins[b];
    } else {
        add_share(x, keys, n, places, row);
    }
}

/* Leaves out the place more. */
template <typename A> __global__ void take_bins(const A *row, size_t bins, A *out)
{
    size_t b = (size_t)blockIdx.x * bin_threads + threadIdx.x;
    if (b < bins)
        out[b] = row[b];
}

/* Do a block's bins fit into shared memory? Two blocks are to fit at a time. From now on the kernel
 * may be launched with so much. */
template <typename Kernel> int ask_for_shared(Kernel kernel, size_t bytes, bool *fit)
{
    int device, most;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error != cudaSuccess)
        return error;
    *fit = bytes <= (size_t)most / 2;
    return *fit ? cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       (int)bytes)
                : cudaSuccess;
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    struct places at = places_of(t);
    size_t places = row_places(t), bytes = places * sizeof(A);
    A *rows = (A *)at.rows, *last = rows + fold_rows_needed(t->blocks) * places;
    A *first = first_rows(rows, t->blocks, last);
    const S *x = (const S *)t->of->in.data;
    bool fit = false;
    int error = ask_for_shared(add_shares<true, S, A>, bytes, &fit);
    if (error != cudaSuccess)
        return error;
    if (fit)
        add_shares<true><<<t->blocks, t->threads, bytes, stream>>>(x, t->of->keys, t->of->in.n,
                                                                   places, first, at.empty);
    else
        add_shares<false><<<t->blocks, t->threads, 0, stream>>>(x, t->of->keys, t->of->in.n, places,
                                                                first, at.empty);
    error = fold_parts(rows, t->blocks, places, last, stream);
    if (error != cudaSuccess)
        return error;
    take_bins<<<grid_for(groups_of(t->of->bins, bin_threads)), bin_threads, 0, stream>>>(
        last, t->of->bins, (A *)t->out);
    return settle_bins<A>(t, at.empty);
}

size_t workspace(const struct cuda_task *t)
{
    size_t rows = fold_rows_needed(t->blocks) + 1;
    return aligned(empty_bins_bytes(t->of->bins)) + rows * row_places(t) * sizeof(double);
}

} // namespace

extern "C" const struct cuda_method scatter_block_local_cuda = {workspace, no_workspace,
                                                                BY_TYPES(run)};
