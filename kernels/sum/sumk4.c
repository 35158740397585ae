/* sum/sumk4: the order of sum/sumk with K = 4. */
#include "kernels/blocks/pieces.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    return pieces_sum(&sumk4_rule, t, p);
}

const struct method sum_sumk4 = {
    .name = "sum/sumk4",
    .summary = "sum/sumk with K = 4: four times the digits",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .addition = ADDITION_FOLDS,
    .bound = THEOREM_K_FOLD,
    .folds = 4,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
