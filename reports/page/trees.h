/* The trees that the methods of a study add by. */
#pragma once

#include "reports/page/report.h"
#include "reports/tree/tree.h"

enum { TREES_SMALL = 16, TREES_LARGE = 4096, TREES_MOST = 32 };

/* A tree, and which methods have it, with commas between. */
struct shown_tree {
    struct reveal_tree tree;
    struct text methods;
};

struct shown_trees {
    struct shown_tree item[TREES_MOST];
    size_t count;
};

/* Of n elements, each different tree of the methods that declare their order, in the order of the
 * study, in the launch shape of a method's first case. report_trees_free is due either way. */
enum status report_trees_list(struct shown_trees *trees, const struct report *r, size_t n,
                              struct problem *p);
void report_trees_free(struct shown_trees *trees);

/* Adds a panel: how many additions each element passes through. */
enum status report_depths(struct plot *plot, struct shown_trees *trees, struct problem *p);

/* Appends the trees, a line to a partial sum. */
enum status report_outlines(struct report *r, struct shown_trees *trees, struct problem *p);
