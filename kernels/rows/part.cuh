/* What kernels that enclose sums of rows have in common: how they follow each other, and the end of
 * a part of a row. */
#pragma once

#include "kernels/blocks/exact.cuh"
#include "kernels/rows/plan.cuh"

namespace rows_exact_sum
{

typedef undecided<size_t> undecided_rows;

/* A kernel may be launched while the one before it on the stream ends, and waits for it there. */
__device__ inline void may_follow()
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
__device__ inline void wait_for_previous()
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Launches such a kernel. A cudaError_t. */
template <typename... Parameters, typename... Arguments>
int launch_early(void (*kernel)(Parameters...), unsigned grid, unsigned block, unsigned bytes,
                 cudaStream_t stream, Arguments... arguments)
{
    int device = 0, major = 0;
    int error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess)
        return error;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = major >= 9;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* The end of a part. By one lane. */
template <typename A>
__device__ inline void finish_part(const plan &p, const grained &g, size_t row, size_t piece,
                                   grained *part, A *out, undecided_rows *rest)
{
    if (p.parts > 1)
        part[matrix_at(row, piece, p.parts, p.stride)] = g;
    else
        decide(g.e.sum, g.e.error, most_off(g, p.additions), row, out, rest);
}

} // namespace rows_exact_sum
