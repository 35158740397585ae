/* cublas/gemm_16: cublasGemmEx on fp16 and bf16 with CUBLAS_COMPUTE_32F, and on fp16 with
 * CUBLAS_COMPUTE_16F, in the default math mode, on tensor cores wherever cuBLAS can: the input
 * as a row, times a matrix of 8 columns of ones; the sum is the first of 8 equal results.
 *
 * Order: not documented; each step adds several products at once. There is no bound: tensor
 * cores do not round to nearest but cut off, on a V100, T4 and A100 (Fasi, Higham, Mikaitis and
 * Pranesh, Numerical behavior of NVIDIA tensor cores, 2021), each generation in its own way
 * (Khattak and Mikaitis, Accurate models of NVIDIA tensor cores, 2025, on the H100 too), and
 * NVIDIA documents nothing of it. Promise: as cublas/dot's. */
#include "kernels/method/method.h"

const struct method cublas_gemm_16 = {
    .name = "cublas/gemm_16",
    .summary = "NVIDIA's cuBLAS: gemm with ones on fp16 and bf16, for tensor cores",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(FP32))},
    .addition = ADDITION_UNDOCUMENTED,
    .bound = THEOREM_NONE,
};
