/* cub/reduce_by_key: cub::DeviceRadixSort::SortPairs, then cub::DeviceReduce::ReduceByKey: how
 * scatter-adds are made of CUB's calls.
 *
 * Order: the sort is stable. Then CUB's own, a single pass with decoupled look-back, as in
 * cub/sum_by_key: which sums are added to which depends on timing, so that only the bound for any
 * order is known. The documentation of cub::DeviceReduce::ReduceByKey (CCCL 3.0 to 3.5) says all
 * the same that it is deterministic from run to run on one GPU; that is the promise here, to be
 * kept or refuted. */
#include "kernels/method/method.h"

const struct method cub_reduce_by_key = {
    .name = "cub/reduce_by_key",
    .summary = "NVIDIA's cub::DeviceRadixSort, then cub::DeviceReduce::ReduceByKey",
    .operation = &operation_scatter,
    .vendor = true,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] =
                  FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(BF16) | IN(FP32),
                               [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
