/* cub/rows: cub::DeviceSegmentedReduce, a segment for each row.
 *
 * Order: CUB's own; a segment is one block's work. Only the bound for any order is known. Promise:
 * the documentation of cub::DeviceSegmentedReduce (CCCL 3.0 to 3.5): deterministic from run to run
 * on one GPU. That a row's sum does not depend on the other rows it does not say. */
#include "kernels/method/method.h"

const struct method cub_rows = {
    .name = "cub/rows",
    .summary = "NVIDIA's cub::DeviceSegmentedReduce, a segment for each row",
    .operation = &operation_rows,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] =
                  FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(BF16) | IN(FP32),
                               [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
