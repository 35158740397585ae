/* cub/sum: the vendor's library, cub::DeviceReduce, for comparison.
 *
 * Order: CUB's own. It depends on the number of multiprocessors and on tuning tables, so that
 * only the bound for any order is known. CUB documents the same bits from run to run on one
 * device. */
#include "kernels/method/method.h"

const struct method cub_sum = {
    .name = "cub/sum",
    .summary = "NVIDIA's cub::DeviceReduce, as it comes with CUDA",
    .operation = &operation_sum,
    .vendor = true,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] =
                  FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(BF16) | IN(FP32),
                               [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
