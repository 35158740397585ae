/* What scatter-adds on a GPU share that add to bins as they come across them: the atomic addition
 * to a bin, and the finding of bins without an element.
 *
 * A bin that is added to begins with -0, the identity; only at the end is it known which bins had
 * no element and are +0. Nearly always a look at the bins says so: none is -0. Where some are,
 * either nothing or nothing but -0 was added to them, and the keys are read once more. */
#pragma once

#include "kernels/blocks/running_sum.cuh"

/* bins[b] += x. Of 2-byte formats the hardware adds pairs (running_sum.cuh); so `bins` is aligned
 * to 4 bytes and, where they are odd in number, one more place is there. */
template <typename A> __device__ inline void add_to_bin(A *bins, unsigned b, A x)
{
    if constexpr (sizeof(A) == 2) {
        typedef typename running_sum<A>::cell pair;
        pair both = running_sum<A>::of(x);
        if (b % 2) {
            A zero = both.y;
            both.y = both.x;
            both.x = zero;
        }
        atomicAdd((pair *)(bins + b / 2 * 2), both);
    } else {
        atomicAdd(bins + b, x);
    }
}

/* Adds the elements begin + first, begin + first + step, ... below `end` to their bins. So many are
 * on their way at once that memory is kept busy. */
template <typename S, typename A>
__device__ inline void add_to_bins(const S *x, const uint32_t *keys, size_t first, size_t end,
                                   size_t step, A *bins)
{
    constexpr unsigned loads = 8;
    for (size_t at = first; at < end; at += loads * step) {
        S element[loads];
        uint32_t key[loads];
#pragma unroll
        for (unsigned k = 0; k < loads; k++)
            if (at + k * step < end) {
                key[k] = __ldcs(keys + at + k * step);
                element[k] = __ldcs(x + at + k * step);
            }
#pragma unroll
        for (unsigned k = 0; k < loads; k++)
            if (at + k * step < end)
                add_to_bin(bins, key[k], convert<A>(element[k]));
    }
}

namespace
{

/* In the workspace, zero-filled; a run leaves `mark` so. */
struct empty_bins {
    unsigned suspected;    /* some bins are -0; to be cleared by the first kernel of a run */
    unsigned char mark[1]; /* of each bin: is it -0 for its elements? */
};

inline size_t empty_bins_bytes(size_t bins)
{
    return offsetof(empty_bins, mark) + bins;
}

template <typename A> __device__ inline bool is_minus_zero(A x)
{
    double value = convert<double>(x);
    return value == 0 && signbit(value);
}

constexpr unsigned bin_threads = 256, sweeps_most = 2048; /* blocks that go over all elements */

/* All bins become -0. */
template <typename A> __global__ void begin_bins(A *out, size_t bins, empty_bins *empty)
{
    size_t b = (size_t)blockIdx.x * bin_threads + threadIdx.x;
    if (b == 0)
        empty->suspected = 0;
    if (b < bins)
        out[b] = minus_zero<A>();
}

template <typename A> __global__ void suspect_bins(const A *out, size_t bins, empty_bins *empty)
{
    size_t b = (size_t)blockIdx.x * bin_threads + threadIdx.x;
    if (b < bins && is_minus_zero(out[b]))
        empty->suspected = 1;
}

template <typename A>
__global__ void mark_bins(const A *out, const uint32_t *keys, size_t n, empty_bins *empty)
{
    if (!empty->suspected)
        return;
    for (size_t i = (size_t)blockIdx.x * bin_threads + threadIdx.x; i < n;
         i += (size_t)gridDim.x * bin_threads)
        if (is_minus_zero(out[keys[i]]))
            empty->mark[keys[i]] = 1;
}

template <typename A> __global__ void empty_to_zero(A *out, size_t bins, empty_bins *empty)
{
    size_t b = (size_t)blockIdx.x * bin_threads + threadIdx.x;
    if (!empty->suspected || b >= bins || !is_minus_zero(out[b]))
        return;
    if (!empty->mark[b])
        out[b] = rounded<A>(0.0f);
    empty->mark[b] = 0;
}

/* The last kernels of a run: bins without an element become +0. */
template <typename A> int settle_bins(const struct cuda_task *t, empty_bins *empty)
{
    A *out = (A *)t->out;
    cudaStream_t stream = (cudaStream_t)t->stream;
    unsigned grid = grid_for(groups_of(t->of->bins, bin_threads));
    unsigned sweeps = (unsigned)min(groups_of(t->of->in.n, bin_threads), (size_t)sweeps_most);
    suspect_bins<<<grid, bin_threads, 0, stream>>>(out, t->of->bins, empty);
    if (t->of->in.n > 0)
        mark_bins<<<sweeps, bin_threads, 0, stream>>>(out, t->of->keys, t->of->in.n, empty);
    empty_to_zero<<<grid, bin_threads, 0, stream>>>(out, t->of->bins, empty);
    return cudaGetLastError();
}

} // namespace
