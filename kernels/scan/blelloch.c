/* scan/blelloch: up-sweep and down-sweep over one balanced tree.
 *
 * Order: the up-sweep adds up the aligned subtrees, of 2^k leaves from a multiple of 2^k on, each
 * of them left + right. The down-sweep hands exclusive prefixes to the children: to the left one
 * its parent's, to the right one its parent's + the sum of the left one; the root's is nothing, and
 * nothing is skipped, not added. The inclusive P(i) is the exclusive one + x[i]. So the exclusive
 * prefix of i is the serial sum of the subtrees that the one-bits of i stand for, the largest
 * first; subtrees that n cuts off are never asked for, and P(i) depends on elements up to i alone.
 *
 * The CPU does both sweeps in one pass: with i elements behind it, it keeps for every one-bit k of
 * i the sum of its subtree and the exclusive prefix of the subtree's end. */
#include "kernels/method/method.h"

enum { LEVELS = 64 };

/* The lowest one-bit of i from `level` on; i has one there. */
static unsigned next_one(size_t i, unsigned level)
{
    while (!(i >> level & 1))
        level++;
    return level;
}

static bool any_one(size_t i, unsigned level)
{
    return level < LEVELS && i >> level > 0;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    enum format f = t->accumulator;
    double block[ARRAY_BLOCK], subtree[LEVELS], upto[LEVELS], prefix = 0;
    for (size_t i = 0; i < t->of->in.n; i++) {
        size_t at = i % ARRAY_BLOCK, left = t->of->in.n - i;
        if (at == 0)
            array_decode(&t->of->in, i, left < ARRAY_BLOCK ? left : ARRAY_BLOCK, block);
        double sum = format_round(f, block[at]);
        block[at] = t->of->exclusive ? prefix : i == 0 ? sum : format_add(f, prefix, sum);
        if (at == ARRAY_BLOCK - 1 || left == 1)
            array_encode(&t->out, i - at, at + 1, block);

        unsigned level = 0;
        for (; i >> level & 1; level++)
            sum = format_add(f, subtree[level], sum);
        prefix = any_one(i, level) ? format_add(f, upto[next_one(i, level)], sum) : sum;
        subtree[level] = sum;
        upto[level] = prefix;
    }
    return STATUS_OK;
}

/* A subtree of 2^k leaves has the height k, and every further one is one more addition. */
static size_t prefix_height(size_t i, size_t n, struct shape shape, bool exclusive)
{
    (void)n, (void)shape;
    if (i == 0)
        return 0;
    size_t top = 0, ones = 0;
    for (unsigned level = 0; any_one(i, level); level++)
        if (i >> level & 1)
            top = level, ones++;
    return top + ones - exclusive;
}

/* The highest tree is the last one, or that of an index which agrees with the last one down to a
 * one-bit, and has a zero in its place and then ones. */
static size_t height(size_t n, struct shape shape)
{
    size_t last = n - 1, highest = prefix_height(last, n, shape, false);
    for (unsigned level = 0; any_one(last, level); level++) {
        size_t i = (last >> level << level) - 1, h;
        if (last >> level & 1 && (h = prefix_height(i, n, shape, false)) > highest)
            highest = h;
    }
    return highest;
}

static void order(struct order *o, struct shape shape)
{
    (void)shape;
    uint32_t subtree[LEVELS], upto[LEVELS], prefix = ORDER_NOTHING;
    for (size_t i = 0; i < o->leaves; i++) {
        uint32_t sum = (uint32_t)i;
        o->output[i] = o->exclusive ? prefix : i == 0 ? sum : order_add(o, prefix, sum);
        unsigned level = 0;
        for (; i >> level & 1; level++)
            sum = order_add(o, subtree[level], sum);
        prefix = any_one(i, level) ? order_add(o, upto[next_one(i, level)], sum) : sum;
        subtree[level] = sum;
        upto[level] = prefix;
    }
}

const struct method scan_blelloch = {
    .name = "scan/blelloch",
    .summary = "up-sweep and down-sweep over one balanced tree",
    .operation = &operation_scan,
    .promise = PROMISE_GPU_TO_GPU,
    .bound = THEOREM_TREE,
    .height = height,
    .prefix_height = prefix_height,
    .order = order,
    .cpu = cpu,
};
