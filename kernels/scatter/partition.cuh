/* A stable partition of elements by a digit of their keys: counts, then places.
 *
 * Elements are cut into consecutive chunks, and a chunk into tiles. What a chunk has of each digit
 * is counted; sums over chunks say where its elements of a digit begin. A block then places a tile:
 * a warp takes consecutive rows of it, in which lanes of one digit get ranks by their numbers, so
 * that the order of the array is kept; the tile is put into order in shared memory, and goes out in
 * runs of neighbours. Atomic additions only count, so their order does not affect the result. */
#pragma once

#include "kernels/device/device.cuh"

namespace
{

constexpr unsigned part_threads = 512, part_warps = part_threads / warp_lanes, part_rows = 16;
constexpr unsigned part_tile = part_threads * part_rows, part_tiles = 4;
constexpr unsigned part_chunk = part_tile * part_tiles;

/* Consecutive elements, and the bucket that they are of. */
struct part_range {
    unsigned begin, end, bucket;
};

__device__ inline unsigned lanes_before()
{
    return (1u << threadIdx.x % warp_lanes) - 1;
}

/* Counters of 16 bits, a warp's own. Adds the lanes that are `present` to the counters of their
 * digits; returns this one's rank: what the counter was, and the lanes before it of its digit.
 * Lanes of one digit find each other as in scatter/ordered: each leaves its number at its counter,
 * and a lane that finds another number there has lost. add_row there explains why this is sound
 * although racecheck reports it. */
__device__ inline unsigned rank_in_warp(uint16_t *counter, unsigned digit, bool present)
{
    volatile uint16_t *own = counter + digit;
    unsigned lane = threadIdx.x % warp_lanes, was = *own, group = 1u << lane;
    __syncwarp();
    if (present)
        *own = (uint16_t)lane;
    __syncwarp();
    unsigned left = __ballot_sync(whole_warp, present && *own != lane);
    while (left) {
        unsigned of = __shfl_sync(whole_warp, digit, __ffs(left) - 1);
        unsigned same = __ballot_sync(whole_warp, present && digit == of);
        if (present && digit == of)
            group = same;
        left &= ~same;
    }
    if (present && (group & lanes_before()) == 0)
        *own = (uint16_t)(was + __popc(group));
    __syncwarp();
    return was + __popc(group & lanes_before());
}

/* The sum of what the threads before this one have; a block has `threads`. */
template <unsigned threads> __device__ inline unsigned sum_before(unsigned x)
{
    __shared__ unsigned of_warp[threads / warp_lanes];
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes, sum = x;
#pragma unroll
    for (unsigned d = 1; d < warp_lanes; d *= 2) {
        unsigned other = __shfl_up_sync(whole_warp, sum, d);
        sum += lane >= d ? other : 0;
    }
    if (lane == warp_lanes - 1)
        of_warp[warp] = sum;
    __syncthreads();
    for (unsigned w = 0; w < warp; w++)
        sum += of_warp[w];
    return sum - x;
}

/* Of a tile: `offset` plus its place in order is where an element of a digit goes to.
 * counter: of the warps, one after the other; in their place are then left where each warp's
 * elements of a digit begin in the tile. first: where the tile's elements of a digit go to. */
template <unsigned digits, typename First>
__device__ inline void order_tile(unsigned *counter, unsigned *offset, First first)
{
    constexpr unsigned words = digits / 2, each = (words + part_threads - 1) / part_threads;
    unsigned total[each], sum = 0;
#pragma unroll
    for (unsigned j = 0; j < each; j++) {
        unsigned q = j * part_threads + threadIdx.x;
        total[j] = 0;
        if (q < words)
#pragma unroll
            for (unsigned w = 0; w < part_warps; w++)
                total[j] += counter[w * words + q];
        sum += (total[j] & 0xffff) + (total[j] >> 16);
    }
    sum = sum_before<part_threads>(sum);
#pragma unroll
    for (unsigned j = 0; j < each; j++) {
        unsigned q = j * part_threads + threadIdx.x;
        unsigned second = sum + (total[j] & 0xffff), begin = sum | second << 16;
        if (q < words) {
            offset[2 * q] = first(2 * q) - sum;
            offset[2 * q + 1] = first(2 * q + 1) - second;
#pragma unroll
            for (unsigned w = 0; w < part_warps; w++) {
                unsigned count = counter[w * words + q];
                counter[w * words + q] = begin;
                begin += count;
            }
        }
        sum = second + (total[j] >> 16);
    }
}

template <unsigned digits, typename E> __host__ __device__ constexpr unsigned place_bytes()
{
    unsigned counters = part_warps * digits * 2, staged = part_tile * (2 + (unsigned)sizeof(E));
    return counters > staged ? counters : staged;
}

/* Places a tile of `present` elements. digit(i) and element(i): of element i of it; first(d): where
 * its elements of digit d go to; put(to, e) leaves one there. memory: place_bytes() of it. */
template <unsigned digits, typename E, typename Digit, typename Element, typename First,
          typename Put>
__device__ inline void place_tile(void *memory, unsigned present, Digit digit, Element element,
                                  First first, Put put)
{
    __shared__ unsigned offset[digits];
    unsigned *counter = (unsigned *)memory;
    unsigned warp = threadIdx.x / warp_lanes,
             begin = warp * part_rows * warp_lanes + threadIdx.x % warp_lanes;
    unsigned *zeros = counter + warp * digits / 2;
    uint16_t *own = (uint16_t *)zeros;
    for (unsigned i = threadIdx.x % warp_lanes; i < digits / 2; i += warp_lanes)
        zeros[i] = 0;
    __syncwarp();
    unsigned digit_of[part_rows], place[part_rows];
    E e[part_rows];
#pragma unroll
    for (unsigned k = 0; k < part_rows; k++)
        if (begin + k * warp_lanes < present)
            digit_of[k] = digit(begin + k * warp_lanes);
        else
            digit_of[k] = 0;
#pragma unroll
    for (unsigned k = 0; k < part_rows; k++)
        if (begin + k * warp_lanes < present)
            e[k] = element(begin + k * warp_lanes);
#pragma unroll
    for (unsigned k = 0; k < part_rows; k++)
        place[k] = rank_in_warp(own, digit_of[k], begin + k * warp_lanes < present);
    __syncthreads();
    order_tile<digits>(counter, offset, first);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < part_rows; k++)
        place[k] += own[digit_of[k]];
    __syncthreads(); /* the counters are no longer needed */
    E *staged = (E *)memory;
    uint16_t *staged_digit = (uint16_t *)(staged + part_tile);
#pragma unroll
    for (unsigned k = 0; k < part_rows; k++)
        if (begin + k * warp_lanes < present) {
            staged[place[k]] = e[k];
            staged_digit[place[k]] = (uint16_t)digit_of[k];
        }
    __syncthreads();
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < present; i += part_threads)
        put(offset[staged_digit[i]] + i, staged[i]);
}

/* Counts a chunk's digits: `before` gets what there is ahead of each of its tiles, `digits` counts
 * a tile; returns with the whole counts in shared memory at `count`. */
template <unsigned digits, typename Digit>
__device__ inline void count_chunk(unsigned *count, unsigned present, uint16_t *before, Digit digit)
{
    for (unsigned d = threadIdx.x; d < digits; d += part_threads)
        count[d] = 0;
    for (unsigned at = 0; at < part_chunk; at += part_tile, before += digits) {
        __syncthreads();
        for (unsigned d = threadIdx.x; d < digits; d += part_threads)
            before[d] = (uint16_t)count[d];
        if (at >= present)
            return;
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < part_rows; k++) {
            unsigned i = at + k * part_threads + threadIdx.x;
            if (i < present)
                atomicAdd(count + digit(i), 1);
        }
    }
    __syncthreads();
}

} // namespace
