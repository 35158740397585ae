/* scatter/sort's order where bins are many: what scatter/ordered does then.
 *
 * The elements are partitioned into buckets of bins (buckets.cuh). A light bucket fits into a
 * block's shared memory, where it is sorted and summed. The others, which take much of the array
 * each, are sorted in memory, and summed tile by tile. */
#include "kernels/scatter/bucket_sums.cuh"

namespace
{

/* Of a heavy bucket's bin. */
__device__ inline tile_unit unit_of_heavy(const bucketed &b, unsigned bucket, size_t bin)
{
    size_t first = b.begin[bin];
    size_t end = bin + 1 < bins_of(b, bucket).end ? b.begin[bin + 1] : b.first[bucket + 1];
    return {true, bin, first, end - first, 0};
}

/* Of a window of TILE places that begins in a heavy bucket: of the bin there. */
__device__ inline tile_unit unit_of_heavy_window(const bucketed &b, size_t window)
{
    size_t at = window * TILE;
    unsigned bucket = b.keys[at] >> b.shift;
    if (is_light(b, bucket))
        return {};
    bin_range bins = bins_of(b, bucket);
    size_t low = bins.first;
    for (size_t high = bins.end; high - low > 1;) { /* the last bin that begins there or before */
        size_t middle = (low + high) / 2;
        if (b.begin[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    tile_unit u = unit_of_heavy(b, bucket, low);
    u.seek(at);
    return u;
}

template <typename S, typename A>
__global__ __launch_bounds__(unit_threads) void sum_heavy_tiles(bucketed b, A *tile_sum, A *out)
{
    if (*b.heavy == 0)
        return;
    const S *x = (const S *)b.sorted;
    unsigned warp = threadIdx.x / warp_lanes;
    for (unsigned bucket = blockIdx.x; bucket < b.buckets; bucket += gridDim.x) {
        bin_range bins = bins_of(b, bucket);
        if (!is_light(b, bucket))
            for (unsigned bin = bins.first + warp; bin < bins.end; bin += unit_warps)
                sum_unit(unit_of_heavy(b, bucket, bin), x, tile_sum, out);
    }
    size_t window = (size_t)blockIdx.x * unit_warps + warp;
    for (; window < groups_of(b.n, TILE); window += (size_t)gridDim.x * unit_warps) {
        tile_unit u = unit_of_heavy_window(b, window);
        if (u.any)
            sum_unit(u, x, tile_sum, out);
    }
}

template <typename A>
__global__ __launch_bounds__(unit_threads) void sum_heavy_levels(bucketed b, A *tile_sum, A *out)
{
    if (*b.heavy == 0)
        return;
    sum_bins_of_tiles(
        b.n, [&](size_t window) { return unit_of_heavy_window(b, window); }, tile_sum, out);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    constexpr int bytes =
        (int)(light_warps * light_counter_bytes + light_most(sizeof(S)) * sizeof(S));
    constexpr unsigned sweeps = 2048;
    cudaStream_t stream = (cudaStream_t)t->stream;
    A *tile_sum = (A *)t->workspace, *out = (A *)t->out;
    bucketed b = {};
    int error = cudaFuncSetAttribute(sum_light_buckets<S, A>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess)
        error =
            bucketed_enqueue(t, (char *)t->workspace + tile_bytes(t->of->in.n, sizeof(double)), &b);
    if (error != cudaSuccess)
        return error;
    sum_light_buckets<S><<<b.buckets, light_threads, bytes, stream>>>(b, out);
    error = bucketed_sort_heavy(&b, stream);
    if (error != cudaSuccess)
        return error;
    sum_heavy_tiles<S><<<sweeps, unit_threads, 0, stream>>>(b, tile_sum, out);
    sum_heavy_levels<<<sweeps, unit_threads, 0, stream>>>(b, tile_sum, out);
    return cudaGetLastError();
}

} // namespace

size_t bucket_sum_workspace(const struct cuda_task *t)
{
    return tile_bytes(t->of->in.n, sizeof(double)) + bucketed_workspace(t);
}

int bucket_sum_enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}
