/* The yardstick: reads an array as fast as the device can, and does nothing else with it.
 *
 * The bits are combined by exclusive or, so that no load can be left out, and written only where
 * they come out as one value in 2^32. */
#include "kernels/device/device.cuh"

namespace
{

constexpr unsigned threads = 512, loads = 8; /* 16 bytes each, on their way at once */
constexpr size_t block_pieces = threads * loads;

__device__ void keep(unsigned bits, void *sink)
{
    if (bits == 0x9e3779b9)
        *(unsigned *)sink = bits;
}

__global__ __launch_bounds__(threads) void read_pieces(const uint4 *x, size_t pieces, void *sink)
{
    uint4 bits = {};
    size_t first = blockIdx.x * block_pieces + threadIdx.x;
    uint4 loaded[loads];
#pragma unroll
    for (unsigned i = 0; i < loads; i++)
        loaded[i] = first + i * threads < pieces ? __ldg(x + first + i * threads) : uint4{};
#pragma unroll
    for (unsigned i = 0; i < loads; i++)
        bits = {bits.x ^ loaded[i].x, bits.y ^ loaded[i].y, bits.z ^ loaded[i].z,
                bits.w ^ loaded[i].w};
    keep(bits.x ^ bits.y ^ bits.z ^ bits.w, sink);
}

/* What the pieces leave over at either end: fewer than 32 bytes. */
__global__ void read_bytes(const unsigned char *x, size_t head, size_t tail_begin, size_t bytes,
                           void *sink)
{
    size_t i = threadIdx.x;
    unsigned bits = i < head ? x[i] : 0;
    if (tail_begin + i < bytes)
        bits ^= x[tail_begin + i];
    keep(bits, sink);
}

} // namespace

int raw_read_enqueue(const void *data, size_t bytes, void *sink, void *stream)
{
    size_t misaligned = (uintptr_t)data % sizeof(uint4);
    size_t head = misaligned ? sizeof(uint4) - misaligned : 0;
    head = head < bytes ? head : bytes;
    size_t pieces = (bytes - head) / sizeof(uint4), tail = head + pieces * sizeof(uint4);
    const char *x = (const char *)data;
    if (pieces > 0)
        read_pieces<<<grid_for(groups_of(pieces, block_pieces)), threads, 0,
                      (cudaStream_t)stream>>>((const uint4 *)(x + head), pieces, sink);
    if (head > 0 || tail < bytes)
        read_bytes<<<1, warp_lanes, 0, (cudaStream_t)stream>>>((const unsigned char *)data, head,
                                                               tail, bytes, sink);
    return cudaGetLastError();
}
