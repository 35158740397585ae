/* Sums over ranks, called as the program calls them, and their orders found from outside. */
#pragma once

#include "kernels/method/method.h"

enum { SUMMED_RANKS = 40, SUMMED_LENGTH = 21 };

struct rank_sums {
    double in[SUMMED_RANKS * SUMMED_LENGTH], out[SUMMED_LENGTH];
    struct array x, y;
};

/* Computes the sums of c->in, which has the elements of so many ranks of this length. */
void rank_sums_run(struct rank_sums *c, const struct method *m, enum format s, enum format f,
                   size_t ranks, size_t length);

/* The order of element `at` of a message of `length`, with numbers that are no two alike: it gives
 * what the tree written in `tree` gives. A digit or letter is a rank's; two values and a + in
 * postfix. */
void expect_ranks_tree(const char *name, size_t ranks, size_t length, size_t at, const char *tree);
