/* cublas/gemm: cublasGemmEx with CUBLAS_COMPUTE_32F and CUBLAS_COMPUTE_64F in the default math
 * mode: the input as a row, times a matrix of 8 columns of ones; the sum is the first of 8 equal
 * results.
 *
 * Order: not documented. A product with 1 is exact, and the default keeps at least the digits
 * and exponents of the formats (cuBLAS's documentation, cublasMath_t), so that the bound is that
 * for any order; NVIDIA documents none. Tensor cores that multiply fp64 round to nearest (Fasi,
 * Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA tensor cores, 2021, on the A100).
 * Promise: as cublas/dot's. */
#include "kernels/method/method.h"

const struct method cublas_gemm = {
    .name = "cublas/gemm",
    .summary = "NVIDIA's cuBLAS: gemm with ones, in fp32 and fp64",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP32] = IN(FP32), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
