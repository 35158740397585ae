/* The order of a matrix product's tree in words: chains that begin apart, and how they are joined.
 */
#pragma once

#include "experiments/reveal/matrix.h"

enum matrix_join { MATRIX_JOIN_NONE, MATRIX_JOIN_ORDER, MATRIX_JOIN_PAIRS, MATRIX_JOIN_OTHER };
enum matrix_c { MATRIX_C_NONE, MATRIX_C_WITH_PRODUCTS, MATRIX_C_LAST, MATRIX_C_BETWEEN };

struct matrix_chains {
    size_t count;  /* chains of sums that begin with products alone, or with these and C */
    size_t length; /* products of each; 0: they differ */
    size_t stride; /* from one product of a chain to the next; 0: they differ */
    bool forward, backwards; /* in each, in this order of k */
    size_t most;             /* the largest number of products that one node adds itself */
    size_t as_many;          /* how many nodes add that many */
    enum matrix_join join;   /* of their sums */
    enum matrix_c c;         /* added to products; to the sum of all; or to another sum */
};

/* STATUS_MEMORY alone. */
enum status matrix_chains_of(struct matrix_chains *c, const struct sum_tree *t, size_t products,
                             struct problem *p);

/* A line or two. */
void matrix_chains_print(FILE *to, const struct matrix_chains *c, bool plain, bool c_left_out);
/* "added last, to the sum of all products"; where there is none, whether the shape left it out. */
const char *matrix_c_words(enum matrix_c c, bool left_out);
extern const char *const matrix_join_words[]; /* "in order" */
