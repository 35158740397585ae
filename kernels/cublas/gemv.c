/* cublas/gemv: cublasSgemv and cublasDgemv in the default math mode: the input as a row, times a
 * column of ones.
 *
 * Order: not documented. A product with 1 is exact, and CUBLAS_DEFAULT_MATH keeps at least the
 * digits and exponents of the formats (cuBLAS's documentation, cublasMath_t), so that the bound
 * is that for any order; NVIDIA documents none. Promise: as cublas/dot's. */
#include "kernels/method/method.h"

const struct method cublas_gemv = {
    .name = "cublas/gemv",
    .summary = "NVIDIA's cuBLAS: gemv with ones, in fp32 and fp64",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP32] = IN(FP32), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
