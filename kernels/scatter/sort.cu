/* scatter/sort: sorted by bin, then sum/tiled's tree in each bin.
 *
 * The order is kernels/scatter/sort.c's. After the sort (sorted.cuh) a warp sums a tile of a bin:
 * lane l has the columns l, l + 32, l + 64, ... and all that the first three steps of halving need.
 * Bins of one tile are done then. For each other bin a warp sums its tile sums by the same rule, in
 * place, level by level. */
#include "kernels/scatter/tile_sums.cuh"

namespace
{

template <typename S, typename A>
__global__ __launch_bounds__(unit_threads) void sum_tiles(sorted s, size_t n, size_t bins,
                                                          A *tile_sum, A *out)
{
    size_t unit = (size_t)blockIdx.x * unit_warps + threadIdx.x / warp_lanes;
    size_t units = bins + groups_of(n, TILE);
    for (; unit < units; unit += (size_t)gridDim.x * unit_warps) {
        tile_unit u = unit < bins ? unit_of_bin(s, unit) : unit_of_window(s, unit - bins);
        if (u.any)
            sum_unit(u, (const S *)s.values, tile_sum, out);
    }
}

template <typename A>
__global__ __launch_bounds__(unit_threads) void sum_levels(sorted s, size_t n, A *tile_sum, A *out)
{
    sum_bins_of_tiles(
        n, [&](size_t window) { return unit_of_window(s, window); }, tile_sum, out);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    struct sorted s;
    A *tile_sum = (A *)t->workspace;
    int error =
        sorted_enqueue(t, (char *)t->workspace + tile_bytes(t->of->in.n, sizeof(double)), &s);
    if (error != cudaSuccess)
        return error;
    size_t windows = groups_of(t->of->in.n, TILE);
    sum_tiles<S>
        <<<grid_for(groups_of(t->of->bins + windows, unit_warps)), unit_threads, 0, stream>>>(
            s, t->of->in.n, t->of->bins, tile_sum, (A *)t->out);
    sum_levels<<<grid_for(groups_of(windows, unit_warps)), unit_threads, 0, stream>>>(
        s, t->of->in.n, tile_sum, (A *)t->out);
    return cudaGetLastError();
}

} // namespace

size_t sorted_sum_workspace(const struct cuda_task *t)
{
    return tile_bytes(t->of->in.n, sizeof(double)) + sorted_workspace(t);
}

int sorted_sum_enqueue(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return enqueue_zeros(t);
    return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

extern "C" const struct cuda_method scatter_sort_cuda = {sorted_sum_workspace, no_workspace,
                                                         sorted_sum_enqueue};
