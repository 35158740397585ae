/* Questions to a matrix product: powers of two, and zeros, in chosen places. */
#pragma once

#include "experiments/reveal/matrix.h"

struct matrix_asker {
    const struct reveal_matrix_subject *of;
    struct reveal_matrix *found;
    double *x, *y, c; /* operands of each product, and C; zero but where set */
    unsigned char *a, *b, *from, *d;
    double *size;       /* of each leaf, for matrix_tree.c */
    size_t leaves;      /* products, and C where there is one */
    int top, low;       /* exponents of the masks and of the units */
    enum status status; /* of the first that failed; nothing else holds then */
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
void matrix_arithmetic(struct matrix_asker *a);
/* matrix_plain.c: the same where every node adds two; and three products, of which leaf[0] and
 * leaf[2] are added up before leaf[1] comes in. */
bool matrix_three(const struct matrix_asker *a, size_t leaf[3]);
void matrix_plain(struct matrix_asker *a);
/* matrix_hold.c: holds what was told to products of other operands. */
void matrix_hold(struct matrix_asker *a, uint64_t seed);
