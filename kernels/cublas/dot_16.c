/* cublas/dot_16: cublasDotEx of the input with ones, in fp16 and bf16: executed in fp32, as
 * cuBLAS documents of these types (cublasDotEx, executionType), and rounded to the elements'
 * format at the end.
 *
 * Order: not documented; the bound is that for any order in fp32, whose greatest height is n -
 * 1, and of the last rounding. Promise: as cublas/dot's. */
#include "kernels/method/method.h"

static size_t height(size_t n, struct shape shape)
{
    (void)shape;
    return n > 0 ? n - 1 : 0;
}

const struct method cublas_dot_16 = {
    .name = "cublas/dot_16",
    .summary = "NVIDIA's cuBLAS: dot product with ones on fp16 and bf16, executed in fp32",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP16] = IN(FP16), [BF16] = IN(BF16))},
    .adds_in = format_wider,
    .bound = THEOREM_WIDENED,
    .height = height,
};
