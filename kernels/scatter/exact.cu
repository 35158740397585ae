/* scatter/exact: the exact sum of each bin, rounded once (kernels/scatter/exact.c says what is
 * returned).
 *
 * The result does not depend on who adds what to what; so everything here is a schedule. After the
 * sort (sorted.cuh) a warp encloses the sum of a tile of a bin (kernels/blocks/enclosure.cuh). Bins
 * of one tile are rounded then, if all that is enclosed rounds to one value; for each other bin a
 * warp joins its enclosures. What cannot be rounded so is put on a list, and is summed in fixed
 * point, bin by bin, by a block each. */
#include "kernels/scatter/sorted.cuh"
#include "kernels/blocks/exact.cuh"

namespace
{

typedef undecided<uint32_t> undecided_bins;

/* What an error goes through in a lane's elements of a tile, and in a warp's joins. */
constexpr size_t additions_of_tile = TILE / warp_lanes, additions_of_warp = 2 * 5;

template <typename S, typename A>
__global__ __launch_bounds__(unit_threads) void enclose_tiles(sorted s, size_t n, size_t bins,
                                                              enclosure *tile, A *out,
                                                              undecided_bins *rest)
{
    unsigned lane = threadIdx.x % warp_lanes;
    size_t unit = (size_t)blockIdx.x * unit_warps + threadIdx.x / warp_lanes;
    size_t units = bins + groups_of(n, TILE);
    for (; unit < units; unit += (size_t)gridDim.x * unit_warps) {
        tile_unit u = unit < bins ? unit_of_bin(s, unit) : unit_of_window(s, unit - bins);
        if (!u.any)
            continue;
        const S *x = (const S *)s.values + u.begin();
        unsigned present = u.count > 0 ? u.present() : 0;
        enclosure e = enclose_nothing();
#pragma unroll 4
        for (unsigned i = lane; i < present; i += warp_lanes)
            enclose(e, convert<double>(x[i]));
        e = enclose_lanes(e, warp_lanes);
        if (lane > 0)
            continue;
        if (u.count == 0)
            out[u.bin] = rounded<A>(0.0f);
        else if (u.count <= TILE)
            decide(e, additions_of_tile + additions_of_warp, u.bin, out, rest);
        else
            tile[u.place() + u.tile] = e;
    }
}

/* The bins of several tiles: who has a bin's second tile joins all of them. */
template <typename A>
__global__ __launch_bounds__(unit_threads) void join_tiles(sorted s, size_t n,
                                                           const enclosure *tile, A *out,
                                                           undecided_bins *rest)
{
    unsigned lane = threadIdx.x % warp_lanes;
    size_t window = (size_t)blockIdx.x * unit_warps + threadIdx.x / warp_lanes;
    for (; window < groups_of(n, TILE); window += (size_t)gridDim.x * unit_warps) {
        tile_unit u = unit_of_window(s, window);
        if (!u.any || u.tile != 1)
            continue;
        enclosure e = enclose_nothing();
        for (size_t i = lane; i < u.tiles(); i += warp_lanes)
            e = join(e, tile[u.place() + i]);
        e = enclose_lanes(e, warp_lanes);
        size_t joins = 2 * groups_of(u.tiles(), warp_lanes) + 2 * additions_of_warp;
        if (lane == 0)
            decide(e, additions_of_tile + joins, u.bin, out, rest);
    }
}

template <typename S, typename A, typename Words>
__global__ __launch_bounds__(Words::threads) void sum_exactly(sorted s, const undecided_bins *rest,
                                                              A *out)
{
    __shared__ total<Words> exact;
    for (unsigned k = threadIdx.x; k < Words::digits; k += blockDim.x)
        exact.digit[k] = 0;
    if (threadIdx.x == 0)
        exact.specials = 0;
    for (unsigned i = blockIdx.x; i < rest->count; i += gridDim.x) {
        uint32_t bin = rest->which[i];
        const S *x = (const S *)s.values;
        add_in_words(&exact, [&](long long *word) {
            unsigned specials = 0;
#pragma unroll 4
            for (size_t k = s.begin[bin] + threadIdx.x; k < s.end[bin]; k += blockDim.x)
                specials |= Words::add(word, blockDim.x, convert<typename Words::element>(x[k]));
            return specials;
        });
        __syncthreads();
        double result = round_total(&exact, precision_of<A>());
        if (threadIdx.x == 0)
            out[bin] = rounded<A>(result);
        __syncthreads();
    }
}

/* Blocks that sum exactly; those that find no bin end at once. */
constexpr unsigned exact_blocks = 256;

template <typename S, typename A> int run(const struct cuda_task *t)
{
    typedef typename words_for<S>::type Words;
    cudaStream_t stream = (cudaStream_t)t->stream;
    struct sorted s;
    enclosure *tile = (enclosure *)t->workspace;
    undecided_bins *rest =
        (undecided_bins *)((char *)tile + tile_bytes(t->of->in.n, sizeof(enclosure)));
    A *out = (A *)t->out;
    size_t windows = groups_of(t->of->in.n, TILE);
    unsigned threads, bytes;
    int device;
    int error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = room_for_words<Words>(sum_exactly<S, A, Words>, device, &threads, &bytes);
    if (error == cudaSuccess)
        error = sorted_enqueue(t, (char *)rest + undecided_bytes<uint32_t>(t->of->bins), &s);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(&rest->count, 0, sizeof rest->count, stream);
    if (error != cudaSuccess)
        return error;
    enclose_tiles<S>
        <<<grid_for(groups_of(t->of->bins + windows, unit_warps)), unit_threads, 0, stream>>>(
            s, t->of->in.n, t->of->bins, tile, out, rest);
    join_tiles<<<grid_for(groups_of(windows, unit_warps)), unit_threads, 0, stream>>>(
        s, t->of->in.n, tile, out, rest);
    sum_exactly<S, A, Words><<<exact_blocks, threads, bytes, stream>>>(s, rest, out);
    return cudaGetLastError();
}

/* The enclosures of tiles; the list; what sorting takes. */
size_t workspace(const struct cuda_task *t)
{
    return tile_bytes(t->of->in.n, sizeof(enclosure)) + undecided_bytes<uint32_t>(t->of->bins) +
           sorted_workspace(t);
}

int enqueue(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return enqueue_zeros(t);
    return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

} // namespace

extern "C" const struct cuda_method scatter_exact_cuda = {workspace, no_workspace, enqueue};
