/* cub/segments_by_key: cub::DeviceRadixSort::SortPairs, then cub::DeviceSegmentedReduce with a
 * segment for each key: the other way to make scatter-adds of CUB's calls, beside
 * cub/reduce_by_key.
 *
 * Order: the sort is stable, so that a key's elements stand as in the input. Then CUB's own; a
 * segment is one block's work. Only the bound for any order is known. Promise: the documentation of
 * cub::DeviceSegmentedReduce (CCCL 3.0 to 3.5) says that it is deterministic from run to run on one
 * GPU; sorting adds nothing. */
#include "kernels/method/method.h"

const struct method cub_segments_by_key = {
    .name = "cub/segments_by_key",
    .summary = "NVIDIA's cub::DeviceRadixSort, then cub::DeviceSegmentedReduce",
    .operation = &operation_scatter,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] =
                  FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(BF16) | IN(FP32),
                               [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
