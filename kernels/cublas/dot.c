/* cublas/dot: cublasDotEx of the input with ones, in fp32 and fp64.
 *
 * Order: cuBLAS's own, not documented. A product with 1 is exact, so that the bound for any
 * order of rounded additions holds of the algorithm, fused multiply-adds included; NVIDIA
 * documents no bound, and not what becomes of subnormals.
 *
 * Promise: cuBLAS's documentation, "Results Reproducibility" (13.0): the same bits at every run,
 * for one version of the toolkit, on GPUs of the same architecture and number of
 * multiprocessors, as long as only one stream is active or each has a workspace of its own
 * (cublasSetWorkspace), as here; atomics are off (cublasSetAtomicsMode). */
#include "kernels/method/method.h"

const struct method cublas_dot = {
    .name = "cublas/dot",
    .summary = "NVIDIA's cuBLAS: dot product with ones, in fp32 and fp64",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP32] = IN(FP32), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
