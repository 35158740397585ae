/* cublas/gemv_16: cublasHSSgemvStridedBatched and cublasTSSgemvStridedBatched, a batch of one,
 * in the default math mode: fp16 or bf16 as a row, times a column of ones, with a result in
 * fp32.
 *
 * Order: not documented, nor whether tensor cores add, which do not round to nearest
 * (cublas/gemm_16): there is no bound. Promise: as cublas/dot's. */
#include "kernels/method/method.h"

const struct method cublas_gemv_16 = {
    .name = "cublas/gemv_16",
    .summary = "NVIDIA's cuBLAS: gemv with ones on fp16 and bf16, in fp32",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP16] = IN(FP32), [BF16] = IN(FP32))},
    .addition = ADDITION_UNDOCUMENTED,
    .bound = THEOREM_NONE,
};
