/* sum/widened: added up one format wider, rounded once at the end.
 *
 * Order: that of sum/tiled, every addition in the next wider format: fp32 for an accumulator of
 * fp16 or bf16, fp64 for fp32. It holds every element as it is stored; where it would not (fp64
 * data for fp16 and bf16) the method does not exist, since an element would be rounded twice. The
 * last sum is rounded to the accumulator.
 *
 * Source: Wilkinson, Rounding Errors in Algebraic Processes, 1963 (accumulation in a longer
 * word). */
#include "kernels/blocks/tiled.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    double sum;
    enum format wider = format_wider(t->accumulator);
    enum status status = tiled_sum(&t->of->in, NULL, wider, t->shape.threads, &sum, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &sum);
    return status;
}

#define NARROW (IN(FP16) | IN(BF16) | IN(FP32))
#define WIDE   [FP16] = NARROW, [BF16] = NARROW, [FP32] = NARROW, [FP64] = IN(FP32)

const struct method sum_widened = {
    .name = "sum/widened",
    .summary = "sum/tiled in the next wider format, rounded once at the end",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS(WIDE, [E4M3] = NARROW, [E5M2] = NARROW), FORMAT_PAIRS(WIDE)},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .adds_in = format_wider,
    .bound = THEOREM_WIDENED,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
