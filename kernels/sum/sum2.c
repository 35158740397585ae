/* sum/sum2: the sum carries the errors of its additions.
 *
 * Order: the tree of sum/tiled over pairs (s, e), an element x being (x, 0):
 *     (s1, e1) + (s2, e2) = (s, e1 + (e2 + d)), where s = s1 + s2, and d is what its rounding lost,
 * exactly, by Knuth's TwoSum: six additions in the accumulator. The result is s + e, rounded once;
 * but s itself where e is zero, which keeps the sign of a zero sum, or not finite, which it is
 * where s overflows or an inf is among the elements.
 *
 * Source: Ogita, Rump and Oishi, Accurate sum and dot product, 2005 (Sum2), there for the serial
 * order. */
#include "kernels/blocks/pieces.h"
#include "kernels/method/two_sum.h"

static struct piece add(const struct piece_rule *rule, enum format f, struct piece a, double x)
{
    (void)rule;
    struct two_sum s = two_sum(f, a.word[0], x);
    return (struct piece){{s.sum, format_add(f, a.word[1], s.error)}};
}

const struct piece_rule sum2_rule = {
    .kind = PIECE_SUM2,
    .words = 2,
    .add = add,
    .join = pair_join,
    .value = pair_value,
};

static enum status cpu(const struct task *t, struct problem *p)
{
    return pieces_sum(&sum2_rule, t, p);
}

const struct method sum_sum2 = {
    .name = "sum/sum2",
    .summary = "the tree of sum/tiled, the errors of its additions found by TwoSum and added too",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .addition = ADDITION_PAIRS,
    .bound = THEOREM_COMPENSATED,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
