/* scatter/ordered: bins of each warp's own, one writer at a time, no atomics.
 *
 * The order is kernels/scatter/ordered.c's: rows of 32, pieces of rows, pieces folded.
 *
 *   - A piece belongs to a warp, which has bins of its own in shared memory and reads a row at a
 * time, an element per lane. Lanes of one key must find each other: each reads its bin, leaves its
 * number there, and looks whose number is there now. A lane that finds another number has lost. If
 * none has, as in most rows when there are many bins, all keys differ, and each lane adds to its
 * own bin. Otherwise a ballot tells the lanes of each contested key about each other; they fold by
 * rank, and the first of them adds the fold.
 *   - The warp leaves its bins as a row of memory; fold_parts.cuh folds the rows.
 *   - Where bins are more than ORDERED_BINS, the order is scatter/sort's, and the way that of
 * bucket_sums.cu. */
#include "kernels/scatter/bins.cuh"
#include "kernels/scatter/buckets.cuh"
#include "kernels/scatter/fold_parts.cuh"
#include "kernels/scatter/ordered.h"
#include "kernels/scatter/sorted.cuh"

namespace
{

static_assert(ORDERED_ROW == warp_lanes, "a row has an element for each lane");

/* A bin, as an integer that is as wide: it holds a sum's bits or a lane's number. */
template <unsigned bytes> struct word_of;
template <> struct word_of<2> {
    typedef unsigned short type;
};
template <> struct word_of<4> {
    typedef unsigned type;
};
template <> struct word_of<8> {
    typedef unsigned long long type;
};
template <typename A> using word = typename word_of<sizeof(A)>::type;

template <typename A> __device__ inline word<A> bits_of(A value)
{
    word<A> bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
template <typename A> __device__ inline A value_of(word<A> bits)
{
    A value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Folds neighbours by lane, all lanes of one key; the first lane gets the result. */
template <typename A> __device__ inline A fold_all(A x)
{
#pragma unroll
    for (unsigned stride = 1; stride < warp_lanes; stride *= 2)
        x = add(x, __shfl_xor_sync(whole_warp, x, stride));
    return x;
}

/* Folds the lanes of each group by their rank in it, neighbours first; the first lane of a group
 * gets the result. `group`: the lanes of this one's group. */
template <typename A> __device__ inline A fold_groups(unsigned group, A x)
{
    unsigned lane = threadIdx.x % warp_lanes, self = 1u << lane;
    do {
        unsigned after = group & ~(self | (self - 1));
        bool stays = group & self && __popc(group & (self - 1)) % 2 == 0;
        A next = __shfl_sync(whole_warp, x, after ? __ffs(after) - 1 : lane);
        if (stays && after)
            x = add(x, next);
        group &= __ballot_sync(whole_warp, stays);
    } while (__any_sync(whole_warp, (group & (group - 1)) != 0));
    return x;
}

/* Adds up the lanes of each key. `lost`: lanes whose keys others have too, one lane of each key may
 * be missing. Returns whether this lane now has the sum of its key. */
template <typename A> __device__ inline bool fold_row(unsigned lost, unsigned key, A *x)
{
    unsigned self = 1u << threadIdx.x % warp_lanes, group = self;
    for (unsigned left = lost; left;) {
        unsigned of = __shfl_sync(whole_warp, key, __ffs(left) - 1);
        unsigned same = __ballot_sync(whole_warp, key == of);
        group = key == of ? same : group;
        left &= ~same;
    }
    *x = group == whole_warp ? fold_all(*x) : fold_groups(group, *x);
    return (group & (self - 1)) == 0;
}

/* Adds a row to the bins: this lane's element is x, and its bin key.
 *
 * compute-sanitizer's racecheck reports the election, in which lanes of one key write to one bin at
 * once, and its end, where one writes that others have read. Both are sound. The accesses are
 * volatile, so relaxed in PTX's memory model: no data race, and whichever number stays, the other
 * lanes have lost. No lane gets the ballot's result before all have read what they contribute to
 * it; another __syncwarp after it would cost two instructions a row. */
template <typename A> __device__ inline void add_row(word<A> *bins, unsigned key, A x)
{
    volatile word<A> *bin = bins + key;
    word<A> number = threadIdx.x % warp_lanes;
    A sum = value_of<A>(bins[key]);
    __syncwarp();
    *bin = number;
    __syncwarp();
    unsigned lost = __ballot_sync(whole_warp, *bin != number);
    if (lost == 0 || fold_row(lost, key, &x))
        *bin = bits_of(add(sum, x));
    __syncwarp();
}

constexpr unsigned rows_ahead = 8; /* on their way while as many are added */

template <typename S> struct rows {
    unsigned key[rows_ahead];
    S x[rows_ahead];
};

/* Rows of a piece from place `at` on. Lanes that have no element have a bin of their own. */
template <typename S>
__device__ inline void load_rows(rows<S> &r, const S *x, const uint32_t *keys, unsigned at,
                                 unsigned present, unsigned bins)
{
    unsigned lane = threadIdx.x % warp_lanes;
#pragma unroll
    for (unsigned k = 0; k < rows_ahead; k++) {
        unsigned i = at + k * warp_lanes + lane;
        r.key[k] = bins + lane;
        if (i < present) {
            r.key[k] = __ldcs(keys + i);
            r.x[k] = __ldcs(x + i);
        }
    }
}

template <typename S, typename A>
__global__ void add_pieces(const S *x, const uint32_t *keys, size_t n, size_t piece, unsigned bins,
                           A *sums, empty_bins *empty)
{
    extern __shared__ double memory[];
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    size_t number = (size_t)blockIdx.x * (blockDim.x / warp_lanes) + warp, begin = number * piece;
    if (number == 0 && lane == 0)
        empty->suspected = 0;
    if (begin >= n)
        return;
    unsigned present = (unsigned)min(piece, n - begin);
    word<A> *own = (word<A> *)memory + (size_t)warp * (bins + warp_lanes);
    for (unsigned b = lane; b < bins + warp_lanes; b += warp_lanes)
        own[b] = bits_of(minus_zero<A>());
    __syncwarp();

    x += begin;
    keys += begin;
    rows<S> ahead;
    load_rows(ahead, x, keys, 0, present, bins);
    for (unsigned at = 0; at < present; at += rows_ahead * warp_lanes) {
        rows<S> now = ahead;
        load_rows(ahead, x, keys, at + rows_ahead * warp_lanes, present, bins);
#pragma unroll
        for (unsigned k = 0; k < rows_ahead; k++)
            add_row<A>(own, now.key[k], now.key[k] < bins ? convert<A>(now.x[k]) : minus_zero<A>());
    }
    for (unsigned b = lane; b < bins; b += warp_lanes)
        sums[number * bins + b] = value_of<A>(own[b]);
}

/* A block has as many warps as their bins fit into shared memory that needs no asking for, and no
 * more than 4: then the last of them ends soon after the first. */
unsigned warps_for(size_t bins, size_t width)
{
    constexpr unsigned most = 4, bytes_most = 48 << 10;
    size_t fitting = bytes_most / ((bins + warp_lanes) * width);
    static_assert((ORDERED_BINS + warp_lanes) * sizeof(double) <= bytes_most, "one warp's fit");
    return fitting < most ? (unsigned)fitting : most;
}

constexpr size_t alignment = 256;

size_t pieces_of(const struct cuda_task *t)
{
    return groups_of(t->of->in.n, ordered_piece(t->of->in.n));
}

size_t empty_bytes(const struct cuda_task *t)
{
    return groups_of(empty_bins_bytes(t->of->bins), alignment) * alignment;
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    empty_bins *empty = (empty_bins *)t->workspace;
    A *sums = (A *)((char *)t->workspace + empty_bytes(t)), *out = (A *)t->out;
    size_t pieces = pieces_of(t);
    unsigned warps = warps_for(t->of->bins, sizeof(A));
    add_pieces<<<grid_for(groups_of(pieces, warps)), warps * warp_lanes,
                 warps *(t->of->bins + warp_lanes) * sizeof(A), stream>>>(
        (const S *)t->of->in.data, t->of->keys, t->of->in.n, ordered_piece(t->of->in.n),
        (unsigned)t->of->bins, first_rows(sums, pieces, out), empty);
    int error = fold_parts(sums, pieces, t->of->bins, out, stream);
    return error == cudaSuccess ? settle_bins<A>(t, empty) : error;
}

size_t workspace(const struct cuda_task *t)
{
    if (t->of->bins > ORDERED_BINS)
        return bucketed_fit(t) ? bucket_sum_workspace(t) : sorted_sum_workspace(t);
    return empty_bytes(t) + fold_rows_needed(pieces_of(t)) * t->of->bins * sizeof(double);
}

int enqueue(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return enqueue_zeros(t);
    if (t->of->bins > ORDERED_BINS)
        return bucketed_fit(t) ? bucket_sum_enqueue(t) : sorted_sum_enqueue(t);
    return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

} // namespace

extern "C" const struct cuda_method scatter_ordered_cuda = {workspace, no_workspace, enqueue};
