/* cublas/asum: cublasSasum and cublasDasum, which add up magnitudes: the sum of the positive
 * elements, with 0 in place of the others, less that of the others' magnitudes, in the same way.
 * Where no element is negative, that is the asum of the input. (Its time holds the splitting.)
 *
 * Order: cuBLAS's own, not documented. To add 0 rounds nothing, so that the whole is an order of
 * n - 1 rounded additions, and the bound for any order holds of the algorithm; NVIDIA documents
 * none. Promise: as cublas/dot's. */
#include "kernels/method/method.h"

const struct method cublas_asum = {
    .name = "cublas/asum",
    .summary = "NVIDIA's cuBLAS: asum of the positive elements, less asum of the others",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP32] = IN(FP32), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
