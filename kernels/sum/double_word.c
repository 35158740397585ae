/* sum/double_word: pairs whose low word carries on where the high word ends.
 *
 * Order: the tree of sum/tiled over pairs (h, l), h = h + l rounded, an element x being (x, 0). In
 * the columns of a tile of elements, DWPlusFP:
 *     (s, d) = TwoSum(h, x), v = l + d, (h', l') = Fast2Sum(s, v);
 * everywhere else AccurateDWPlusDW:
 *     (s, d) = TwoSum(h1, h2), (t, e) = TwoSum(l1, l2), (g, v) = Fast2Sum(s, d + t),
 *     (h', l') = Fast2Sum(g, e + v),
 * all in the accumulator, fp32 or fp64. In both, (s, 0) is taken where h' is zero, which keeps its
 * sign, or l' is not finite, which it is where s overflows or is inf. The result is h.
 *
 * Source: Joldes, Muller and Popescu, Tight and rigorous error bounds for basic building blocks of
 * double-word arithmetic, 2017, algorithms 4 and 6. */
#include <math.h>

#include "kernels/blocks/pieces.h"
#include "kernels/method/two_sum.h"

static struct piece kept(struct two_sum z, double s)
{
    bool keep = z.sum != 0 && isfinite(z.error);
    return keep ? (struct piece){{z.sum, z.error}} : (struct piece){{s, 0}};
}

static struct piece add(const struct piece_rule *rule, enum format f, struct piece a, double x)
{
    (void)rule;
    struct two_sum s = two_sum(f, a.word[0], x);
    return kept(fast_two_sum(f, s.sum, format_add(f, a.word[1], s.error)), s.sum);
}

static struct piece join(const struct piece_rule *rule, enum format f, struct piece a,
                         struct piece b)
{
    (void)rule;
    struct two_sum s = two_sum(f, a.word[0], b.word[0]), t = two_sum(f, a.word[1], b.word[1]);
    struct two_sum v = fast_two_sum(f, s.sum, format_add(f, s.error, t.sum));
    return kept(fast_two_sum(f, v.sum, format_add(f, t.error, v.error)), s.sum);
}

static double value(const struct piece_rule *rule, enum format f, struct piece sum)
{
    (void)rule;
    (void)f;
    return sum.word[0];
}

const struct piece_rule double_word_rule = {
    .kind = PIECE_DOUBLE_WORD,
    .words = 2,
    .add = add,
    .join = join,
    .value = value,
};

static enum status cpu(const struct task *t, struct problem *p)
{
    return pieces_sum(&double_word_rule, t, p);
}

#define PAIR_IN (IN(FP32) | IN(FP64))

const struct method sum_double_word = {
    .name = "sum/double_word",
    .summary = "the tree of sum/tiled in double-word arithmetic: twice the digits",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_FROM_ALL(PAIR_IN), FORMAT_PAIRS_FROM_16(PAIR_IN)},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .addition = ADDITION_PAIRS,
    .bound = THEOREM_DOUBLE_WORD,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
