/* cublas/gemm_tf32: cublasGemmEx with CUBLAS_COMPUTE_32F_FAST_TF32, which allows elements to be
 * rounded to TF32, 11 digits, and tensor cores to add (cuBLAS's documentation,
 * cublasComputeType_t): the input as a row, times a matrix of 8 columns of ones; the sum is the
 * first of 8 equal results. How elements are rounded is not documented, nor how tensor cores add
 * (cublas/gemm_16): there is no bound. Promise: as cublas/dot's. */
#include "kernels/method/method.h"

const struct method cublas_gemm_tf32 = {
    .name = "cublas/gemm_tf32",
    .summary = "NVIDIA's cuBLAS: gemm with ones on fp32, elements rounded to TF32",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP32] = IN(FP32))},
    .addition = ADDITION_UNDOCUMENTED,
    .bound = THEOREM_NONE,
};
