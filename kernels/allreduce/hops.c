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
 * allreduce/double_tree          two halves, two binary trees of the ranks, in which the lowest bit
 *                                of a rank tells its depth. A rank adds its lower child, then its
 *                                upper one, to its own. The second tree is the first one mirrored,
 *                                or turned by one where the number of ranks is odd. */
#include "kernels/allreduce/allreduce.h"

static void rank_order(struct hop *hop, size_t ranks, size_t block)
{
    (void)block;
    for (size_t r = 1; r < ranks; r++)
        hop[r - 1] = (struct hop){0, (uint32_t)r};
}

static void linear(struct hop *hop, size_t ranks, size_t block)
{
    (void)block;
    for (size_t r = ranks - 1; r > 0; r--)
        hop[ranks - 1 - r] = (struct hop){(uint32_t)ranks - 1, (uint32_t)r - 1};
}

static size_t a_block_a_rank(size_t ranks)
{
    return ranks;
}

static void ring(struct hop *hop, size_t ranks, size_t block)
{
    for (size_t k = 0; k + 1 < ranks; k++)
        hop[k] = (struct hop){(uint32_t)((block + k + 1) % ranks), (uint32_t)((block + k) % ranks)};
}

static void pairs(struct hop *hop, size_t ranks, size_t block)
{
    size_t power = 1, used = 0;
    (void)block;
    while (power <= ranks / 2)
        power *= 2;
    size_t extra = ranks - power;
    for (size_t r = 0; r < extra; r++)
        hop[used++] = (struct hop){(uint32_t)(2 * r), (uint32_t)(2 * r + 1)};
    for (size_t apart = 1; apart < power; apart *= 2)
        for (size_t i = 0; i < power; i += 2 * apart) {
            size_t j = i + apart;
            hop[used++] = (struct hop){(uint32_t)(i < extra ? 2 * i : i + extra),
                                       (uint32_t)(j < extra ? 2 * j : j + extra)};
        }
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

/* A method's algorithm, what it answers, and its descriptor. Where there are blocks, the bits of an
 * element change with its place in the message and the message's length: no promise beyond
 * run_to_run covers these. */
#define METHOD(form, parts, way, claim, says)                                                      \
    static const struct algorithm form##_algorithm = {parts, way};                                 \
    static enum status form##_cpu(const struct task *t, struct problem *p)                         \
    {                                                                                              \
        return allreduce_hops(t, &form##_algorithm, p);                                            \
    }                                                                                              \
    static size_t form##_height(size_t n, struct shape shape)                                      \
    {                                                                                              \
        (void)shape;                                                                               \
        return allreduce_height(&form##_algorithm, n);                                             \
    }                                                                                              \
    static size_t form##_bin_height(const size_t *element, size_t terms, size_t n, size_t bins)    \
    {                                                                                              \
        (void)element, (void)n, (void)bins;                                                        \
        return allreduce_height(&form##_algorithm, terms);                                         \
    }                                                                                              \
    static void form##_order(struct order *o, struct shape shape)                                  \
    {                                                                                              \
        (void)shape;                                                                               \
        allreduce_order(o, &form##_algorithm);                                                     \
    }                                                                                              \
    const struct method allreduce_##form = {                                                       \
        .name = "allreduce/" #form,                                                                \
        .summary = says,                                                                           \
        .operation = &operation_allreduce,                                                         \
        .promise = PROMISE_##claim,                                                                \
        .pairs = {FORMAT_PAIRS_ALL},                                                               \
        .bound = THEOREM_TREE,                                                                     \
        .height = form##_height,                                                                   \
        .bin_height = form##_bin_height,                                                           \
        .order = form##_order,                                                                     \
        .cpu = form##_cpu,                                                                         \
    };

METHOD(rank_order, NULL, rank_order, GPU_TO_GPU, "ranks one after the other, from 0")
METHOD(linear, NULL, linear, GPU_TO_GPU,
       "ranks one after the other, from the last, as a root receives them")
METHOD(ring, a_block_a_rank, ring, RUN_TO_RUN,
       "a block a rank: block b is added round the ring from rank b")
METHOD(recursive_doubling, NULL, pairs, GPU_TO_GPU, "exchanges with the ranks 1, 2, 4, ... away")
METHOD(rabenseifner, NULL, pairs, GPU_TO_GPU,
       "halves exchanged with the ranks 1, 2, 4, ... away, then gathered")
METHOD(double_tree, two_blocks, double_tree, RUN_TO_RUN,
       "a half each in two binary trees of the ranks")
