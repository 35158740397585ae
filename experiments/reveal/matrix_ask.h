/* Questions to a matrix product: powers of two, and zeros, in chosen places. */
#pragma once

#include "experiments/reveal/matrix_chains.h"

struct matrix_asker {
    const struct reveal_matrix_subject *of;
    struct reveal_matrix *found;
    double *x, *y, c; /* operands of each product, and C; zero but where set */
    unsigned char *a, *b, *from, *d;
    double *size;       /* of each leaf, for matrix_tree.c */
    size_t leaves;      /* products, and C where there is one */
    int top, low;       /* exponents of the masks and of the units */
    enum status status; /* of the first that failed; nothing else holds then */
    bool prefix;        /* products are the first of more, which are zero */
    bool broken;        /* D's elements differ: the verdict is set */
    struct problem *p;
};

enum status matrix_asker_make(struct matrix_asker *a, struct reveal_matrix *r,
                              const struct reveal_matrix_subject *s, struct problem *p);
void matrix_asker_free(struct matrix_asker *a);

/* All products and C are zero. */
void matrix_clear(struct matrix_asker *a);
/* Leaf i (k: C) is value 2^e, where the value has the bits that an element holds. */
void matrix_set(struct matrix_asker *a, size_t leaf, double value, int e);
/* D; its encoding in *bits where that is not NULL. */
double matrix_ask(struct matrix_asker *a, uint64_t *bits);

/* matrix_tree.c: the tree, by masks (FPRev's, for nodes of any number of children); false where the
 * verdict says why there is none. */
bool matrix_tree(struct matrix_asker *a, uint64_t seed);

/* M in leaf[0], -M in leaf[1] and value 2^e in leaf[2]: what is left of it. */
double matrix_third(struct matrix_asker *a, const size_t leaf[3], double value, int e);

/* matrix_rule.c: the rule whose blocks give the tree, and what shows of its arithmetic. */
bool matrix_order(struct matrix_asker *a);
/* How k products come together: chains of `length` consecutive ones, the last of which may be
 * shorter, each by the rule; sums of chains are added in order. MATRIX_C_BETWEEN: onto C. */
struct matrix_plan {
    struct mma_rule rule; /* whose `c` is MMA_C_FIRST where there are several chains */
    size_t length;
    enum matrix_c c;
};
enum status matrix_tree_of(struct sum_tree *t, const struct matrix_plan *plan, size_t k, bool no_c,
                           struct problem *p);
void matrix_arithmetic(struct matrix_asker *a);
/* matrix_plain.c: the same where every node adds two; and three products, of which leaf[0] and
 * leaf[2] are added up before leaf[1] comes in. */
bool matrix_three(const struct matrix_asker *a, size_t leaf[3]);
void matrix_plain(struct matrix_asker *a);
/* matrix.c: all of it for as many products as masks can tell apart one by one, but for what is
 * held; and how many that is at most. */
enum status matrix_short(struct reveal_matrix *r, const struct reveal_matrix_subject *s,
                         uint64_t seed, bool held, struct problem *p);
size_t matrix_most(const struct reveal_matrix_subject *s);
/* matrix_deep.c: for more products, from the first of them. */
enum status matrix_deep(struct reveal_matrix *r, const struct reveal_matrix_subject *s,
                        uint64_t seed, struct problem *p);
/* matrix_hold.c: holds what was told to products of other operands. Where no rule gives their bits,
 * the verdict says so, and no tree is one. */
void matrix_hold(struct matrix_asker *a, uint64_t seed);
/* matrix_threes.c: where sums of three terms are those of two additions in other orders than the
 * tree's, the verdict is that the order depends on the data, and the tree is none. */
void matrix_threes(struct matrix_asker *a, uint64_t seed);
