/* Does the sum that is deterministic from GPU to GPU stay within its memory? */
#pragma once

#include <thrust/iterator/constant_iterator.h>

#include "kernels/cub/required.cuh"

namespace bounds
{

inline int sum(required::one_block memory, double *out, size_t n)
{
    struct cuda_task t = {};
    return cub::DeviceReduce::Reduce(
        thrust::constant_iterator<double>(1), out, (required::count)n, cuda::std::plus<double>(),
        0.0, required::environment<cuda::execution::determinism::gpu_to_gpu_t>(&t, memory));
}

} // namespace bounds

/* The sum of n ones, which are no array, so that n may be large. CUB's memory is an allocation of
 * its own, of as many bytes as it asks for, so that compute-sanitizer sees what is written beyond
 * it. A cudaError_t. */
extern "C" __attribute__((visibility("default"))) int ulpscope_release_ones(size_t n, double *found)
{
    size_t bytes = 0;
    void *memory = NULL;
    double *out = NULL;
    (void)bounds::sum({NULL, &bytes}, NULL, n);
    cudaError_t error = cudaMalloc(&out, sizeof *out);
    if (error == cudaSuccess)
        error = cudaMalloc(&memory, bytes);
    if (error == cudaSuccess)
        error = (cudaError_t)bounds::sum({memory, &bytes}, out, n);
    if (error == cudaSuccess)
        error = cudaMemcpy(found, out, sizeof *found, cudaMemcpyDeviceToHost);
    cudaFree(memory);
    cudaFree(out);
    return error;
}
