/* cub/sum_not_guaranteed_fallback: cub::DeviceReduce, asked for the determinism level
 * not_guaranteed with accumulators of 2 bytes: cub/sum_not_guaranteed where CUB does not take its
 * path with atomic additions, but that of run_to_run.
 *
 * Promise: none, since none was asked for. That CUB falls back is documented with
 * cub::DeviceReduce, "Determinism" (CCCL 3.5); so the bits should be those of
 * cub/sum_run_to_run. */
#include "kernels/method/method.h"

const struct method cub_sum_not_guaranteed_fallback = {
    .name = "cub/sum_not_guaranteed_fallback",
    .summary = "NVIDIA's cub::DeviceReduce, not_guaranteed, where it falls back to run_to_run",
    .operation = &operation_sum,
    .promise = PROMISE_NONE,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP16] = IN(FP16), [BF16] = IN(BF16))},
    .bound = THEOREM_ANY_ORDER,
};
