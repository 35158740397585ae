/* cub/sum_segment: cub::DeviceSegmentedReduce with one segment that holds all elements. (Many
 * segments, a sum for each, would be another operation.)
 *
 * Order: CUB's own; a segment is one block's work, so that this is slow on long inputs. Only the
 * bound for any order is known. Promise: the documentation of cub::DeviceSegmentedReduce (CCCL 3.0
 * to 3.5): deterministic from run to run on one GPU. */
#include "kernels/method/method.h"

const struct method cub_sum_segment = {
    .name = "cub/sum_segment",
    .summary = "NVIDIA's cub::DeviceSegmentedReduce, one segment",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] =
                  FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(BF16) | IN(FP32),
                               [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
