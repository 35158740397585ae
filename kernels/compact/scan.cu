/* compact/scan: an exclusive scan of the mask says where each element that is kept goes.
 *
 * Three launches, none of whose blocks waits for another. The first reads the mask, and leaves a
 * bit of each flag, how many flags each span of 1024 elements keeps behind the others of its group
 * of 32 spans, and how many the group keeps. The second scans the groups. The third has the
 * elements: the bits are an eighth of the mask, and most of them are still in the cache. A warp
 * moves spans in parts of up to 4 KiB, two of them on their way while it puts what is kept of one
 * side by side in shared memory, where the bits before an element say, and writes that. */
#include <cuda_pipeline.h>

#include "kernels/transpose/move.cuh"

namespace
{

typedef unsigned long long word;
constexpr unsigned threads = 256, warps = threads / warp_lanes;
constexpr unsigned span = 1024, group_spans = 32, group = span * group_spans;
static_assert(span == 32 * warp_lanes, "a lane has the bits of 32 elements");

/* Where things lie in the workspace, of whole groups. */
struct places {
    size_t groups;
    word *kept;      /* of each group; then of all groups before it */
    unsigned *ahead; /* of each span: kept by those before it in its group */
    unsigned *bits;  /* a word of 32 elements; none behind the last element */
};

places places_of(const struct cuda_task *t)
{
    size_t groups = groups_of(t->of->in.n, group);
    word *kept = (word *)t->workspace;
    unsigned *ahead = (unsigned *)(kept + groups);
    return {groups, kept, ahead, ahead + groups * group_spans};
}

size_t workspace(const struct cuda_task *t)
{
    size_t groups = groups_of(t->of->in.n, group);
    return groups * (sizeof(word) + group_spans * (1 + warp_lanes) * sizeof(unsigned));
}

/* Bit k of the result: is byte k of x other than 0? */
__device__ unsigned bits_of(unsigned x)
{
    return __vsetne4(x, 0) * 0x01020408u >> 24;
}

__device__ unsigned bits_of(uint4 x)
{
    return bits_of(x.x) | bits_of(x.y) << 4 | bits_of(x.z) << 8 | bits_of(x.w) << 12;
}

/* The bits of a lane's 32 elements, from the first on. */
__device__ unsigned read_flags(const uint8_t *mask, size_t first, size_t n)
{
    if (first + 32 <= n && (uintptr_t)mask % sizeof(uint4) == 0) {
        const uint4 *from = (const uint4 *)(mask + first);
        uint4 low = __ldcs(from), high = __ldcs(from + 1);
        return bits_of(low) | bits_of(high) << 16;
    }
    unsigned bits = 0;
    for (unsigned k = 0; k < 32 && first + k < n; k++)
        bits |= (unsigned)(mask[first + k] != 0) << k;
    return bits;
}

/* The sum of the values of the lanes before this one. */
template <typename T> __device__ T sum_before(T value)
{
    T sum = value;
    for (unsigned apart = 1; apart < warp_lanes; apart *= 2) {
        T other = __shfl_up_sync(whole_warp, sum, apart);
        if (threadIdx.x % warp_lanes >= apart)
            sum += other;
    }
    return sum - value;
}

/* A group by a block. */
__global__ __launch_bounds__(threads) void count_flags(const uint8_t *mask, size_t n, places to)
{
    constexpr unsigned each = group_spans / warps;
    __shared__ unsigned kept[group_spans];
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes, bits[each];
    size_t spans = (size_t)blockIdx.x * group_spans;
#pragma unroll
    for (unsigned k = 0; k < each; k++)
        bits[k] = read_flags(mask, (spans + warp * each + k) * span + lane * 32, n);
#pragma unroll
    for (unsigned k = 0; k < each; k++) {
        unsigned s = warp * each + k, sum = __reduce_add_sync(whole_warp, __popc(bits[k]));
        to.bits[(spans + s) * warp_lanes + lane] = bits[k];
        if (lane == 0)
            kept[s] = sum;
    }
    __syncthreads();
    if (warp > 0)
        return;
    unsigned before = sum_before(kept[lane]);
    to.ahead[spans + lane] = before;
    if (lane == warp_lanes - 1)
        to.kept[blockIdx.x] = before + kept[lane];
}

/* By one block, in place. */
__global__ __launch_bounds__(block_lanes) void scan_groups(word *kept, size_t groups)
{
    __shared__ word sums[warp_lanes];
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    size_t each = groups_of(groups, block_lanes), first = threadIdx.x * each;
    size_t end = min(first + each, groups);
    word own = 0;
    for (size_t i = first; i < end; i++)
        own += kept[i];
    word before = sum_before(own);
    if (lane == warp_lanes - 1)
        sums[warp] = before + own;
    __syncthreads();
    word of_warps = sum_before(sums[lane]);
    before += __shfl_sync(whole_warp, of_warps, warp);
    for (size_t i = first; i < end; i++) {
        word here = kept[i];
        kept[i] = before;
        before += here;
    }
}

/* What is kept of a span that is not full, or not aligned to 16 bytes. */
template <typename W>
__device__ void move_one_by_one(const W *x, unsigned present, unsigned bits, unsigned ahead, W *out)
{
    unsigned lane = threadIdx.x % warp_lanes;
    for (unsigned row = 0; row < span / warp_lanes; row++) {
        unsigned flags = __shfl_sync(whole_warp, bits, row);
        unsigned before = __shfl_sync(whole_warp, ahead, row);
        if (row * warp_lanes + lane < present && (flags >> lane & 1))
            out[before + __popc(flags & ((1u << lane) - 1))] = x[row * warp_lanes + lane];
    }
}

/* How a warp takes a span: in parts of `loads` rows of 16 bytes a lane. */
template <typename W> struct part {
    static constexpr unsigned width = sizeof(uint4) / sizeof(W), row = width * warp_lanes;
    static constexpr unsigned rows = span / row, loads = rows < 8 ? rows : 8;
    static constexpr unsigned elements = loads * row, count = span / elements;
};

/* Blocks that an H200 runs at once, at 48 KiB each; a warp moves every so many parts. */
constexpr unsigned mover_threads = 128, movers = mover_threads / warp_lanes, mover_blocks = 4 * 132;

/* Asks for a part, of `whole` ones that are full and aligned to 16 bytes: each lane for what goes
 * to places of its own, which no other lane reads. */
template <typename W>
__device__ void fetch(const W *x, size_t i, size_t whole, uint4 (*to)[mover_threads])
{
    const uint4 *from = (const uint4 *)(x + i * part<W>::elements) + threadIdx.x % warp_lanes;
    if (i < whole)
#pragma unroll
        for (unsigned k = 0; k < part<W>::loads; k++)
            __pipeline_memcpy_async(&to[k][threadIdx.x], from + k * warp_lanes, sizeof *from);
    __pipeline_commit();
}

/* What a lane knows of a span: the bits of elements 32 lane .. 32 lane + 31, and how many are kept
 * of all before the span. */
struct known {
    unsigned bits;
    word before;
};

__device__ known look_up(const places &at, size_t s, size_t spans)
{
    if (s >= spans)
        return {0, 0};
    return {at.bits[s * warp_lanes + threadIdx.x % warp_lanes],
            at.kept[s / group_spans] + at.ahead[s]};
}

/* Puts what is kept of 16 bytes, from element e of the span on, where `bits` and `ahead` say. */
template <typename W>
__device__ void stage_kept(uint4 loaded, unsigned e, unsigned bits, unsigned ahead, W *stage)
{
    W element[part<W>::width];
    memcpy(element, &loaded, sizeof loaded);
    unsigned flags = __shfl_sync(whole_warp, bits, e / 32);
    unsigned place = __shfl_sync(whole_warp, ahead, e / 32) + __popc(flags & ((1u << e % 32) - 1));
    flags >>= e % 32;
#pragma unroll
    for (unsigned k = 0; k < part<W>::width; k++)
        if (flags >> k & 1)
            stage[place++] = element[k];
}

/* What is kept of a part that begins with element `top` of its span, to where the span's goes. */
template <typename W>
__device__ void move_part(const uint4 (&loaded)[part<W>::loads], unsigned top, unsigned bits,
                          unsigned ahead, W *stage, W *to)
{
    unsigned lane = threadIdx.x % warp_lanes, behind = (top + part<W>::elements) / 32 % warp_lanes;
    unsigned begin = __shfl_sync(whole_warp, ahead, top / 32);
    unsigned last = __shfl_sync(whole_warp, ahead + __popc(bits), warp_lanes - 1);
    unsigned end = __shfl_sync(whole_warp, ahead, behind);
    end = behind > 0 ? end : last;
#pragma unroll
    for (unsigned k = 0; k < part<W>::loads; k++)
        stage_kept(loaded[k], top + k * part<W>::row + lane * part<W>::width, bits, ahead - begin,
                   stage);
    __syncwarp();
    /* From a multiple of 32 elements on. Not past the cache: where parts meet they share lines. */
    unsigned skew = (uintptr_t)(to + begin) / sizeof(W) % warp_lanes;
    for (unsigned i = lane; i < end - begin + skew; i += warp_lanes)
        if (i >= skew)
            to[begin + i - skew] = stage[i - skew];
    __syncwarp();
}

template <typename W>
__global__ __launch_bounds__(mover_threads, 4) void move_kept(const W *x, size_t n, places at,
                                                              W *out)
{
    constexpr unsigned count = part<W>::count, loads = part<W>::loads;
    __shared__ uint4 fetched[2][loads][mover_threads];
    __shared__ W staged[movers][part<W>::elements];
    unsigned warp = threadIdx.x / warp_lanes;
    size_t i = (size_t)blockIdx.x * movers + warp, step = (size_t)gridDim.x * movers;
    size_t spans = groups_of(n, span), whole = (uintptr_t)x % sizeof(uint4) ? 0 : n / span * count;
    fetch(x, i, whole, fetched[0]);
    fetch(x, i + step, whole, fetched[1]);
    known now = look_up(at, i / count, spans), next = look_up(at, (i + step) / count, spans);
    for (unsigned slot = 0; i < spans * count; i += step, slot ^= 1) {
        unsigned bits = now.bits, ahead = sum_before(__popc(bits));
        W *to = out + now.before;
        uint4 loaded[loads];
        __pipeline_wait_prior(1);
#pragma unroll
        for (unsigned k = 0; k < loads; k++)
            loaded[k] = fetched[slot][k][threadIdx.x];
        __syncwarp(); /* read before it is written again */
        now = next;
        fetch(x, i + 2 * step, whole, fetched[slot]);
        next = look_up(at, (i + 2 * step) / count, spans);
        if (i < whole)
            move_part(loaded, (unsigned)(i % count) * part<W>::elements, bits, ahead, staged[warp],
                      to);
        else if (i % count == 0)
            move_one_by_one(x + i / count * span, (unsigned)min((size_t)span, n - i / count * span),
                            bits, ahead, to);
    }
}

int enqueue(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    places at = places_of(t);
    if (t->of->in.n == 0)
        return cudaSuccess;
    count_flags<<<(unsigned)at.groups, threads, 0, stream>>>(t->of->mask, t->of->in.n, at);
    scan_groups<<<1, block_lanes, 0, stream>>>(at.kept, at.groups);
    return with_word(t, [&](auto element) -> int {
        typedef decltype(element) W;
        if constexpr (sizeof(W) == 1) /* more of a span than its registers hold */
            return cudaErrorInvalidValue;
        else {
            size_t parts = groups_of(t->of->in.n, span) * part<W>::count;
            unsigned blocks = (unsigned)min(groups_of(parts, movers), (size_t)mover_blocks);
            move_kept<<<blocks, mover_threads, 0, stream>>>((const W *)t->of->in.data, t->of->in.n,
                                                            at, (W *)t->out);
            return cudaGetLastError();
        }
    });
}

} // namespace

extern "C" const struct cuda_method compact_scan_cuda = {workspace, no_workspace, enqueue};
