/* cub/sum_gpu_to_gpu: the vendor's reproducible sum, cub::DeviceReduce at the determinism level
 * gpu_to_gpu, for comparison. On GPUs alone, and where CMake was given headers of CCCL 3.1 or later
 * (-DULPSCOPE_CCCL_DIR=), which CUDA 13.0 comes without.
 *
 * Order: none that shows. CUB cuts each element into bins at fixed exponents, 13 bits wide in fp32
 * and 40 in fp64, of which it keeps the three that begin with the largest element's: at least 27
 * and 81 digits of it. What is in a bin is added up without rounding, the bins at the end. So the
 * bits should depend on nothing but the elements; CUB promises them for any GPU, which is the
 * promise here. (It is ReproBLAS's method; binned.h's bins are others.)
 *
 * The bound is that of cutting to the accumulator's p = 24 and 53 digits, K = 1, from which three
 * bins leave room for what adding them up may lose. It is ours and speaks of the algorithm: CUB
 * documents nothing of errors, nor of inf, NaN, -0 and the ends of the range. Where results break
 * it, that is a finding.
 *
 * Source: Ahrens, Demmel and Nguyen, Algorithms for efficient reproducible floating point
 * summation, 2020. */
#include "kernels/method/method.h"

const struct method cub_sum_gpu_to_gpu = {
    .name = "cub/sum_gpu_to_gpu",
    .summary = "NVIDIA's reproducible cub::DeviceReduce, from CCCL 3.1 or later",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP16] = IN(FP32), [BF16] = IN(FP32),
                                           [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64))},
    .addition = ADDITION_BINS,
    .bound = THEOREM_BINNED,
    .folds = 1,
};
