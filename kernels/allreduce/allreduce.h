/* Shared by the all-reduces. The array has n / ranks elements of each rank, rank after rank;
 * output i is the sum over the ranks of element i, and `bins` = n / ranks outputs stand in for the
 * arrays that all ranks end with.
 *
 * An algorithm cuts the outputs into blocks and says for each which rank's running sum is added to
 * which other's. Every rank begins with its own element, rounded once to the accumulator, which is
 * what travels; each hop is one addition rounded to it. Addition commutes, so that the order is
 * the tree of hops, whichever operand a library puts first. */
#pragma once

#include "kernels/method/method.h"

/* sum[to] = sum[to] + sum[from]. */
struct hop {
    uint32_t to, from;
};

struct algorithm {
    size_t (*blocks)(size_t ranks); /* NULL: one */
    /* Writes the ranks - 1 hops of a block; the sum is where the last one leads. */
    void (*hops)(struct hop *hop, size_t ranks, size_t block);
};

/* Of `outputs` outputs in as many blocks: block b begins at allreduce_begin(..). The first ones
 * are longer by one where they cannot be alike. */
size_t allreduce_begin(size_t outputs, size_t blocks, size_t block);

enum status allreduce_hops(const struct task *t, const struct algorithm *a, struct problem *p);
/* Of one output of block 0, each leaf a rank. */
size_t allreduce_height(const struct algorithm *a, size_t ranks);
void allreduce_order(struct order *o, const struct algorithm *a);

/* Calls sum(elements of output i over the ranks). */
typedef double allreduce_sum(const struct array *x, enum format f);
enum status allreduce_each(const struct task *t, allreduce_sum *sum, struct problem *p);
