/* cub/sum_not_guaranteed: cub::DeviceReduce at the determinism level not_guaranteed, which came
 * with CCCL 3.2: one pass, whose blocks add their sums to the result by atomic additions.
 *
 * Order: that in which blocks finish. Nothing is promised; only the bound for any order is known,
 * with what flushing subnormals may cost.
 *
 * CUB's documentation of cub::DeviceReduce, "Determinism" (CCCL 3.5): it takes this path for
 * accumulators of 4 bytes and more, which are those offered here; for shorter ones it falls back
 * to run_to_run without a word, which is cub/sum_not_guaranteed_fallback: thus a row's method says
 * which path ran. */
#include "kernels/method/method.h"

const struct method cub_sum_not_guaranteed = {
    .name = "cub/sum_not_guaranteed",
    .summary =
        "NVIDIA's cub::DeviceReduce, not_guaranteed: atomic additions; from CCCL 3.2 or later",
    .operation = &operation_sum,
    .promise = PROMISE_NONE,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP16] = IN(FP32), [BF16] = IN(FP32),
                                           [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .atomic = true,
    .bound = THEOREM_ANY_ORDER,
};
