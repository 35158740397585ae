/* The reduce-scatters that add on the way from rank to rank. Block b of the message is rank b's: it
 * alone ends with these sums. Blocks are as long as each other, the first ones longer by one where
 * they cannot be.
 *
 * reduce_scatter/rank_order          ((x[0] + x[1]) + x[2]) + ...
 * reduce_scatter/linear              reduced to a root, which adds what comes in from the last rank
 *                                    to the first, then scattered.
 * reduce_scatter/ring                block b begins at rank b + 1, goes round, and is whole at rank
 *                                    b: its order ends with x[b].
 * reduce_scatter/pairwise            rank b adds to its own block what comes in from ranks b - 1,
 *                                    b - 2, ...: its order begins with x[b].
 * reduce_scatter/recursive_halving   ranks exchange half of what they have with those half of the
 *                                    ranks away, then a quarter of it, ..., last with a neighbour.
 * reduce_scatter/recursive_doubling  with those 1, 2, 4, ... away, all that the other lacks: the
 *                                    tree of the next power of two, cut off behind the last rank.
 * reduce_scatter/level_tree          rank r of level l, which has 2^l ranks, adds what ranks r +
 * 2^l and r + 2 2^l send; reduced to rank 0, then scattered. reduce_scatter/butterfly halves with
 * those 1, 2, 4, ... away, then blocks go to their owners: the order of allreduce/rabenseifner.
 *
 * Where recursive_halving or butterfly leave `extra` ranks beyond a power of two, each of the first
 * 2 extra adds to its neighbour first. */
#include "kernels/blocks/ranks.h"

static void ring(struct hop *hop, size_t ranks, size_t block)
{
    hops_round(hop, ranks, block + 1);
}

static void pairwise(struct hop *hop, size_t ranks, size_t block)
{
    for (size_t k = 1; k < ranks; k++)
        hop[k - 1] = (struct hop){(uint32_t)block, (uint32_t)((block + ranks - k) % ranks)};
}

RANKS_METHOD(reduce_scatter, rank_order, NULL, hops_from_first, GPU_TO_GPU,
             "ranks one after the other, from 0");
RANKS_METHOD(reduce_scatter, linear, NULL, hops_from_last, GPU_TO_GPU,
             "ranks one after the other, from the last, as a root receives them; then scattered");
RANKS_METHOD(reduce_scatter, ring, hops_a_block_a_rank, ring, RUN_TO_RUN,
             "block b is added round the ring from rank b + 1, last by its owner b");
RANKS_METHOD(reduce_scatter, pairwise, hops_a_block_a_rank, pairwise, RUN_TO_RUN,
             "the owner b of a block adds to its own those of ranks b - 1, b - 2, ...");
RANKS_METHOD(reduce_scatter, recursive_halving, NULL, hops_halves, GPU_TO_GPU,
             "halves exchanged with the ranks ..., 4, 2, 1 away");
RANKS_METHOD(reduce_scatter, recursive_doubling, NULL, hops_cut_off, GPU_TO_GPU,
             "exchanges with the ranks 1, 2, 4, ... away, cut off behind the last rank");
RANKS_METHOD(reduce_scatter, level_tree, NULL, hops_levels, GPU_TO_GPU,
             "rank r of level l adds what ranks r + 2^l and r + 2 2^l send; then scattered");
RANKS_METHOD(reduce_scatter, butterfly, NULL, hops_pairs, GPU_TO_GPU,
             "halves exchanged with the ranks 1, 2, 4, ... away");
