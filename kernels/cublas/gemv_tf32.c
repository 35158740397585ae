/* cublas/gemv_tf32: cublasSgemv in the math mode CUBLAS_TF32_TENSOR_OP_MATH, which allows
 * elements to be rounded to TF32, 11 digits, and tensor cores to add (cuBLAS's documentation,
 * cublasMath_t); whether cuBLAS does either, it does not say: there is no bound. Promise: as
 * cublas/dot's. */
#include "kernels/method/method.h"

const struct method cublas_gemv_tf32 = {
    .name = "cublas/gemv_tf32",
    .summary = "NVIDIA's cuBLAS: gemv with ones on fp32, allowed to round elements to TF32",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP32] = IN(FP32))},
    .addition = ADDITION_UNDOCUMENTED,
    .bound = THEOREM_NONE,
};
