/* Tiles that scan/exact has doubts about, again in fixed point
 * (kernels/blocks/superaccumulator.cuh): their outputs are written anew, without a doubt. Three
 * kernels, which end at once where there are none: the sum of each tile, what lies before each, and
 * the outputs of the doubtful tiles. */
#pragma once

#include "kernels/scan/pass.cuh"
#include "kernels/blocks/superaccumulator.cuh"

namespace scan_pass
{

constexpr unsigned exact_threads = 128, exact_chunk = SCAN_TILE / exact_threads;

/* A sum of tiles: digits of 32 bits, of which the last has the sign; or more, not settled. */
template <typename Words> struct exact_sum {
    long long digit[Words::digits];
    unsigned specials;
};

template <typename S, typename Words> struct exact_pass {
    /* Words of a lane: with room for all digits. */
    static constexpr unsigned room = Words::digits * 32 / Words::bits_per_word;
    static constexpr unsigned bytes = room * exact_threads * sizeof(long long);

    const S *x;
    void *out;
    size_t n;
    unsigned tiles;
    bool exclusive;
    enum format accumulator, output;
    doubts d;
    exact_sum<Words> *tile; /* its sum, then the sum of all before */
    unsigned *finished;     /* blocks */

    __device__ unsigned present(unsigned t) const
    {
        return (unsigned)min((size_t)SCAN_TILE, n - (size_t)t * SCAN_TILE);
    }
    __device__ unsigned add(long long *word, size_t i) const
    {
        return Words::add(word, exact_threads, convert<typename Words::element>(x[i]));
    }
};

/* A lane's own words begin at its number and lie exact_threads apart. */
template <unsigned room> __device__ inline void clear_words(long long *word)
{
    for (unsigned i = threadIdx.x; i < room * exact_threads; i += exact_threads)
        word[i] = 0;
    __syncthreads();
}

__device__ inline unsigned or_of_block(unsigned flags)
{
    __shared__ unsigned all;
    if (threadIdx.x == 0)
        all = 0;
    __syncthreads();
    atomicOr(&all, flags);
    __syncthreads();
    flags = all;
    __syncthreads();
    return flags;
}

template <typename S, typename Words>
__global__ __launch_bounds__(exact_threads) void sum_tiles(exact_pass<S, Words> p)
{
    constexpr unsigned room = exact_pass<S, Words>::room;
    extern __shared__ long long word[];
    __shared__ long long sum[room];
    unsigned lane = threadIdx.x % warp_lanes;
    if (!*p.d.any)
        return;
    for (unsigned t = blockIdx.x; t < p.tiles; t += gridDim.x) {
        unsigned specials = 0;
        clear_words<room>(word);
        for (unsigned i = threadIdx.x; i < p.present(t); i += exact_threads)
            specials |= p.add(word + threadIdx.x, (size_t)t * SCAN_TILE + i);
        __syncthreads();
        for (unsigned k = threadIdx.x / warp_lanes; k < room; k += exact_threads / warp_lanes) {
            long long of_word = 0;
            for (unsigned i = lane; i < exact_threads; i += warp_lanes)
                of_word += word[k * exact_threads + i];
            for (unsigned d = warp_lanes / 2; d > 0; d /= 2)
                of_word += __shfl_xor_sync(whole_warp, of_word, d);
            if (lane == 0)
                sum[k] = of_word;
        }
        specials = or_of_block(specials);
        if (threadIdx.x == 0) {
            long long *digit = p.tile[t].digit;
            carry_on<Words::bits_per_word>(sum, 1, Words::digits,
                                           [&](unsigned k, long long d) { digit[k] = d; });
            p.tile[t].specials = specials;
        }
        __syncthreads();
    }
}

/* Each block takes one digit of all tiles, the last block their specials. */
template <typename S, typename Words>
__global__ __launch_bounds__(block_lanes) void sum_before_tiles(exact_pass<S, Words> p)
{
    __shared__ long long sum[block_lanes];
    if (!*p.d.any)
        return;
    bool of_digits = blockIdx.x < Words::digits;
    unsigned share = (p.tiles - 1) / block_lanes + 1;
    unsigned first = min(threadIdx.x * share, p.tiles), end = min(first + share, p.tiles);
    auto fold = [&](long long a, long long b) { return of_digits ? a + b : a | b; };
    auto of_tile = [&](unsigned t) {
        return of_digits ? p.tile[t].digit[blockIdx.x] : (long long)p.tile[t].specials;
    };
    long long before = 0;
    for (unsigned t = first; t < end; t++)
        before = fold(before, of_tile(t));
    sum[threadIdx.x] = before;
    for (unsigned d = 1; d < block_lanes; d *= 2) {
        __syncthreads();
        long long other = threadIdx.x >= d ? sum[threadIdx.x - d] : 0;
        __syncthreads();
        sum[threadIdx.x] = fold(sum[threadIdx.x], other);
    }
    __syncthreads();
    before = threadIdx.x > 0 ? sum[threadIdx.x - 1] : 0;
    for (unsigned t = first; t < end; t++) {
        long long own = of_tile(t);
        if (of_digits)
            p.tile[t].digit[blockIdx.x] = before;
        else
            p.tile[t].specials = (unsigned)before;
        before = fold(before, own);
    }
}

/* A value that is rounded to f but for its range. */
__device__ inline double within(enum format f, double x)
{
    return f == FP16   ? convert<double>(rounded<__half>(x))
           : f == BF16 ? convert<double>(rounded<__nv_bfloat16>(x))
           : f == FP32 ? convert<double>(rounded<float>(x))
                       : x;
}

template <typename O> __device__ inline void write(void *out, size_t i, double value)
{
    ((O *)out)[i] = rounded<O>(value);
}

__device__ inline void write_output(void *out, enum format f, size_t i, double value)
{
    if (f == FP16)
        write<__half>(out, i, value);
    else if (f == BF16)
        write<__nv_bfloat16>(out, i, value);
    else if (f == FP32)
        write<float>(out, i, value);
    else
        write<double>(out, i, value);
}

/* The words of each lane become the sum of all before its chunk: of the tile's chunks before, and
 * of all tiles before. */
template <typename S, typename Words>
__device__ inline void words_before_chunks(const exact_pass<S, Words> &p, long long *word,
                                           const exact_sum<Words> &before)
{
    unsigned lane = threadIdx.x % warp_lanes;
    constexpr unsigned each = exact_threads / warp_lanes, half = 32 / Words::bits_per_word;
    for (unsigned k = threadIdx.x / warp_lanes; k < p.room; k += each) {
        long long *of_lane = word + k * exact_threads + lane * each, sum = 0;
        for (unsigned i = 0; i < each; i++)
            sum += of_lane[i];
        long long up_to = sum;
        for (unsigned d = 1; d < warp_lanes; d *= 2) {
            long long other = __shfl_up_sync(whole_warp, up_to, d);
            up_to += lane >= d ? other : 0;
        }
        sum = up_to - sum + (k % half == 0 ? before.digit[k / half] : 0);
        for (unsigned i = 0; i < each; i++) {
            long long own = of_lane[i];
            of_lane[i] = sum;
            sum += own;
        }
    }
    __syncthreads();
}

/* The specials of all before a lane's chunk. */
__device__ inline unsigned specials_before(unsigned own, unsigned before)
{
    __shared__ unsigned all[exact_threads];
    all[threadIdx.x] = own;
    __syncthreads();
    for (unsigned i = 0; i < threadIdx.x; i++)
        before |= all[i];
    __syncthreads();
    return before;
}

template <typename S, typename Words>
__device__ inline void scan_exactly(const exact_pass<S, Words> &p, long long *word, unsigned t)
{
    size_t begin = (size_t)t * SCAN_TILE;
    unsigned first = threadIdx.x * exact_chunk, present = p.present(t), specials = 0;
    unsigned end = min(first + exact_chunk, present), settled[Words::digits];
    clear_words<p.room>(word);
    for (unsigned i = first; i < end; i++)
        specials |= p.add(word + threadIdx.x, begin + i);
    __syncthreads();
    words_before_chunks(p, word, p.tile[t]);
    specials = specials_before(specials, p.tile[t].specials);
    for (unsigned i = first; i < end; i++) {
        double value = 0; /* the sum of nothing */
        unsigned now = specials;
        if (!p.exclusive)
            now |= p.add(word + threadIdx.x, begin + i);
        bool negative =
            settle<Words::bits_per_word>(word + threadIdx.x, exact_threads, Words::digits, settled);
        if (!p.exclusive || begin + i > 0)
            value = round_settled(settled, Words::digits, Words::unit, negative, now,
                                  precision_in(p.accumulator));
        if (p.exclusive)
            now |= p.add(word + threadIdx.x, begin + i);
        specials = now;
        write_output(p.out, p.output, begin + i, within(p.accumulator, value));
    }
    __syncthreads();
}

template <typename S, typename Words>
__global__ __launch_bounds__(exact_threads) void scan_doubtful_tiles(exact_pass<S, Words> p)
{
    extern __shared__ long long word[];
    if (!*p.d.any)
        return;
    for (unsigned t = blockIdx.x; t < p.tiles; t += gridDim.x)
        if (p.d.tiles[t]) {
            scan_exactly(p, word, t);
            if (threadIdx.x == 0)
                p.d.tiles[t] = 0;
        }
    if (last_block(p.finished) && threadIdx.x == 0)
        *p.d.any = 0;
}

} // namespace scan_pass
