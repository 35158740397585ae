/* sum/binned2: sum/binned in 2 folds. Returns the same on NaN, infinities and zeros. */
#include "kernels/sum/binned_sum.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    return binned_sum(t, 2, p);
}

const struct method sum_binned2 = {
    .name = "sum/binned2",
    .summary = "elements cut into bins with exact sums: any order, twice the digits",
    .operation = &operation_sum,
    .promise = PROMISE_ORDER_INVARIANT,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = binned_shape,
    .addition = ADDITION_BINS,
    .bound = THEOREM_BINNED,
    .folds = 2,
    .cpu = cpu,
};
