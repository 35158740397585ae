/* sum/pairwise: neighbours first, over all of x.
 *
 * Order: x[0] + x[1], x[2] + x[3], ...; then neighbours among these sums; and so on, an odd one
 * out passing on, until one value is left. The same tree, seen from its root, splits n elements
 * at the largest power of two below n. Its height is ceil(log2 n), the least there is. */
#include "kernels/method/fold.h"
#include "kernels/method/method.h"

/* Elements begin .. begin+count-1, count >= 1. ARRAY_BLOCK is a power of two, so that every
 * block is a whole subtree. */
static double pairwise(const struct array *in, enum format f, size_t begin, size_t count)
{
    if (count <= ARRAY_BLOCK) {
        double block[ARRAY_BLOCK];
        array_decode(in, begin, count, block);
        for (size_t i = 0; i < count; i++)
            block[i] = format_round(f, block[i]);
        return fold_adjacent(f, block, count);
    }
    size_t split = ARRAY_BLOCK;
    while (split < count - split)
        split *= 2;
    double left = pairwise(in, f, begin, split);
    return format_add(f, left, pairwise(in, f, begin + split, count - split));
}

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    double sum = t->in.n ? pairwise(&t->in, t->out.format, 0, t->in.n) : 0;
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

static size_t height(size_t n, struct shape shape)
{
    (void)shape;
    return order_balanced_height(n);
}

/* The halves' orders, left before right; returns the root. */
static uint32_t split_order(struct order *o, uint32_t begin, size_t count)
{
    if (count == 1)
        return begin;
    size_t split = 1;
    while (split < count - split)
        split *= 2;
    uint32_t left = split_order(o, begin, split);
    return order_add(o, left, split_order(o, begin + (uint32_t)split, count - split));
}

static void order(struct order *o, struct shape shape)
{
    (void)shape;
    o->output[0] = split_order(o, 0, o->leaves);
}

const struct method sum_pairwise = {
    .name = "sum/pairwise",
    .summary = "neighbours first: a balanced tree over all of x",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .bound = THEOREM_TREE,
    .height = height,
    .order = order,
    .cpu = cpu,
};
