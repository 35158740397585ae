/* What a matrix product computes, from its outputs alone: which products are one fused sum, to how
 * many bits terms are cut, how results are rounded, in which order blocks follow, where C comes in.
 */
#pragma once

#include <stdio.h>

#include "kernels/mma/mma.h"
#include "reports/tree/tree.h"

/* A black box: D = A B + C, as mma_product (kernels/mma/mma.h) has them. It is asked for products
 * of one shape: all rows of A alike, and all columns of B, so that all of D must be the same
 * number. */
struct reveal_matrix_subject {
    enum mma_element element;
    enum format result;
    size_t m, n, k; /* k <= REVEAL_MATRIX_K */
    enum status (*product)(void *context, size_t m, size_t n, size_t k, const void *a,
                           const void *b, const void *c, void *d, struct problem *p);
    void *context;
};
enum { REVEAL_MATRIX_K = 1024 };

enum reveal_matrix_verdict {
    REVEAL_MATRIX_RULE,      /* `rule` gives all bits of the operands that were tried */
    REVEAL_MATRIX_TREE,      /* `tree` answers as the subject does; no rule of ours gives it */
    REVEAL_MATRIX_OTHERWISE, /* the tree's rule does not give the bits of other operands */
    REVEAL_MATRIX_EXACT,     /* nothing is lost: no order shows */
    REVEAL_MATRIX_NO_TREE,   /* no tree of additions gives these answers */
    REVEAL_MATRIX_CHANGES,   /* one question, two answers */
    REVEAL_MATRIX_PLACES     /* elements of D that are made of the same numbers differ */
};

struct reveal_matrix {
    enum reveal_matrix_verdict verdict;
    struct sum_tree tree; /* leaf i < k is the product a[i] b[i], leaf k is C */
    struct mma_rule rule; /* k: the least that gives these bits */
    /* What of it shows. A `block`, `fraction` or `kept` that does not show is a lower limit: of
     * blocks, where k has no second one. */
    bool ordered, block, fraction, alignment, kept, rounding, zeros;
    size_t partial;     /* chains of blocks that begin apart: 1, or as of split-K */
    uint64_t calls;     /* questions */
    uint64_t held;      /* products of other operands that the rule was held to */
    uint64_t differing; /* of these, how many had other bits */
    char words[256];    /* why there is no tree, or no rule */
};

/* The same seed asks the same questions. Fails only as `product` does, for memory, or for a k that
 * is not in 2 .. REVEAL_MATRIX_K. Free with reveal_matrix_free, also after failure. */
enum status reveal_matrix(struct reveal_matrix *r, const struct reveal_matrix_subject *s,
                          uint64_t seed, struct problem *p);
void reveal_matrix_free(struct reveal_matrix *r);

/* What was found, and what could not be told, in words; C is "C", product k is its number. */
void reveal_matrix_print(FILE *to, const struct reveal_matrix *r,
                         const struct reveal_matrix_subject *s);
