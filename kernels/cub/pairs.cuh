/* The format pairs that CUB and Thrust are asked for: those whose elements become the accumulator's
 * type exactly. */
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
    switch (FORMATS * t->of->in.format + t->accumulator) {
    case FORMATS *FP16 + FP16:
        return use(__half(), __half());
    case FORMATS *BF16 + BF16:
        return use(__nv_bfloat16(), __nv_bfloat16());
    default:
        return cudaErrorInvalidValue;
    }
}

/* wider ones, */
template <typename Use> int with_wide_pair(const struct cuda_task *t, Use use)
{
    switch (FORMATS * t->of->in.format + t->accumulator) {
    case FORMATS *FP32 + FP32:
        return use(float(), float());
    case FORMATS *FP64 + FP64:
        return use(double(), double());
    case FORMATS *FP16 + FP32:
        return use(__half(), float());
    case FORMATS *BF16 + FP32:
        return use(__nv_bfloat16(), float());
    case FORMATS *FP32 + FP64:
        return use(float(), double());
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
