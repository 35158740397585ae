/* The load's kernel: reads, additions, atomic additions. */
#include <cuda_runtime.h>

#include "kernels/gpu/device_load.h"

namespace
{

constexpr unsigned threads = 256, reads = 64;

/* Neighbours read neighbours; each block begins where chance, a hash of its number, has it. */
__global__ void read_and_add(const float *data, size_t n, float *sinks)
{
    size_t at = blockIdx.x * (size_t)0x9e3779b97f4a7c15 >> 16;
    float sum = 0;
    for (unsigned i = 0; i < reads; i++)
        sum += data[(at + (size_t)i * threads + threadIdx.x) & (n - 1)];
    if (threadIdx.x % 8 == 0)
        atomicAdd(&sinks[threadIdx.x / 8 + (blockIdx.x & 32)], sum + 1);
}

} // namespace

int load_enqueue(const float *data, size_t n, float *sinks, unsigned blocks, void *stream)
{
    read_and_add<<<blocks, threads, 0, (cudaStream_t)stream>>>(data, n, sinks);
    return cudaGetLastError();
}
