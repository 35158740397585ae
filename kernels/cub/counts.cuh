/* Does cub::DeviceHistogram count right? It adds ones to whole numbers, so that any order of
 * additions has one result, and it is no method of ours: where elements have weights, which are to
 * be added, it cannot be asked. */
#pragma once

#include <cstdlib>

#include <cub/device/device_histogram.cuh>

#include "kernels/device/device.cuh"

namespace counts
{

constexpr unsigned threads = 256;

/* The key of element i: half of all keys go to a 16th of the bins. */
__host__ __device__ inline uint32_t key_of(uint32_t i, uint32_t bins)
{
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
    uint32_t few = x & 1 ? (bins + 15) / 16 : bins;
    return (uint32_t)((x >> 32) % few);
}

__global__ void fill_keys(uint32_t *keys, uint32_t n, uint32_t bins)
{
    uint32_t i = blockIdx.x * threads + threadIdx.x;
    if (i < n)
        keys[i] = key_of(i, bins);
}

inline cudaError_t count(void *storage, size_t *bytes, const uint32_t *keys, unsigned *found,
                         uint32_t n, uint32_t bins)
{
    return cub::DeviceHistogram::HistogramEven(storage, *bytes, keys, found, (int)bins + 1,
                                               (uint32_t)0, bins, (int)n);
}

/* Device and host memory, each freed where it was taken. */
struct memory {
    uint32_t *keys;
    unsigned *found, *host, *expected;
    void *storage;
    ~memory()
    {
        cudaFree(keys);
        cudaFree(found);
        cudaFree(storage);
        free(host);
        free(expected);
    }
};

inline cudaError_t compare(memory *m, uint32_t n, uint32_t bins, unsigned runs, size_t *wrong)
{
    size_t bytes = 0, all = bins * sizeof *m->found;
    cudaError_t error = count(NULL, &bytes, NULL, NULL, n, bins);
    m->host = (unsigned *)malloc(all);
    m->expected = (unsigned *)calloc(bins, sizeof *m->expected);
    if (error == cudaSuccess && (!m->host || !m->expected))
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        error = cudaMalloc(&m->keys, n * sizeof *m->keys);
    if (error == cudaSuccess)
        error = cudaMalloc(&m->found, all);
    if (error == cudaSuccess)
        error = cudaMalloc(&m->storage, bytes);
    if (error != cudaSuccess)
        return error;
    fill_keys<<<(n + threads - 1) / threads, threads>>>(m->keys, n, bins);
    for (uint32_t i = 0; i < n; i++)
        m->expected[key_of(i, bins)]++;
    error = cudaGetLastError();
    for (unsigned run = 0; run < runs && error == cudaSuccess; run++) {
        error = cudaMemset(m->found, 0xff, all);
        if (error == cudaSuccess)
            error = count(m->storage, &bytes, m->keys, m->found, n, bins);
        if (error == cudaSuccess)
            error = cudaMemcpy(m->host, m->found, all, cudaMemcpyDeviceToHost);
        for (uint32_t b = 0; b < bins && error == cudaSuccess; b++)
            *wrong += m->host[b] != m->expected[b];
    }
    return error;
}

} // namespace counts

/* Counts n keys, 1 .. INT32_MAX, of so many bins, so many times: *wrong counts, of runs times bins,
 * are not what they are on the host. A cudaError_t. */
extern "C" __attribute__((visibility("default"))) int
ulpscope_release_counts(uint32_t n, uint32_t bins, unsigned runs, size_t *wrong)
{
    counts::memory m = {};
    *wrong = 0;
    return counts::compare(&m, n, bins, runs, wrong);
}
