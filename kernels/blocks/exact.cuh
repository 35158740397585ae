/* What exact sums share: an enclosure found by all blocks of a grid, a sum in fixed point by one or
 * by all of them, the room that a device has for the latter; and, where there are many sums, a list
 * of those that no enclosure tells. */
#pragma once

#include "kernels/blocks/enclosure.cuh"
#include "kernels/blocks/superaccumulator.cuh"

/* Of a block that finds an enclosure; and the most blocks of a grid. */
constexpr unsigned enclose_threads = 256, blocks_most = 4096;

/* What an error goes through once its lane has its enclosure: the two folds of a block, a thread's
 * share of the blocks, two folds. */
constexpr size_t additions_in_grid = 2 * (4 * 5 + blocks_most / enclose_threads);

/* The enclosures of all lanes of a block; the first warp gets it. */
__device__ inline enclosure enclose_block(enclosure e)
{
    __shared__ enclosure shared[block_lanes / warp_lanes];
    unsigned lane = threadIdx.x % warp_lanes, warps = blockDim.x / warp_lanes;
    e = enclose_lanes(e, warp_lanes);
    if (lane == 0)
        shared[threadIdx.x / warp_lanes] = e;
    __syncthreads();
    e = enclose_lanes(lane < warps ? shared[lane] : enclose_nothing(), warp_lanes);
    __syncthreads();
    return e;
}

/* The enclosures of all blocks of the grid, once they can be read; e of the first warp gets it. */
__device__ inline void enclose_grid(enclosure &e, const enclosure *part)
{
    e = enclose_nothing();
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x)
        e = join(e, {__ldcg(&part[i].sum), __ldcg(&part[i].error), __ldcg(&part[i].magnitude)});
    e = enclose_block(e);
}

/* Adds to a total what the lanes of a block add: `add` takes a lane's own words, which lie
 * blockDim.x apart, and returns the specials. The block has shared memory for words of all its
 * lanes. */
template <typename Words, typename Add>
__device__ inline void add_in_words(total<Words> *to, Add add)
{
    extern __shared__ long long word[];
    for (unsigned i = threadIdx.x; i < Words::count * blockDim.x; i += blockDim.x)
        word[i] = 0;
    __syncthreads();
    unsigned specials = add(word + threadIdx.x);
    __syncthreads();
    add_words(to, word, specials);
}

/* Writes what round(sum), a double, makes of the exact sum of all that the lanes of a grid add. */
template <typename Words, typename A, typename Add, typename Round>
__device__ inline void sum_in_words(total<Words> *exact, unsigned *finished, A *out, Add add,
                                    Round round)
{
    __shared__ settled<Words> sum;
    add_in_words(exact, add);
    if (!last_block(finished))
        return;
    settle_total(exact, &sum);
    if (threadIdx.x == 0)
        *out = rounded<A>(round(sum));
}

/* The sum itself, rounded once to A. */
template <typename A, typename Words> __device__ inline double round_sum(const settled<Words> &sum)
{
    return round_settled(sum.digit, Words::digits, Words::unit, sum.negative, sum.specials,
                         precision_of<A>());
}

/* The numbers of sums that an enclosure did not tell. `count` is 0 when a run begins. */
template <typename Number> struct undecided {
    unsigned long long count;
    Number which[1];
};

/* Sum `i` of many, sum + error but for `off` at most; or its number on the list. By one lane. */
template <typename A, typename Number>
__device__ inline void decide(double sum, double error, double off, size_t i, A *out,
                              undecided<Number> *rest)
{
    A result;
    if (round_certified(sum, error, off, &result))
        out[i] = result;
    else
        rest->which[atomicAdd(&rest->count, 1ull)] = (Number)i;
}

template <typename A, typename Number>
__device__ inline void decide(const enclosure &e, size_t additions, size_t i, A *out,
                              undecided<Number> *rest)
{
    decide(e.sum, e.error, most_off(e, additions), i, out, rest);
}

/* Bytes of the list, a multiple of 256. */
template <typename Number> inline size_t undecided_bytes(size_t sums)
{
    return groups_of(sizeof(undecided<Number>) + sums * sizeof(Number), 256) * 256;
}

/* The threads, and the bytes of shared memory, that a block of a kernel with sum_in_words has on a
 * device; from now on the kernel may be launched with them. */
template <typename Words, typename Kernel>
cudaError_t room_for_words(Kernel kernel, int device, unsigned *threads, unsigned *bytes)
{
    constexpr unsigned each = Words::count * sizeof(long long);
    int most;
    cudaFuncAttributes facts;
    cudaError_t error =
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&facts, kernel);
    if (error != cudaSuccess)
        return error;
    unsigned lanes = (unsigned)(most - (int)facts.sharedSizeBytes) / each;
    *threads = min(lanes / warp_lanes * warp_lanes, Words::threads);
    *bytes = *threads * each;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)*bytes);
}
