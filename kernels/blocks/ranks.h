/* Sums over ranks. The array has as many elements of each rank, rank after rank; output i is the
 * sum over the ranks of element i, and `bins` = n / ranks is how many outputs there are.
 *
 * An algorithm cuts the outputs into blocks and says for each which rank's running sum is added to
 * which other's. Every rank begins with its own element, rounded once to the accumulator, which is
 * what travels; each hop is one addition rounded to it. Addition commutes, so that the order is
 * the tree of hops, whichever operand a library puts first. */
#pragma once

#include "kernels/method/method.h"

/* Channels of NCCL's communicators: as many as it takes by itself on one machine of H100s
 * joined by NVLink, and the most that are asked for here. */
enum { NCCL_CHANNELS = 24, NCCL_CHANNELS_MOST = 32 };

/* sum[to] = sum[to] + sum[from]. */
struct hop {
    uint32_t to, from;
};

/* Writes the ranks - 1 hops of a block; the sum is where the last one leads. */
typedef void hops_of_block(struct hop *hop, size_t ranks, size_t block);

/* Of `outputs` outputs in so many blocks: where one begins, `outputs` behind the last. */
typedef size_t begin_of_block(size_t outputs, size_t blocks, size_t block);

struct algorithm {
    size_t (*blocks)(size_t ranks); /* NULL: one */
    hops_of_block *hops;
    begin_of_block *begin; /* NULL: ranks_begin */
};

/* The first ones are longer by one where they cannot be alike. */
static inline size_t ranks_begin(size_t outputs, size_t blocks, size_t block)
{
    size_t longer = outputs % blocks;
    return outputs / blocks * block + (block < longer ? block : longer);
}

enum status ranks_add(const struct task *t, const struct algorithm *a, struct problem *p);
/* The same where pieces of a message are cut otherwise: outputs begin .. end - 1 are added by the
 * hops of a block, as often as there are pieces. What ranks_adding_begin takes, ranks_adding_end
 * gives back. */
struct ranks_adding {
    const struct task *task;
    size_t ranks;
    struct hop *hop;
    double *sum;
};
enum status ranks_adding_begin(struct ranks_adding *to, const struct task *t, struct problem *p);
void ranks_adding_piece(struct ranks_adding *to, hops_of_block *hops, size_t block, size_t begin,
                        size_t end);
void ranks_adding_end(struct ranks_adding *to);
/* Of one output of block 0, each leaf a rank. */
size_t ranks_height(const struct algorithm *a, size_t ranks);
void ranks_order(struct order *o, const struct algorithm *a);

size_t hops_a_block_a_rank(size_t ranks);
/* ((x[0] + x[1]) + x[2]) + ...; and from the last rank to the first, as a root that receives them
 * in descending order adds them. */
hops_of_block hops_from_first, hops_from_last;
/* Pairs, pairs of pairs, ...: the pairwise tree of the largest power of two. Where that leaves
 * `extra` ranks, each of the first 2 extra adds to its neighbour first. */
hops_of_block hops_pairs;
/* Levels of 1, 2, 4, ... ranks: rank r of level l, from 2^l - 1 to 2^(l + 1) - 2, adds what ranks
 * r + 2^l and r + 2^(l + 1) send, in this order, to its own. */
hops_of_block hops_levels;
/* The pairwise tree of the next power of two, cut off behind the last rank. */
hops_of_block hops_cut_off;
/* The same from far to near: with those half of the power of two away first, last with neighbours.
 */
hops_of_block hops_halves;
/* Round the ring of ranks from this one to the one before it. */
void hops_round(struct hop *hop, size_t ranks, size_t first);
/* Round the ring so that a block is whole at the rank of its number. */
hops_of_block hops_to_owner;

/* The exact sums, each rounded once; and those of sum/binned, K = RANKS_FOLDS. */
enum { RANKS_FOLDS = 3 };
enum status ranks_exact(const struct task *t, struct problem *p);
enum status ranks_binned(const struct task *t, struct problem *p);

/* A method's algorithm, what it answers, and its descriptor. Where there are blocks, the bits of an
 * element change with its place in the message and the message's length: no promise beyond
 * run_to_run covers these. */
#define RANKS_METHOD(what, form, parts, way, claim, says)                                          \
    RANKS_METHOD_CUT(what, form, parts, NULL, way, claim, says)
/* The same, where `cut` says where blocks begin. */
#define RANKS_METHOD_CUT(what, form, parts, cut, way, claim, says)                                 \
    static const struct algorithm form##_algorithm = {parts, way, cut};                            \
    static enum status form##_cpu(const struct task *t, struct problem *p)                         \
    {                                                                                              \
        return ranks_add(t, &form##_algorithm, p);                                                 \
    }                                                                                              \
    static size_t form##_height(size_t n, struct shape shape)                                      \
    {                                                                                              \
        (void)shape;                                                                               \
        return ranks_height(&form##_algorithm, n);                                                 \
    }                                                                                              \
    static size_t form##_bin_height(const size_t *element, size_t terms, size_t n, size_t bins)    \
    {                                                                                              \
        (void)element, (void)n, (void)bins;                                                        \
        return ranks_height(&form##_algorithm, terms);                                             \
    }                                                                                              \
    static void form##_order(struct order *o, struct shape shape)                                  \
    {                                                                                              \
        (void)shape;                                                                               \
        ranks_order(o, &form##_algorithm);                                                         \
    }                                                                                              \
    const struct method what##_##form = {                                                          \
        .name = #what "/" #form,                                                                   \
        .summary = says,                                                                           \
        .operation = &operation_##what,                                                            \
        .promise = PROMISE_##claim,                                                                \
        .pairs = {FORMAT_PAIRS_ALL},                                                               \
        .bound = THEOREM_TREE,                                                                     \
        .height = form##_height,                                                                   \
        .bin_height = form##_bin_height,                                                           \
        .order = form##_order,                                                                     \
        .cpu = form##_cpu,                                                                         \
    }
/* Those whose bits depend neither on the order nor on the number of ranks that share the addends,
 * nor on where an element stands in the message: what##_exact and what##_binned. */
#define RANKS_METHODS_INVARIANT(what)                                                              \
    const struct method what##_exact = {                                                           \
        .name = #what "/exact",                                                                    \
        .summary = "the exact sum over the ranks, rounded once",                                   \
        .operation = &operation_##what,                                                            \
        .promise = PROMISE_CORRECTLY_ROUNDED,                                                      \
        .beside = 1u << PROMISE_RANK_INVARIANT,                                                    \
        .pairs = {FORMAT_PAIRS_ALL},                                                               \
        .addition = ADDITION_EXACT,                                                                \
        .bound = THEOREM_CORRECTLY_ROUNDED,                                                        \
        .cpu = ranks_exact,                                                                        \
    };                                                                                             \
    const struct method what##_binned = {                                                          \
        .name = #what "/binned",                                                                   \
        .summary = "elements cut into bins with exact sums: any order and number of ranks",        \
        .operation = &operation_##what,                                                            \
        .promise = PROMISE_ORDER_INVARIANT,                                                        \
        .beside = 1u << PROMISE_RANK_INVARIANT,                                                    \
        .pairs = {FORMAT_PAIRS_ALL},                                                               \
        .addition = ADDITION_BINS,                                                                 \
        .bound = THEOREM_BINNED,                                                                   \
        .folds = RANKS_FOLDS,                                                                      \
        .cpu = ranks_binned,                                                                       \
    }
