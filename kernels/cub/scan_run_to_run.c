/* cub/scan_run_to_run: the vendor's deterministic scan, cub::DeviceScan at the determinism level
 * run_to_run, which came with CCCL 3.5, for additions in fp32 and fp64.
 *
 * Order: CUB's own, fixed for one GPU: only the bound for any order is known. Promise: CUB's
 * documentation of cub::DeviceScan, "Determinism" (CCCL 3.5): with cuda::std::plus on
 * floating-point types, a stable reduction order, reproducible across runs on the same GPU. (It has
 * no gpu_to_gpu for them, and not_guaranteed is what cub/scan has.) */
#include "kernels/method/method.h"

const struct method cub_scan_run_to_run = {
    .name = "cub/scan_run_to_run",
    .summary = "NVIDIA's deterministic cub::DeviceScan, from CCCL 3.5 or later",
    .operation = &operation_scan,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP16] = IN(FP32), [BF16] = IN(FP32),
                                           [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
