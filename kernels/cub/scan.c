/* cub/scan: the vendor's library, cub::DeviceScan, for comparison.
 *
 * Order: CUB's own, a single pass with decoupled look-back. Which sums are added to which depends
 * on how far each tile is when another looks, and so on timing. CUB documents that floating-point
 * results may vary from run to run, and they do: on an H200, 300 runs on 2^28 elements of fp32 gave
 * 59 different outputs. So nothing is promised, and only the bound for any order is known. */
#include "kernels/method/method.h"

const struct method cub_scan = {
    .name = "cub/scan",
    .summary = "NVIDIA's cub::DeviceScan, as it comes with CUDA",
    .operation = &operation_scan,
    .vendor = true,
    .promise = PROMISE_NONE,
    .pairs = {[DEVICE_CUDA] =
                  FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(BF16) | IN(FP32),
                               [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
