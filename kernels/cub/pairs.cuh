/* The format pairs of the CUDA Toolkit's CUB and Thrust, which convert elements to the
 * accumulator's type themselves, exactly for these pairs. */
#ifndef ULPSCOPE_CUB_PAIRS_CUH
#define ULPSCOPE_CUB_PAIRS_CUH

#include "kernels/device.cuh"

namespace
{

template <typename A> struct rounded_addition {
    __device__ A operator()(A a, A b) const { return add(a, b); }
};

/* Calls `use` with values of the types S and A of a task. */
template <typename Use> int with_pair(const struct cuda_task *t, Use use)
{
    switch (FORMATS * t->storage + t->accumulator) {
    case FORMATS *FP16 + FP16:
        return use(__half(), __half());
    case FORMATS *BF16 + BF16:
        return use(__nv_bfloat16(), __nv_bfloat16());
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

} // namespace

#endif
