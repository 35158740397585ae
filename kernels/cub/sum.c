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
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {0, FORMAT_PAIR(FP16, FP16) | FORMAT_PAIR(BF16, BF16) | FORMAT_PAIR(FP32, FP32) |
                     FORMAT_PAIR(FP64, FP64) | FORMAT_PAIR(FP16, FP32) | FORMAT_PAIR(BF16, FP32) |
                     FORMAT_PAIR(FP32, FP64)},
    .bound = THEOREM_ANY_ORDER,
};
