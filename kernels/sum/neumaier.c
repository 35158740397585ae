/* sum/neumaier: sum/sum2 with a branch in place of half the additions.
 *
 * Order: that of sum/sum2, over the same pairs (s, e). What s = s1 + s2 lost is d = (s1 - s) + s2
 * where |s1| >= |s2|, else (s2 - s) + s1: exact, as TwoSum's d is, so that the bits are sum/sum2's.
 * They may differ only where TwoSum overflows within, which takes an operand that is the largest
 * finite number.
 *
 * Source: Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974,
 * there for the serial order; also known as Kahan-Babuska summation. */
#include <math.h>

#include "kernels/blocks/pieces.h"

/* The rounding error of s = a + b. */
static double lost(enum format f, double a, double b, double s)
{
    if (fabs(a) >= fabs(b))
        return format_add(f, format_add(f, a, -s), b);
    return format_add(f, format_add(f, b, -s), a);
}

static struct piece add(const struct piece_rule *rule, enum format f, struct piece a, double x)
{
    (void)rule;
    double s = format_add(f, a.word[0], x), d = lost(f, a.word[0], x, s);
    return (struct piece){{s, format_add(f, a.word[1], d)}};
}

static struct piece join(const struct piece_rule *rule, enum format f, struct piece a,
                         struct piece b)
{
    (void)rule;
    double s = format_add(f, a.word[0], b.word[0]), d = lost(f, a.word[0], b.word[0], s);
    return (struct piece){{s, format_add(f, a.word[1], format_add(f, b.word[1], d))}};
}

const struct piece_rule neumaier_rule = {
    .kind = PIECE_NEUMAIER,
    .words = 2,
    .add = add,
    .join = join,
    .value = pair_value,
};

static enum status cpu(const struct task *t, struct problem *p)
{
    return pieces_sum(&neumaier_rule, t, p);
}

const struct method sum_neumaier = {
    .name = "sum/neumaier",
    .summary = "sum/sum2 with Neumaier's branch: errors found from the larger operand",
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
