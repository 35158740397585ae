/* A revealed tree in words and pictures. Elements are numbered from `first` on. */
#pragma once

#include <stdio.h>

#include "reports/tree/tree.h"

enum { SUM_TREE_SET = 160 };

/* What elements a node has: "7", "0..255", "1..2047 by 2", "0..7, 64..71, ... 448..455",
 * "0, 3, 4, 17, ... 99". STATUS_MEMORY when memory is short. */
enum status sum_tree_set_text(char text[SUM_TREE_SET], const struct sum_tree *t, uint32_t node,
                              size_t first, struct problem *p);

/* The tree: in parentheses where it is small, else a line to a node, like ones but once. Brackets
 * and `at once` are nodes of more than two children. */
enum status sum_tree_text(FILE *to, const struct sum_tree *t, size_t first, struct problem *p);

/* "3 additions, height 2, ..." */
enum status sum_tree_facts(FILE *to, const struct sum_tree *t, struct problem *p);

/* The whole tree in Graphviz's language, for `dot`. */
void sum_tree_dot(FILE *to, const struct sum_tree *t, size_t first, const char *title);
