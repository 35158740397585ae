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
    .pairs = {0, FORMAT_PAIR(FP16, FP16) | FORMAT_PAIR(BF16, BF16) | FORMAT_PAIR(FP32, FP32) |
                     FORMAT_PAIR(FP64, FP64) | FORMAT_PAIR(FP16, FP32) | FORMAT_PAIR(BF16, FP32) |
                     FORMAT_PAIR(FP32, FP64)},
    .bound = THEOREM_ANY_ORDER,
};
