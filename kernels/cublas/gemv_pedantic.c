/* cublas/gemv_pedantic: cublas/gemv and cublas/gemv_16 in the math mode CUBLAS_PEDANTIC_MATH:
 * the prescribed precision and standardized arithmetic in all phases of the calculation, for
 * robustness studies (cuBLAS's documentation, cublasMath_t), which the bound for any order takes
 * at its word.
 *
 * Order: not documented. Promise: as cublas/dot's. */
#include "kernels/method/method.h"

const struct method cublas_gemv_pedantic = {
    .name = "cublas/gemv_pedantic",
    .summary = "NVIDIA's cuBLAS: gemv with ones in pedantic math mode",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP16] = IN(FP32), [BF16] = IN(FP32), [FP32] = IN(FP32),
                                           [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
