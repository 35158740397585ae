/* scatter/sort: sorted by bin, then sum/tiled's tree in each bin.
 *
 * The order is kernels/scatter/sort.c's. After the sort (sorted.cuh) a warp sums a tile of a bin:
 * lane l has the columns l, l + 32, l + 64, ... and all that the first three steps of halving need.
 * Bins of one tile are done then. For each other bin a warp sums its tile sums by the same rule, in
 * place, level by level. */
#include "kernels/scatter/sorted.cuh"

namespace
{

/* A tile's sum, by a warp; every lane gets it. 1 <= present <= TILE. */
template <typename A, typename S> __device__ A sum_of_tile(const S *x, unsigned present)
{
    constexpr unsigned parts = TILE_COLUMNS / warp_lanes;
    unsigned lane = threadIdx.x % warp_lanes;
    A column[parts];
#pragma unroll
    for (unsigned j = 0; j < parts; j++)
        column[j] = minus_zero<A>();
    for (unsigned top = 0; top < present; top += TILE_COLUMNS) {
        S element[parts];
#pragma unroll
        for (unsigned j = 0; j < parts; j++)
            if (top + j * warp_lanes + lane < present)
                element[j] = x[top + j * warp_lanes + lane];
#pragma unroll
        for (unsigned j = 0; j < parts; j++)
            if (top + j * warp_lanes + lane < present)
                column[j] = add(column[j], convert<A>(element[j]));
    }
#pragma unroll
    for (unsigned step = parts / 2; step > 0; step /= 2)
#pragma unroll
        for (unsigned j = 0; j < step; j++)
            column[j] = add(column[j], column[j + step]);
    return warp_halving(column[0]);
}

template <typename S, typename A>
__global__ __launch_bounds__(unit_threads) void sum_tiles(sorted s, size_t n, size_t bins,
                                                          A *tile_sum, A *out)
{
    size_t unit = (size_t)blockIdx.x * unit_warps + threadIdx.x / warp_lanes;
    size_t units = bins + groups_of(n, TILE);
    for (; unit < units; unit += (size_t)gridDim.x * unit_warps) {
        tile_unit u = unit < bins ? unit_of_bin(s, unit) : unit_of_window(s, unit - bins);
        if (!u.any)
            continue;
        A sum = rounded<A>(0.0f);
        if (u.count > 0)
            sum = sum_of_tile<A>((const S *)s.values + u.begin(), u.present());
        if (threadIdx.x % warp_lanes == 0)
            *(u.count <= TILE ? out + u.bin : tile_sum + u.place() + u.tile) = sum;
    }
}

/* The bins of several tiles: who has a bin's second tile sums it. */
template <typename A>
__global__ __launch_bounds__(unit_threads) void sum_levels(sorted s, size_t n, A *tile_sum, A *out)
{
    size_t window = (size_t)blockIdx.x * unit_warps + threadIdx.x / warp_lanes;
    for (; window < groups_of(n, TILE); window += (size_t)gridDim.x * unit_warps) {
        tile_unit u = unit_of_window(s, window);
        if (!u.any || u.tile != 1)
            continue;
        A *level = tile_sum + u.place();
        for (size_t count = u.tiles(), groups; count > 1; count = groups) {
            groups = groups_of(count, TILE);
            for (size_t g = 0; g < groups; g++) {
                unsigned present = (unsigned)min(count - g * TILE, (size_t)TILE);
                A sum = sum_of_tile<A>(level + g * TILE, present);
                __syncwarp(); /* all have read what is overwritten now */
                if (threadIdx.x % warp_lanes == 0)
                    level[g] = sum;
                __syncwarp();
            }
        }
        if (threadIdx.x % warp_lanes == 0)
            out[u.bin] = level[0];
    }
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    struct sorted s;
    A *tile_sum = (A *)t->workspace;
    int error = sorted_enqueue(t, (char *)t->workspace + tile_bytes(t->n, sizeof(double)), &s);
    if (error != cudaSuccess)
        return error;
    size_t windows = groups_of(t->n, TILE);
    sum_tiles<S><<<grid_for(groups_of(t->bins + windows, unit_warps)), unit_threads, 0, stream>>>(
        s, t->n, t->bins, tile_sum, (A *)t->out);
    sum_levels<<<grid_for(groups_of(windows, unit_warps)), unit_threads, 0, stream>>>(
        s, t->n, tile_sum, (A *)t->out);
    return cudaGetLastError();
}

} // namespace

size_t sorted_sum_workspace(const struct cuda_task *t)
{
    return tile_bytes(t->n, sizeof(double)) + sorted_workspace(t);
}

int sorted_sum_enqueue(const struct cuda_task *t)
{
    if (t->n == 0)
        return cudaMemsetAsync(t->out, 0, t->bins * (size_t)format_facts[t->output].bytes,
                               (cudaStream_t)t->stream);
    return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

extern "C" {
extern const struct cuda_method scatter_sort_cuda;
const struct cuda_method scatter_sort_cuda = {sorted_sum_workspace, no_workspace,
                                              sorted_sum_enqueue};
}
