/* sum/kahan: what an addition lost is added to the next element.
 *
 * Order: the tree of sum/tiled over pairs (s, c), where c is still to be added to s, an element x
 * being (x, -0). In the columns of a tile of elements
 *     y = x + c, s' = s + y, c' = y - (s' - s):
 * four additions in the accumulator. c' is what s + y lost where |s| >= |y|; where not, it errs by
 * at most u |y|. It is 0 where it is not finite, which it is where s' overflows or is inf: it would
 * turn all that follows into NaN. Everywhere else pairs are joined as in sum/sum2. The result is
 * s + c, rounded once; but s itself where c is zero or not finite. The first c is -0, so that -0 in
 * all elements stays -0.
 *
 * Source: Kahan, Further remarks on reducing truncation errors, 1965, there for the serial order
 * and without the last addition. */
#include <math.h>

#include "kernels/blocks/pieces.h"

static struct piece add(const struct piece_rule *rule, enum format f, struct piece a, double x)
{
    (void)rule;
    double y = format_add(f, x, a.word[1]), s = format_add(f, a.word[0], y);
    double c = format_add(f, y, -format_add(f, s, -a.word[0]));
    return (struct piece){{s, isfinite(c) ? c : 0}};
}

const struct piece_rule kahan_rule = {
    .kind = PIECE_KAHAN,
    .words = 2,
    .rest = -0.0,
    .add = add,
    .join = pair_join,
    .value = pair_value,
};

static enum status cpu(const struct task *t, struct problem *p)
{
    return pieces_sum(&kahan_rule, t, p);
}

const struct method sum_kahan = {
    .name = "sum/kahan",
    .summary = "the tree of sum/tiled, what an addition lost being added to the next element",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .addition = ADDITION_PAIRS,
    .bound = THEOREM_KAHAN,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
