/* cublas/gemm_pedantic: cublasGemmEx with CUBLAS_COMPUTE_16F_PEDANTIC, _32F_PEDANTIC and
 * _64F_PEDANTIC: the input as a row, times a matrix of 8 columns of ones; the sum is the first
 * of 8 equal results.
 *
 * Order: not documented. Pedantic is the prescribed precision and standardized arithmetic in all
 * phases of the calculation, for robustness studies (cuBLAS's documentation,
 * cublasComputeType_t), which the bound for any order takes at its word. Promise: as
 * cublas/dot's. */
#include "kernels/method/method.h"

const struct method cublas_gemm_pedantic = {
    .name = "cublas/gemm_pedantic",
    .summary = "NVIDIA's cuBLAS: gemm with ones in pedantic math mode",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(FP32),
                                           [FP32] = IN(FP32), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
