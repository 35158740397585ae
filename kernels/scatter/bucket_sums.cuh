/* Light buckets in shared memory: sorted by bin and summed there, by a block each. */
#pragma once

#include "kernels/scatter/buckets.cuh"
#include "kernels/scatter/partition.cuh"
#include "kernels/scatter/tile_sums.cuh"

namespace
{

constexpr unsigned light_threads = 1024, light_warps = light_threads / warp_lanes;
constexpr unsigned light_ahead = 8; /* rows on their way */
/* Of a warp: its counters; then, of its bin, the sums of tiles, 32 at most. */
constexpr unsigned light_words = bucket_bins / 2, light_counter_bytes = bucket_bins * 2;
static_assert(light_counter_bytes >= 32 * sizeof(double) && 0xffff <= 32 * TILE, "the sums fit");

/* A block's bucket: its elements, and the first of its bins. */
template <typename S> struct light_bucket {
    const uint32_t *keys;
    const S *values;
    unsigned count, first;
};

/* Counts a warp's share of the bins, elements begin .. end-1. Two counters are a word. */
template <typename S>
__device__ inline void count_share(unsigned *counter, const light_bucket<S> &own, unsigned begin,
                                   unsigned end)
{
    for (unsigned at = begin + threadIdx.x % warp_lanes; at < end; at += light_ahead * warp_lanes) {
        unsigned bin[light_ahead];
#pragma unroll
        for (unsigned k = 0; k < light_ahead; k++)
            if (at + k * warp_lanes < end)
                bin[k] = own.keys[at + k * warp_lanes] - own.first;
#pragma unroll
        for (unsigned k = 0; k < light_ahead; k++)
            if (at + k * warp_lanes < end)
                atomicAdd(counter + bin[k] / 2, 1u << bin[k] % 2 * 16);
    }
}

/* From counts of each warp to where its elements of each bin begin; begin[]: of each bin. */
__device__ inline void sum_counts(unsigned *counter, unsigned *begin)
{
    unsigned q = threadIdx.x, total = 0;
    if (q < light_words)
        for (unsigned w = 0; w < light_warps; w++)
            total += counter[w * light_words + q];
    unsigned sum = sum_before<light_threads>((total & 0xffff) + (total >> 16));
    if (q >= light_words)
        return;
    unsigned second = sum + (total & 0xffff), both = sum | second << 16;
    begin[2 * q] = sum;
    begin[2 * q + 1] = second;
    if (q + 1 == light_words)
        begin[bucket_bins] = second + (total >> 16);
    for (unsigned w = 0; w < light_warps; w++) {
        unsigned count = counter[w * light_words + q];
        counter[w * light_words + q] = both;
        both += count;
    }
}

/* Puts a warp's share into order. */
template <typename S>
__device__ inline void place_share(unsigned *counter, const light_bucket<S> &own, unsigned begin,
                                   unsigned end, S *staged)
{
    for (unsigned at = begin; at < end; at += light_ahead * warp_lanes) {
        unsigned bin[light_ahead], mine = at + threadIdx.x % warp_lanes;
        S e[light_ahead];
#pragma unroll
        for (unsigned k = 0; k < light_ahead; k++) {
            bin[k] = 0;
            if (mine + k * warp_lanes < end) {
                bin[k] = own.keys[mine + k * warp_lanes] - own.first;
                e[k] = __ldcs(own.values + mine + k * warp_lanes);
            }
        }
#pragma unroll
        for (unsigned k = 0; k < light_ahead; k++) {
            bool present = mine + k * warp_lanes < end;
            unsigned place = rank_in_warp((uint16_t *)counter, bin[k], present);
            if (present)
                staged[place] = e[k];
        }
    }
}

/* The sum of a bin, by a warp; the first lane gets it. level: places for the sums of tiles. */
template <typename S, typename A>
__device__ inline A sum_of_bin(const S *x, unsigned count, A *level)
{
    if (count == 0)
        return rounded<A>(0.0f);
    if (count <= TILE)
        return sum_of_tile<A>(x, count);
    for (unsigned at = 0; at < count; at += TILE) {
        A sum = sum_of_tile<A>(x + at, min(count - at, (unsigned)TILE));
        if (threadIdx.x % warp_lanes == 0)
            level[at / TILE] = sum;
    }
    __syncwarp();
    return sum_of_tiles(level, groups_of(count, TILE));
}

/* Sorts a bucket: elements in `staged`, and where each bin begins there, and ends, in `begin`. */
template <typename S>
__device__ inline void sort_bucket(unsigned *counters, const light_bucket<S> &own, unsigned *begin,
                                   S *staged)
{
    unsigned warp = threadIdx.x / warp_lanes, *counter = counters + warp * light_words;
    unsigned share = (own.count + light_threads - 1) / light_threads * warp_lanes;
    unsigned from = min(warp * share, own.count), to = min(from + share, own.count);
    for (unsigned i = threadIdx.x % warp_lanes; i < light_words; i += warp_lanes)
        counter[i] = 0;
    __syncwarp();
    count_share(counter, own, from, to);
    __syncthreads();
    sum_counts(counters, begin);
    __syncthreads();
    place_share(counter, own, from, to, staged);
    __syncthreads();
}

template <typename S, typename A>
__global__ __launch_bounds__(light_threads) void sum_light_buckets(bucketed b, A *out)
{
    extern __shared__ double memory[];
    __shared__ unsigned begin[bucket_bins + 1];
    unsigned bucket = blockIdx.x, place = b.first[bucket], warp = threadIdx.x / warp_lanes;
    if (!is_light(b, bucket)) {
        *b.heavy = 1;
        return;
    }
    bin_range bins = bins_of(b, bucket);
    unsigned *counters = (unsigned *)memory;
    S *staged = (S *)(counters + light_warps * light_words);
    sort_bucket<S>(
        counters,
        {b.keys + place, (const S *)b.values + place, b.first[bucket + 1] - place, bins.first},
        begin, staged);
    A *level = (A *)(counters + warp * light_words);
    for (unsigned bin = bins.first + warp; bin < bins.end; bin += light_warps) {
        unsigned i = bin - bins.first;
        A sum = sum_of_bin<S, A>(staged + begin[i], begin[i + 1] - begin[i], level);
        if (threadIdx.x % warp_lanes == 0)
            out[bin] = sum;
        __syncwarp();
    }
}

} // namespace
