/* thrust/sum: thrust::reduce, as it comes with CUDA.
 *
 * Order: that of cub::DeviceReduce, which it calls; only the bound for any order is known. The
 * documentation of thrust::reduce (CCCL 3.0) says nothing of reproducibility but that the order of
 * summation is not guaranteed, so nothing is promised, although CUB below it promises run_to_run.
 *
 * It returns the result to the host and waits for it; its time holds that. */
#include "kernels/method/method.h"

const struct method thrust_sum = {
    .name = "thrust/sum",
    .summary = "NVIDIA's thrust::reduce, as it comes with CUDA",
    .operation = &operation_sum,
    .promise = PROMISE_NONE,
    .pairs = {[DEVICE_CUDA] =
                  FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(BF16) | IN(FP32),
                               [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .bound = THEOREM_ANY_ORDER,
};
