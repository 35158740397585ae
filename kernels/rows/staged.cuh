/* Short rows that lie near each other, by a lane each, at the speed of memory: a warp copies
 * consecutive rows to shared memory, 16 bytes at a time, while it takes those that it copied
 * before.
 *
 * Rows begin where lanes might contend for banks. So lanes take the elements of their rows in
 * different orders: element k xor m for k, which is another one of the row while m is less than the
 * largest power of two that divides the length. Folds by halving keep their bits, since additions
 * commute. */
#pragma once

#include <cuda_pipeline.h>

#include "kernels/device/device.cuh"
#include "kernels/method/matrix.h"

namespace rows_staged
{

constexpr unsigned near = 32;          /* the least stride that is not */
constexpr unsigned least_bytes = 4096; /* that are on their way to one of a warp's two places */
constexpr unsigned most_bytes = 16384; /* likewise; and of all warps of a block */

struct staging {
    size_t rows;
    unsigned length, stride, chunk; /* rows of a place: whole batches of `stride` */
    unsigned vectors;               /* of a place */
    unsigned warps, grid;           /* of a block; blocks */

    unsigned bytes() const { return 2 * warps * vectors * (unsigned)sizeof(uint4); }
};

/* The rows that the lanes of a warp, or a batch, have. */
inline unsigned least_chunk(size_t stride)
{
    return stride > 1 ? (unsigned)stride : warp_lanes;
}

/* Can rows be staged? */
template <typename S> inline bool are_near(size_t length, size_t stride)
{
    return stride < near && length * least_chunk(stride) * sizeof(S) <= most_bytes;
}

template <typename S> staging staging_of(size_t rows, unsigned length, unsigned stride)
{
    staging p = {rows, length, stride, 0, 0, 0, 0};
    unsigned row = length * (unsigned)sizeof(S), least = least_chunk(stride);
    p.chunk = least * max(least_bytes / (row * least), 1u);
    p.vectors = (unsigned)groups_of(p.chunk * row, sizeof(uint4)) + 1;
    p.warps = most_bytes / max(least_bytes, p.chunk * row);
    size_t chunks = groups_of(rows, p.chunk);
    size_t turns = max((size_t)1, min((size_t)8, chunks / 16384)); /* of a warp */
    p.grid = grid_for(groups_of(chunks, turns * p.warps));
    return p;
}

/* Copies elements begin .. end-1 of an array of n, to where they lie like their addresses, by a
 * warp. Only elements of the array are read. */
template <typename S>
__device__ inline void fetch(uint4 *to, const S *x, size_t n, size_t begin, size_t end)
{
    unsigned off = (unsigned)((uintptr_t)(x + begin) % sizeof(uint4));
    const char *from = (const char *)(x + begin) - off;
    unsigned count = (unsigned)groups_of(off + (end - begin) * sizeof(S), sizeof(uint4));
    for (unsigned v = threadIdx.x % warp_lanes; v < count; v += warp_lanes) {
        const char *at = from + v * sizeof(uint4);
        if (at >= (const char *)x && at + sizeof(uint4) <= (const char *)(x + n)) {
            __pipeline_memcpy_async(to + v, at, sizeof(uint4));
            continue;
        }
        for (unsigned i = 0; i < sizeof(uint4) / sizeof(S); i++) {
            const S *element = (const S *)at + i;
            if (element >= x && element < x + n)
                ((S *)(to + v))[i] = *element;
        }
    }
}

/* take(row, m, r) for each row r of a lane, whose elements are `stride` apart. */
template <typename S, typename Take>
__device__ inline void each_staged(const staging &p, const S *x, Take take)
{
    extern __shared__ uint4 staged[];
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes, turn = 0;
    uint4 *place = staged + 2 * warp * p.vectors;
    constexpr unsigned word = sizeof(S) < 4 ? 4 / sizeof(S) : 1; /* elements of a bank */
    constexpr unsigned banks = sizeof(S) > 4 ? 16 : 32;
    unsigned step = p.length * p.stride, even = p.length & (0u - p.length);
    unsigned again = step % word ? 1 : step / word & (0u - step / word);
    again = banks / min(again, banks); /* batches until one begins in the same bank */
    auto get = [&](size_t first, unsigned to) {
        if (first < p.rows)
            fetch(place + to * p.vectors, x, p.rows * p.length, first * p.length,
                  min(p.rows, first + p.chunk) * p.length);
        __pipeline_commit();
    };
    size_t all = (size_t)gridDim.x * p.warps * p.chunk;
    size_t first = ((size_t)blockIdx.x * p.warps + warp) * p.chunk;
    get(first, 0);
    for (; first < p.rows; first += all, turn = !turn) {
        get(first + all, !turn);
        __pipeline_wait_prior(1);
        __syncwarp();
        unsigned present = (unsigned)min((size_t)p.chunk, p.rows - first);
        const S *rows = (const S *)((const char *)(place + turn * p.vectors) +
                                    (uintptr_t)(x + first * p.length) % sizeof(uint4));
        for (unsigned q = lane; q < present; q += warp_lanes) {
            unsigned batch = p.stride > 1 ? q / p.stride : q;
            take(rows + batch * step + (q - batch * p.stride), batch / again * word & (even - 1),
                 first + q);
        }
        __syncwarp();
    }
}

/* Shared memory gets as much of the cache as it can: places for as many warps as there is room for;
 * and no new division where a kernel follows that needs as much. A cudaError_t. */
template <typename Kernel> inline int prefer_shared(Kernel kernel)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                cudaSharedmemCarveoutMaxShared);
}

} // namespace rows_staged
