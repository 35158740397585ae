/* The order of a summation from its outputs alone. */
#pragma once

#include "reports/tree/tree.h"
#include "reference/format/array.h"

/* A black box: sums the elements first .. first + leaves - 1 of `in`, into a number of the format
 * `output`. Questions are written to in.data, host memory. */
struct reveal_subject {
    struct array in;
    struct array second;  /* of dot products: the other factors, ones in questions; else no data */
    size_t first, leaves; /* leaves >= 1 */
    enum format accumulator, output;
    size_t divisor;   /* by which the output is divided before it is rounded, as that of a mean is,
                         and `evaluate` multiplies it again; 0: it is not */
    array_term *term; /* what an element adds to the sum, never below 0; NULL: itself */
    bool squares;     /* terms are squares of elements, */
    bool root;        /* and the output is the root of their sum */
    bool foreign;     /* not ours: its order may depend on what else the device does */
    int device;       /* where it runs, as load_begin has it */
    enum status (*evaluate)(void *context, double *result, struct problem *p);
    void (*progress)(void *context, size_t placed); /* NULL, or told how many leaves have a place */
    void *context;
};

enum reveal_means { REVEAL_BY_MASKS, REVEAL_BY_OVERFLOW, REVEAL_BY_TIES };

/* Masks M and units, of `bits` leaves a call, unit * 2^k for the k-th; or L, of one leaf a call;
 * or, where no term is negative, M and two units, of one leaf a call. */
struct reveal_window {
    enum reveal_means means;
    double mask, unit;
    unsigned bits;
};

enum reveal_verdict {
    REVEAL_TREE,          /* all answers are those of one tree */
    REVEAL_EXACT,         /* nothing is lost and nothing overflows on the way: no order shows */
    REVEAL_OUT_OF_REACH,  /* elements of this storage cannot make an order show */
    REVEAL_CONTRADICTION, /* no tree gives these answers */
    REVEAL_CHANGES,       /* one question, two answers: no fixed order */
    REVEAL_DATA,          /* additions of two, in an order that depends on the data */
    REVEAL_FALSE,         /* the tree does not give the bits of other data: by one or the other */
    REVEAL_OTHERWISE,     /* no tree of two-operand additions gives the bits of other data */
    REVEAL_NO_SUM         /* elements alone do not add up to their sum */
};

/* What the tree was held to (reveal/hold.h). */
struct reveal_held {
    uint64_t arrays, differing; /* how many, and of how many the bits were others */
    uint64_t loaded;            /* beside these, while the device had other work */
    bool permuted;              /* where more than two are added at once: by permuting these */
    bool fits; /* other additions along the tree give all bits: the words say which */
};

/* Of dot products, along a tree: of how many elements the product was asked for, and how many are
 * rounded before they are added, or not, as by fused multiply-adds. */
struct reveal_products {
    uint64_t asked, rounded, unrounded;
    size_t first_rounded;
    bool exact; /* those of this storage are in this accumulator: nothing to ask */
};

struct reveal {
    enum reveal_verdict verdict;
    struct reveal_window window; /* of the tree, or of the last attempt */
    bool sampled;                /* the tree of one node was asked for only here and there */
    bool kept;                   /* masks did not do: what rounding loses is kept */
    uint64_t calls;              /* of all */
    uint64_t checks;             /* questions to the finished tree, all answered as it says */
    struct reveal_held held;
    struct reveal_products products;
    struct sum_tree tree; /* of REVEAL_TREE, or where held.fits */
    char words[512];      /* of the others, and of a tree where others were asked
                              before and contradicted each other: what was answered */
};

/* Asks by masks alone: other data may be added otherwise (reveal/hold.h). The same seed asks the
 * same questions. Fails only as `evaluate` does, or for memory. Free with reveal_free, also after
 * failure. */
enum status reveal_order(struct reveal *r, const struct reveal_subject *s, uint64_t seed,
                         struct problem *p);
void reveal_free(struct reveal *r);
