/* The order of a summation: which partial results are added to which.
 *
 * A directed acyclic graph of additions over n leaves. Nodes 0 .. n-1 are the
 * leaves (the elements); node n + k is the k-th addition, of two earlier nodes.
 * A sum has one output, a scan n; trees of different outputs may share nodes.
 * Meant for reading, checking and drawing, at sizes up to a few million leaves:
 * methods do not run by it, but must agree with it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_NOTHING UINT32_MAX /* as an output: the sum of nothing, +0 */

struct order {
    size_t leaves;
    size_t additions, capacity;
    uint32_t (*operand)[2]; /* of each addition: node ids, left operand first */
    size_t outputs;
    uint32_t *output; /* node ids */
    /* The kind of scan, as in a task (kernels/method/method.h); initialised to false and NULL. */
    bool exclusive;
    const uint8_t *heads;
    bool failed; /* memory ran out; nothing else holds then */
};

/* outputs may be 0 (the sum of nothing). Free with order_free, also after failure. */
void order_init(struct order *o, size_t leaves, size_t outputs);
void order_free(struct order *o);

/* Appends the addition a + b; returns its node. */
uint32_t order_add(struct order *o, uint32_t a, uint32_t b);

/* The same where either may be ORDER_NOTHING, which is skipped. */
uint32_t order_join(struct order *o, uint32_t a, uint32_t b);

/* Folds of `count` >= 1 nodes into one. They overwrite node[]; the result is returned.
 * serial:   ((0 + 1) + 2) + ...
 * adjacent: neighbours first: (0 + 1), (2 + 3), ..., an odd one out passes on; repeated
 * halving:  for s = the largest power of two below count, ..., 4, 2, 1: i + (i + s) for i < s,
 *           where i + s is present. */
uint32_t order_serial(struct order *o, uint32_t *node, size_t count);
uint32_t order_adjacent(struct order *o, uint32_t *node, size_t count);
uint32_t order_halving(struct order *o, uint32_t *node, size_t count);

/* The height of order_adjacent and of order_halving: ceil(log2 count). The first node's path is
 * a longest one. */
size_t order_balanced_height(size_t count);

/* The longest path from a leaf to any output, in additions. SIZE_MAX where memory runs out. */
size_t order_height(const struct order *o);
