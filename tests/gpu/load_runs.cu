#include "tests/gpu/load_runs.h"

#include <cuda_runtime.h>

namespace
{

constexpr int threads = 1024;

__device__ uint64_t now_ns()
{
    uint64_t t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

__global__ void hold_place(uint64_t ns)
{
    uint64_t begin = now_ns();
    while (now_ns() - begin < ns)
        __nanosleep(1000);
}

} // namespace

int gpu_load_enqueue(unsigned spare, uint64_t ns, void *stream)
{
    int device = 0, multiprocessors = 0, blocks = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, hold_place, threads, 0);
    if (error != cudaSuccess)
        return error;
    unsigned places = (unsigned)(multiprocessors * blocks);
    unsigned taken = places > spare ? places - spare : 1;
    hold_place<<<taken, threads, 0, (cudaStream_t)stream>>>(ns);
    return cudaGetLastError();
}
