/* A summation tree as it shows from outside: which results are added to which, in nodes of two
 * children or, where an adder takes several at once, of more. Addition commutes, so the children
 * of a node have no order: those of the least leaf come first, and trees that are equal up to
 * that are equal in memory. */
#pragma once

#include "kernels/method/order.h"
#include "reference/base/problem.h"

#define SUM_TREE_NO_PARENT UINT32_MAX

/* Nodes 0 .. leaves-1 are the leaves; node leaves + k has the children child[begin[k]] ..
 * child[begin[k + 1] - 1], all of them earlier nodes. The last node is the root. */
struct sum_tree {
    size_t leaves, additions;
    uint32_t *begin; /* additions + 1 */
    uint32_t *child; /* of all additions: leaves + additions - 1 */
};

/* From the parent of each of `nodes` nodes, the first `leaves` >= 1 of them leaves, the others with
 * two children or more, each with a lower number than its children's that are no leaves; the root
 * has SUM_TREE_NO_PARENT. Free with sum_tree_free, also after failure, which is of memory. */
enum status sum_tree_make(struct sum_tree *t, size_t leaves, size_t nodes, const uint32_t *parent,
                          struct problem *p);

/* The tree of one output of an order; leaf i is element first + i. STATUS_FAILED where that is no
 * tree over the elements first .. first + leaves - 1. */
enum status sum_tree_of(struct sum_tree *t, const struct order *o, size_t output, size_t first,
                        size_t leaves, struct problem *p);
void sum_tree_free(struct sum_tree *t);

/* For each node: its parent (SUM_TREE_NO_PARENT of the root), how many nodes lie above it (of a
 * leaf: how many additions it passes through), its least leaf, and how many leaves it has. The
 * caller frees `parent`, which the others stand behind. */
struct sum_tree_nodes {
    uint32_t *parent, *depth, *least, *size;
};
enum status sum_tree_nodes_make(struct sum_tree_nodes *nodes, const struct sum_tree *t,
                                struct problem *p);

/* Writes the leaves of a node, in ascending order; returns how many. `leaf` holds as many. */
size_t sum_tree_leaves(const struct sum_tree *t, uint32_t node, uint32_t *leaf);

bool sum_tree_equal(const struct sum_tree *a, const struct sum_tree *b);
