/* The hash of whole outputs, where they lie.
 *
 * It is a sum of integers, so that how elements are shared among threads does not matter. A thread
 * loads 16 bytes at a time; each block adds its part to the hash of its array, of which a row of
 * the grid has one each. */
#include "kernels/device/device.cuh"
#include "reference/base/hash.h"

namespace
{

constexpr unsigned threads = 256, warps = threads / warp_lanes, loads = 4;
constexpr size_t block_pieces = threads * loads;
constexpr unsigned blocks_most = 2048; /* to an array: what keeps any device busy, and no more */

/* Adds the elements of a piece of 16 bytes, the first of which is element i. */
template <typename W>
__device__ void add_piece(hash128 *h, size_t i, const uint4 &piece, uint64_t last)
{
    W element[sizeof piece / sizeof(W)];
    memcpy(element, &piece, sizeof piece);
#pragma unroll
    for (unsigned k = 0; k < sizeof piece / sizeof(W); k++)
        hash_add(h, i + k, hash_canonical(element[k], last));
}

__device__ uint64_t warp_total(uint64_t v)
{
    for (unsigned stride = warp_lanes / 2; stride > 0; stride /= 2)
        v += __shfl_xor_sync(whole_warp, v, stride);
    return v;
}

/* Adds what the threads of a block hold. */
__device__ void add_block(hash128 h, uint64_t *hash)
{
    __shared__ uint64_t part[2][warps];
    for (unsigned word = 0; word < 2; word++) {
        uint64_t v = warp_total(h.word[word]);
        if (threadIdx.x % warp_lanes == 0)
            part[word][threadIdx.x / warp_lanes] = v;
    }
    __syncthreads();
    if (threadIdx.x >= 2)
        return;
    uint64_t total = 0;
    for (unsigned w = 0; w < warps; w++)
        total += part[threadIdx.x][w];
    atomicAdd((unsigned long long *)hash + threadIdx.x, (unsigned long long)total);
}

/* W: an unsigned integer as wide as an element. */
template <typename W>
__global__ __launch_bounds__(threads) void hash_arrays(const char *first, size_t stride, size_t n,
                                                       uint64_t last, uint64_t *hash)
{
    constexpr size_t to_a_piece = sizeof(uint4) / sizeof(W);
    const char *x = first + blockIdx.y * stride;
    size_t pieces = n / to_a_piece;
    hash128 h = {};
    for (size_t begin = blockIdx.x * block_pieces; begin < pieces;
         begin += gridDim.x * block_pieces) {
        uint4 piece[loads];
#pragma unroll
        for (unsigned k = 0; k < loads; k++) {
            size_t at = begin + k * threads + threadIdx.x;
            piece[k] = at < pieces ? __ldcs((const uint4 *)x + at) : uint4{};
        }
#pragma unroll
        for (unsigned k = 0; k < loads; k++) {
            size_t at = begin + k * threads + threadIdx.x;
            if (at < pieces)
                add_piece<W>(&h, at * to_a_piece, piece[k], last);
        }
    }
    size_t i = pieces * to_a_piece + threadIdx.x;
    if (blockIdx.x == 0 && i < n)
        hash_add(&h, i, hash_canonical(((const W *)x)[i], last));
    add_block(h, hash + 2 * blockIdx.y);
}

template <typename W>
int launch(const void *first, size_t stride, size_t arrays, size_t n, uint64_t last, uint64_t *hash,
           cudaStream_t stream)
{
    size_t blocks = groups_of(n, block_pieces * (sizeof(uint4) / sizeof(W)));
    dim3 grid(blocks < 1             ? 1
              : blocks < blocks_most ? (unsigned)blocks
                                     : blocks_most,
              (unsigned)arrays);
    hash_arrays<W><<<grid, threads, 0, stream>>>((const char *)first, stride, n, last, hash);
    return cudaGetLastError();
}

} // namespace

int hash_enqueue(const void *first, size_t stride, size_t arrays, enum format f, size_t n,
                 uint64_t *hash, void *on)
{
    cudaStream_t stream = (cudaStream_t)on;
    uint64_t last = format_facts[f].last;
    cudaError_t error = cudaMemsetAsync(hash, 0, arrays * sizeof(hash128), stream);
    if (error != cudaSuccess)
        return error;
    switch (f) {
    case FP16:
    case BF16:
        return launch<uint16_t>(first, stride, arrays, n, last, hash, stream);
    case FP32:
        return launch<uint32_t>(first, stride, arrays, n, last, hash, stream);
    case FP64:
        return launch<uint64_t>(first, stride, arrays, n, last, hash, stream);
    case E4M3:
    case E5M2:
        return launch<uint8_t>(first, stride, arrays, n, last, hash, stream);
    }
    return cudaErrorInvalidValue;
}
