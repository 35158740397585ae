/* What a matrix product computes, from its outputs alone: which products are one fused sum, to how
 * many bits terms are cut, how results are rounded, in which order blocks follow, where C comes in.
 */
#pragma once

#include <stdio.h>

#include "kernels/mma/mma.h"
#include "reports/tree/tree.h"

/* A black box: D = A B + C, as mma_product (kernels/mma/mma.h) has them. It is asked for products
 * of one shape: all rows of A alike, and all columns of B, so that all of D must be the same
 * number. Elements of fp32 are MMA_TF32: whether their low bits are read is asked. Up to
 * REVEAL_MATRIX_K products are told apart one by one, and 2^p where results have p bits, which
 * count units; of more the first REVEAL_MATRIX_FIRST are, among zeros, and what they show is
 * sampled over all of k. */
struct reveal_matrix_subject {
    enum mma_element element;
    enum format result;
    size_t m, n, k;
    enum status (*product)(void *context, size_t m, size_t n, size_t k, const void *a,
                           const void *b, const void *c, void *d, struct problem *p);
    void *context;
    bool no_c;       /* there is no C: D = A B */
    bool c_left_out; /* though the subject takes one */
    bool tree_only;  /* neither the arithmetic nor other operands are asked for */
};
enum { REVEAL_MATRIX_K = 1024, REVEAL_MATRIX_FIRST = 128 };

enum reveal_matrix_verdict {
    REVEAL_MATRIX_RULE,       /* `rule` gives all bits of the operands that were tried */
    REVEAL_MATRIX_TREE,       /* of tree_only: `tree` answers as the subject does */
    REVEAL_MATRIX_OTHERWISE,  /* the tree's rule does not give the bits of other operands */
    REVEAL_MATRIX_EXACT,      /* masks swallow nothing: no order shows */
    REVEAL_MATRIX_NO_TREE,    /* no tree of additions gives these answers */
    REVEAL_MATRIX_CHANGES,    /* one question, two answers */
    REVEAL_MATRIX_PLACES,     /* elements of D that are made of the same numbers differ */
    REVEAL_MATRIX_ADDS,       /* additions in the order of `tree` give all bits that were tried */
    REVEAL_MATRIX_NO_PRODUCT, /* small whole numbers have another product */
    REVEAL_MATRIX_IRREGULAR,  /* what the first products show does not go on over all of k */
    REVEAL_MATRIX_NOT_TOLD,   /* masks show `tree`; no rule was found that gives other bits too */
    REVEAL_MATRIX_DATA        /* additions of two, in an order that depends on the data */
};

/* How two-operand additions take products in: flags. Of two products that are added to each other,
 * one is rounded. */
enum {
    REVEAL_ROUNDED = 1,      /* rounded before the addition */
    REVEAL_FUSED = 2,        /* fused; of two products the first one is rounded, */
    REVEAL_FUSED_OTHERS = 4, /* or the second one */
    REVEAL_PRODUCTS_ALL = 7  /* all give the same bits */
};

/* What is read of elements of fp32. */
enum reveal_matrix_reads {
    REVEAL_READS_UNKNOWN,
    REVEAL_READS_ALL,
    REVEAL_READS_CUT,
    REVEAL_READS_ROUNDED
};

struct reveal_matrix {
    enum reveal_matrix_verdict verdict;
    struct sum_tree tree; /* leaf i < k is the product a[i] b[i], leaf k is C */
    struct mma_rule rule; /* k: the least that gives these bits */
    /* What of it shows. A `block`, `fraction` or `kept` that does not show is a lower limit: of
     * blocks, where k has no second one. */
    bool ordered, block, fraction, alignment, kept, rounding, zeros;
    bool plain;        /* all nodes add two: */
    enum format adds;  /* in this format, to nearest; FORMATS: in none that shows */
    unsigned products; /* flags REVEAL_...: what gives all bits tried; 0: nothing does */
    enum reveal_matrix_reads reads;
    int digits;         /* of a significand, the first one included, that is read: tf32 has 11 */
    bool narrowed;      /* fused sums are of fp32, D is rounded to its format in the end */
    size_t partial;     /* chains of blocks that begin apart: 1, or as of split-K */
    uint64_t calls;     /* questions */
    int low;            /* units are 2^low: smaller ones may vanish */
    size_t first;       /* products told apart one by one, where they are not all; else 0 */
    uint64_t sampled;   /* questions over all of k that the tree answers as the subject does */
    uint64_t held;      /* products of other operands that the rule was held to */
    uint64_t differing; /* of these, how many had other bits */
    char words[256];    /* why there is no tree, or no rule */
};

/* The same seed asks the same questions. Fails only as `product` does, for memory, or for a k that
 * is less than 2. Free with reveal_matrix_free, also after failure. */
enum status reveal_matrix(struct reveal_matrix *r, const struct reveal_matrix_subject *s,
                          uint64_t seed, struct problem *p);
void reveal_matrix_free(struct reveal_matrix *r);

/* Is it one chain of blocks? Instructions that add C behind their blocks, in order of k, are as
 * well chains whose sums are added: promotion, or split-K. */
bool reveal_matrix_one_chain(const struct reveal_matrix *r);

/* Are operands read in another way than by cutting fp32 to tf32, as models do? Others are tried
 * with numbers alone that are read as they are. */
bool reveal_matrix_reads_more(const struct reveal_matrix *r);

/* Does the order give the bits of products of other operands? */
bool reveal_matrix_held(const struct reveal_matrix *r);

/* Is this the rule that shows? A `block` that does not show is at least as long. Where the order is
 * no chain of blocks, it is the rule of the fused sums in it. */
bool reveal_matrix_agrees(const struct reveal_matrix *r, const struct reveal_matrix_subject *s,
                          const struct mma_rule *rule);

/* What was found, and what could not be told, in words; C is "C", product k is its number. */
void reveal_matrix_print(FILE *to, const struct reveal_matrix *r,
                         const struct reveal_matrix_subject *s);
/* The same without the first line; and the verdict in words, which stands in that. */
void reveal_matrix_details(FILE *to, const struct reveal_matrix *r,
                           const struct reveal_matrix_subject *s);
const char *reveal_matrix_verdict(const struct reveal_matrix *r);
