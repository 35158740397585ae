/* cub/sum_run_to_run: cub::DeviceReduce at the determinism level run_to_run, which is the one that
 * it has without being asked, from the headers in ULPSCOPE_CCCL_DIR. (cub/sum is the CUDA
 * Toolkit's.)
 *
 * Order: CUB's own, from tuning tables and the number of multiprocessors: only the bound for any
 * order is known. Promise: CUB's documentation of cub::DeviceReduce, "Determinism" (CCCL 3.5): the
 * same tiles, folded in the same order, at every launch on the same GPU. */
#include "kernels/method/method.h"

const struct method cub_sum_run_to_run = {
    .name = "cub/sum_run_to_run",
    .summary = "NVIDIA's cub::DeviceReduce, run_to_run, from CCCL 3.1 or later",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] =
                  FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(BF16) | IN(FP32),
                               [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
