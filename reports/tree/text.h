/* A revealed tree in words and pictures. Elements are numbered from `first` on. */
#pragma once

#include <stdio.h>

#include "reports/tree/tree.h"

enum { REVEAL_SET = 160 };

/* What elements a node has: "7", "0..255", "1..2047 by 2", "0..7, 64..71, ... 448..455",
 * "0, 3, 4, 17, ... 99". STATUS_DEVICE when memory is short. */
enum status reveal_set_text(char text[REVEAL_SET], const struct reveal_tree *t, uint32_t node,
                            size_t first, struct problem *p);

/* The tree: in parentheses where it is small, else a line to a node, like ones but once. Brackets
 * and `at once` are nodes of more than two children. */
enum status reveal_tree_text(FILE *to, const struct reveal_tree *t, size_t first,
                             struct problem *p);

/* "3 additions, height 2, ..." */
enum status reveal_tree_facts(FILE *to, const struct reveal_tree *t, struct problem *p);

/* The whole tree in Graphviz's language, for `dot`. */
void reveal_tree_dot(FILE *to, const struct reveal_tree *t, size_t first, const char *title);
