/* Trees of many shapes, and a black box that sums along one. */
#pragma once

#include "experiments/reveal/reveal.h"

enum tree_shape {
    TREE_SEQUENTIAL, /* left to right */
    TREE_BACKWARDS,
    TREE_SHUFFLED, /* one after the other, in any order */
    TREE_ADJACENT,
    TREE_HALVING,
    TREE_STRIDED, /* columns one after the other, then their sums by halving */
    TREE_CHUNKED, /* runs of some elements one after the other, then their sums too */
    TREE_RANDOM,  /* any two nodes at a time */
    TREE_FUSED,   /* any two to nine nodes at a time */
    TREE_SHAPES
};
extern const char *const tree_shape_name[TREE_SHAPES];

/* Free with sum_tree_free. */
void tree_make(struct sum_tree *t, enum tree_shape shape, size_t leaves, uint64_t seed);

/* A sum along a tree, in a format: each node of two children rounds once; one of more first cuts
 * every child to the digits of the largest of them, towards zero, as fused adders do. */
struct tree_sum {
    const struct sum_tree *tree;
    enum format accumulator;
    struct array in;
    size_t first;
    double *node; /* room for all nodes */
    uint64_t calls;
};
enum status tree_sum_evaluate(void *context, double *result, struct problem *p);
