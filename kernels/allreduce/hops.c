/* The all-reduces that add on the way from rank to rank.
 *
 * allreduce/rank_order           ((x[0] + x[1]) + x[2]) + ...
 * allreduce/linear               from the last rank to the first: the root adds what comes in
 *                                descending order of ranks.
 * allreduce/ring                 as many blocks as ranks; block b begins at rank b, goes round, and
 *                                is whole at rank b - 1: its order begins with x[b].
 * allreduce/recursive_doubling   ranks exchange with those 1, 2, 4, ... away: the pairwise tree of
 *                                the largest power of two. Where that leaves `extra` ranks, each of
 *                                the first 2 extra adds to its neighbour first.
 * allreduce/rabenseifner         the same with half of the block at each exchange, then gathered:
 *                                other ranks add, in the same order.
 * allreduce/ring_to_owner        as the ring, but all blocks but the last are as long as the first,
 *                                and block b begins at rank b + 1 and is whole at rank b.
 * allreduce/binomial             a rank adds what those 1, 2, 4, ... above it send: the pairwise
 *                                tree of the next power of two, cut off behind the last rank.
 * allreduce/binary_tree          rank r adds rank 2 r + 1's sum, then rank 2 r + 2's, to its own.
 * allreduce/quaternary_tree      those of ranks 4 r + 1 to 4 r + 4, one after the other.
 * allreduce/level_tree           a binary tree in other numbers: rank r of level l, which has 2^l
 *                                ranks, adds rank r + 2^l's sum, then rank r + 2 2^l's, to its own.
 * allreduce/double_tree          two halves, two binary trees of the ranks, in which the lowest bit
 *                                of a rank tells its depth. A rank adds its lower child, then its
 *                                upper one, to its own. The second tree is the first one mirrored,
 *                                or turned by one where the number of ranks is odd. */
#include "kernels/blocks/ranks.h"

static void ring(struct hop *hop, size_t ranks, size_t block)
{
    hops_round(hop, ranks, block);
}

/* The last ones may be shorter, or empty. */
static size_t begin_of_like(size_t outputs, size_t blocks, size_t block)
{
    size_t begin = (outputs / blocks + (outputs % blocks > 0)) * block;
    return begin < outputs ? begin : outputs;
}

/* From the last rank on, so that a rank's sum is whole before the one above adds it. */
static void tree_of(size_t wide, struct hop *hop, size_t ranks)
{
    for (size_t r = ranks; r-- > 0;)
        for (size_t k = 1; k <= wide && wide * r + k < ranks; k++)
            *hop++ = (struct hop){(uint32_t)r, (uint32_t)(wide * r + k)};
}

static void binary_tree(struct hop *hop, size_t ranks, size_t block)
{
    (void)block;
    tree_of(2, hop, ranks);
}

static void quaternary_tree(struct hop *hop, size_t ranks, size_t block)
{
    (void)block;
    tree_of(4, hop, ranks);
}

static size_t two_blocks(size_t ranks)
{
    (void)ranks;
    return 2;
}

/* A rank's place in the second tree, and back. */
static size_t other_tree(size_t rank, size_t ranks)
{
    return ranks % 2 == 0 ? ranks - 1 - rank : (rank + 1) % ranks;
}

/* Those below a place first. Place 0 is above the highest power of two. */
static struct hop *below(struct hop *hop, size_t place, size_t bit, size_t ranks, size_t block)
{
    size_t child[2] = {place - bit, place + bit};
    for (size_t k = place == 0; k < 2 && bit > 0; k++) {
        size_t low = bit / 2;
        for (; child[k] >= ranks && low > 0; low /= 2)
            child[k] = place + low;
        if (child[k] >= ranks)
            continue;
        hop = below(hop, child[k], low, ranks, block);
        size_t from = block == 0 ? child[k] : other_tree(child[k], ranks);
        size_t to = block == 0 ? place : other_tree(place, ranks);
        *hop++ = (struct hop){(uint32_t)to, (uint32_t)from};
    }
    return hop;
}

static void double_tree(struct hop *hop, size_t ranks, size_t block)
{
    size_t bit = 1;
    while (bit < ranks)
        bit *= 2;
    below(hop, 0, bit / 2, ranks, block);
}

RANKS_METHOD(allreduce, rank_order, NULL, hops_from_first, GPU_TO_GPU,
             "ranks one after the other, from 0");
RANKS_METHOD(allreduce, linear, NULL, hops_from_last, GPU_TO_GPU,
             "ranks one after the other, from the last, as a root receives them");
RANKS_METHOD(allreduce, ring, hops_a_block_a_rank, ring, RUN_TO_RUN,
             "a block a rank: block b is added round the ring from rank b");
RANKS_METHOD_CUT(allreduce, ring_to_owner, hops_a_block_a_rank, begin_of_like, hops_to_owner,
                 RUN_TO_RUN,
                 "a block a rank, alike but for the last: block b goes round the ring to rank b");
RANKS_METHOD(allreduce, recursive_doubling, NULL, hops_pairs, GPU_TO_GPU,
             "exchanges with the ranks 1, 2, 4, ... away");
RANKS_METHOD(allreduce, rabenseifner, NULL, hops_pairs, GPU_TO_GPU,
             "halves exchanged with the ranks 1, 2, 4, ... away, then gathered");
RANKS_METHOD(allreduce, binomial, NULL, hops_cut_off, GPU_TO_GPU,
             "a rank adds what the ranks 1, 2, 4, ... above it send");
RANKS_METHOD(allreduce, binary_tree, NULL, binary_tree, GPU_TO_GPU,
             "rank r adds what ranks 2 r + 1 and 2 r + 2 send");
RANKS_METHOD(allreduce, level_tree, NULL, hops_levels, GPU_TO_GPU,
             "rank r of level l adds what ranks r + 2^l and r + 2 2^l send");
RANKS_METHOD(allreduce, quaternary_tree, NULL, quaternary_tree, GPU_TO_GPU,
             "rank r adds what ranks 4 r + 1 to 4 r + 4 send");
RANKS_METHOD(allreduce, double_tree, two_blocks, double_tree, RUN_TO_RUN,
             "a half each in two binary trees of the ranks");
