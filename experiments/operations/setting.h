/* What an operation is asked for beside its arrays: which scan, into which bins, with which layout.
 * A case of a study, a row of a benchmark and a case of `check` each carry one. */
#pragma once

#include "experiments/inputs/keys.h"
#include "experiments/operations/layout.h"
#include "experiments/operations/scales.h"
#include "experiments/operations/scan.h"
#include "experiments/operations/shape.h"
#include "experiments/options/options.h"
#include "kernels/method/method.h"

enum { RANKS_MOST = 4096 };
#define WORKSPACE_MOST (UINT64_C(1) << 40) /* bytes */

/* What an operation does not read is 0. */
struct setting {
    enum format output;        /* that outputs are rounded to; of all but scans and matrix products
                                  the accumulator */
    bool exclusive;            /* of scans, as `segment` */
    size_t segment;            /* elements of a segment, the last may have fewer; 0: there is one */
    enum product_kind product; /* of dot products: how they are formed */
    const struct keys *keys;   /* of scatter-adds: where their keys come from, with the seed */
    uint64_t key_seed;         /* of keys and masks that are drawn; else 0 */
    size_t bins; /* of scatter-adds; of matrices the rows; of products elements of D */
    const struct layout *layout; /* of sums of rows */
    size_t keep;                 /* of compactions: hundredths of the elements */
    size_t ranks;                /* of all-reduces, whose bins are the elements of a rank */
    struct gemm_shape shape;     /* of matrix products */
    const char *chip; /* of models of matrix instructions: the address that mma_chip gives */
    size_t promote;   /* of models that promote sums: after this many products */
    struct heuristic heuristic; /* of a library's matrix products */
};

static inline bool setting_equal(const struct setting *a, const struct setting *b)
{
    return a->output == b->output && a->exclusive == b->exclusive && a->segment == b->segment &&
           a->product == b->product && a->keys == b->keys && a->key_seed == b->key_seed &&
           a->bins == b->bins && a->layout == b->layout && a->keep == b->keep &&
           a->ranks == b->ranks && shape_equal(&a->shape, &b->shape) && a->chip == b->chip &&
           a->promote == b->promote && heuristic_equal(&a->heuristic, &b->heuristic);
}

/* Are the same operands read, whatever multiplies them? */
static inline bool setting_same_operands(const struct setting *a, const struct setting *b)
{
    struct setting as = *a;
    as.chip = b->chip;
    as.promote = b->promote;
    as.heuristic = b->heuristic;
    return setting_equal(&as, b);
}

/* Are the same keys read, or none? */
static inline bool setting_same_keys(const struct setting *a, const struct setting *b)
{
    return a->keys == b->keys && (!a->keys || a->bins == b->bins);
}

/* What is asked for of all of them: every axis that some operation reads. */
struct setting_axes {
    enum scan_kind scan[SCAN_KINDS];
    enum output_kind output[OUTPUT_KINDS];
    size_t scans, outputs;
    struct numbers segment;              /* elements of a segment; 0: there is one */
    enum product_kind product[PRODUCTS]; /* none: each method's own */
    size_t products;
    struct numbers shift; /* elements that data is turned by against itself */
    struct keys *key;
    size_t keys;
    struct numbers bins;
    struct layout *layout;
    size_t layouts;
    struct numbers rows; /* 0: the file's, or see layout_rows */
    size_t file_rows;    /* of the matrix that the elements are, where their file says so; or 0 */
    struct numbers keep; /* hundredths of the elements that compactions keep, about */
    struct numbers ranks;
    struct gemm_shape *shape;
    size_t shapes;              /* none: see shape_fitting */
    bool no_c;                  /* a method takes no C: that of all shapes is zeros */
    struct list scales;         /* files of A's and B's; none: the shapes say what there is */
    struct given_scales *given; /* those, once A and B are joined; else NULL */
    const char **chip;
    size_t chips;                        /* none: MMA_CHIP */
    struct numbers promote;              /* none: GEMM_PROMOTE */
    struct numbers workspace, algorithm; /* none: each method's own */
};
