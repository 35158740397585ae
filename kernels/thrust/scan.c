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
    .pairs = {[DEVICE_CUDA] =
                  FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(BF16) | IN(FP32),
                               [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
