/* compact/scan: an exclusive scan of the mask says where each element that is kept goes.
 *
 * One launch. A block takes 4096 consecutive elements, a warp 512 of them, 32 at a time: the lanes
 * vote with their flags, and the votes of the lanes below are where an element goes among its 32.
 * What tiles before keep is looked up in a word of each: 0 at first, then how many that tile keeps
 * itself, and, as soon as it knows, how many it and all before it keep. A block waits for the words
 * of the tiles before its own only, and blocks are started in the order of their index. Counts are
 * whole numbers: whichever words it finds, the sum is the same. */
#include "kernels/transpose/move.cuh"

namespace
{

typedef unsigned long long word;
constexpr unsigned threads = 256, warps = threads / warp_lanes, each = 16;
constexpr unsigned of_warp = each * warp_lanes, of_block = each * threads;
constexpr word own = (word)1 << 62, all = (word)2 << 62, count_bits = own - 1;

/* What all tiles before this one keep, to every lane of the warp that asks. */
__device__ word kept_before(const word *state, unsigned tile)
{
    unsigned lane = threadIdx.x % warp_lanes;
    word before = 0;
    for (long long nearest = (long long)tile - 1; nearest >= 0; nearest -= warp_lanes) {
        long long at = nearest - lane;
        word seen;
        do
            seen = at >= 0 ? ((const volatile word *)state)[at] : all;
        while (__any_sync(whole_warp, seen == 0));
        unsigned known = __ballot_sync(whole_warp, (seen & all) != 0);
        unsigned last = known ? __ffs(known) - 1 : warp_lanes - 1;
        word more = lane <= last ? seen & count_bits : 0;
        for (unsigned stride = warp_lanes / 2; stride > 0; stride /= 2)
            more += __shfl_xor_sync(whole_warp, more, stride);
        before += more;
        if (known)
            break;
    }
    return before;
}

template <typename W>
__global__ __launch_bounds__(threads) void compact(const W *x, const uint8_t *mask, size_t n,
                                                   word *state, W *out)
{
    __shared__ unsigned kept[warps];
    __shared__ word before;
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    size_t first = (size_t)blockIdx.x * of_block + warp * of_warp + lane;
    W moving[each];
    unsigned vote[each], count = 0;
    uint8_t flag[each];
#pragma unroll
    for (unsigned k = 0; k < each; k++) {
        size_t i = first + k * warp_lanes;
        flag[k] = i < n ? __ldcs(mask + i) : 0;
        if (i < n)
            moving[k] = __ldcs(x + i);
    }
#pragma unroll
    for (unsigned k = 0; k < each; k++) {
        vote[k] = __ballot_sync(whole_warp, flag[k]);
        count += __popc(vote[k]);
    }
    if (lane == 0)
        kept[warp] = count;
    __syncthreads();
    if (warp == 0) {
        word total = 0;
        for (unsigned w = 0; w < warps; w++)
            total += kept[w];
        if (lane == 0)
            ((volatile word *)state)[blockIdx.x] = (blockIdx.x == 0 ? all : own) | total;
        word found = kept_before(state, blockIdx.x);
        if (lane == 0) {
            ((volatile word *)state)[blockIdx.x] = all | (found + total);
            before = found;
        }
    }
    __syncthreads();
    W *to = out + before;
    for (unsigned w = 0; w < warp; w++)
        to += kept[w];
#pragma unroll
    for (unsigned k = 0; k < each; k++) {
        if (vote[k] >> lane & 1)
            to[__popc(vote[k] & ((1u << lane) - 1))] = moving[k];
        to += __popc(vote[k]);
    }
}

size_t workspace(const struct cuda_task *t)
{
    return groups_of(t->n, of_block) * sizeof(word);
}

int enqueue(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    if (t->n == 0)
        return cudaSuccess;
    cudaError_t error = cudaMemsetAsync(t->workspace, 0, workspace(t), stream);
    return error != cudaSuccess ? (int)error : with_word(t, [t, stream](auto element) {
        typedef decltype(element) W;
        compact<<<grid_for(groups_of(t->n, of_block)), threads, 0, stream>>>(
            (const W *)t->in, t->heads, t->n, (word *)t->workspace, (W *)t->out);
        return (int)cudaGetLastError();
    });
}

} // namespace

extern "C" {
extern const struct cuda_method compact_scan_cuda;
const struct cuda_method compact_scan_cuda = {workspace, no_workspace, enqueue};
}
