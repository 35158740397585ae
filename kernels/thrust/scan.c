/* thrust/scan: thrust::inclusive_scan and thrust::exclusive_scan, as they come with CUDA.
 *
 * Order: that of cub::DeviceScan, which they call: timing decides. Promise: none; the documentation
 * of thrust::inclusive_scan (CCCL 3.0) says that floating-point results may vary from run to run.
 * Only the bound for any order is known. */
#include "kernels/method/method.h"

const struct method thrust_scan = {
    .name = "thrust/scan",
    .summary = "NVIDIA's thrust::inclusive_scan and exclusive_scan, as they come with CUDA",
    .operation = &operation_scan,
    .promise = PROMISE_NONE,
    .pairs = {0, FORMAT_PAIR(FP16, FP16) | FORMAT_PAIR(BF16, BF16) | FORMAT_PAIR(FP32, FP32) |
                     FORMAT_PAIR(FP64, FP64) | FORMAT_PAIR(FP16, FP32) | FORMAT_PAIR(BF16, FP32) |
                     FORMAT_PAIR(FP32, FP64)},
    .bound = THEOREM_ANY_ORDER,
};
