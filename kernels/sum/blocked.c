/* sum/blocked: fast within blocks, accurate across them (FABsum).
 *
 * Order: the tree of sum/tiled. The tiles of elements, 2048 each, are the blocks, summed plainly as
 * by sum/tiled. A tile's sum b is the pair (b, 0), and from there up pairs are joined as in
 * sum/sum2; so is the result taken from the last one.
 *
 * Source: Blanchard, Higham and Mary, A class of fast and accurate summation algorithms, 2020. */
#include "kernels/blocks/pieces.h"

static struct piece add(const struct piece_rule *rule, enum format f, struct piece a, double x)
{
    (void)rule;
    return (struct piece){{format_add(f, a.word[0], x)}};
}

static struct piece fold(const struct piece_rule *rule, enum format f, struct piece a,
                         struct piece b)
{
    return add(rule, f, a, b.word[0]);
}

const struct piece_rule blocked_rule = {
    .kind = PIECE_BLOCKED,
    .words = 2,
    .add = add,
    .fold = fold,
    .join = pair_join,
    .value = pair_value,
};

static enum status cpu(const struct task *t, struct problem *p)
{
    return pieces_sum(&blocked_rule, t, p);
}

const struct method sum_blocked = {
    .name = "sum/blocked",
    .summary = "plain sums of tiles of 2048, added up with the errors of the additions (FABsum)",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .addition = ADDITION_BLOCKS,
    .bound = THEOREM_BLOCKED,
    .height = tiled_height,
    .plain_height = TILE_HEIGHT,
    .order = tiled_order,
    .cpu = cpu,
};
