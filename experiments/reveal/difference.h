/* Where two trees differ. */
#pragma once

#include "reports/tree/tree.h"

/* Where two trees over the same leaves differ first: the first node of `a` whose leaves are those
 * of no node of `b`, and the lowest node of `b` that has all of them. Where b has all nodes of a, a
 * and b are swapped. */
struct reveal_difference {
    bool equal, swapped;
    uint32_t node, other;
};
enum status reveal_tree_difference(struct reveal_difference *d, const struct sum_tree *a,
                                   const struct sum_tree *b, struct problem *p);
