/* The format pairs that CUB and Thrust are asked for: those whose elements become the accumulator's
 * type exactly. ULPSCOPE_FEW_PAIRS: only the first so many of fp32/fp32, fp64/fp64 and bf16/fp32;
 * each pair takes a compiler seconds (experiments/releases/release.cu). */
#pragma once

#include "kernels/device/device.cuh"

namespace
{

template <typename A> struct rounded_addition {
    __device__ A operator()(A a, A b) const { return add(a, b); }
};

} // namespace

/* Each calls `use` with values of the types S and A of a task. Accumulators of 2 bytes, */
template <typename Use> int with_narrow_pair(const struct cuda_task *t, Use use)
{
#ifdef ULPSCOPE_FEW_PAIRS
    (void)t, (void)use;
    return cudaErrorInvalidValue;
#else
    switch (FORMATS * t->of->in.format + t->accumulator) {
    case FORMATS *FP16 + FP16:
        return use(__half(), __half());
    case FORMATS *BF16 + BF16:
        return use(__nv_bfloat16(), __nv_bfloat16());
    default:
        return cudaErrorInvalidValue;
    }
#endif
}

/* wider ones, */
template <typename Use> int with_wide_pair(const struct cuda_task *t, Use use)
{
    switch (FORMATS * t->of->in.format + t->accumulator) {
    case FORMATS *FP32 + FP32:
        return use(float(), float());
    case FORMATS *FP64 + FP64:
        return use(double(), double());
#if !defined ULPSCOPE_FEW_PAIRS || ULPSCOPE_FEW_PAIRS > 2
    case FORMATS *BF16 + FP32:
        return use(__nv_bfloat16(), float());
#endif
#ifndef ULPSCOPE_FEW_PAIRS
    case FORMATS *FP16 + FP32:
        return use(__half(), float());
    case FORMATS *FP32 + FP64:
        return use(float(), double());
#endif
    default:
        return cudaErrorInvalidValue;
    }
}

/* and any. */
template <typename Use> int with_pair(const struct cuda_task *t, Use use)
{
    bool narrow = t->accumulator == FP16 || t->accumulator == BF16;
    return narrow ? with_narrow_pair(t, use) : with_wide_pair(t, use);
}
