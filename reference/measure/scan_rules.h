/* The rules by which the outputs of a scan are measured. */
#pragma once

#include "reference/measure/scan.h"

/* The maxima that are looked for, all >= 0. */
enum scan_figure { SCAN_ABS, SCAN_REL, SCAN_ULP, SCAN_BACKWARD, SCAN_OVER_BOUND, SCAN_FIGURES };

struct scan_rules {
    enum format storage, accumulator, output;
    enum theorem_kind bound;
    double u;                /* of the accumulator */
    double input_u, input_h; /* what rounding an element to it changes: u |x| + eta/2, or 0 */
    /* The error of rounding a prefix to the output: u |result|, at least eta/2, or 0. An output
     * format with as many digits changes none up to output_most: see measure_output_exact. */
    double output_u, output_h, output_most;
};

/* So near to the limit of theorem_lost_errors doubles do not tell on which side of it a sum is. */
#define SCAN_NEAR 0x1p-40

/* One output and the prefix that it is due to be: hi + lo + low, off by at most `slack`. */
struct scan_item {
    double result;
    double hi, lo; /* see prefix.h */
    double low;    /* at most half an ulp of lo */
    double slack;
    double abs_hi, abs_lo; /* of sum|x| */
    double terms;          /* elements that the prefix covers */
    double height;         /* of its tree; with THEOREM_BLOCKS its bound */
};

/* The figures of an item, each correctly rounded, -1 where it is not known. */
struct scan_figures {
    double value[SCAN_FIGURES];
    bool broken; /* the error exceeds the bound */
};

/* Finds the figures of an item whose numbers are finite from doubles. False where these do not tell
 * a figure's rounding, or which of error and bound is the larger. */
bool scan_figures_find(struct scan_figures *f, const struct scan_rules *rules,
                       const struct scan_item *item);

enum { SCAN_BLOCK = 1024 };

/* A block of items. Estimates tell those that may have the largest figure so far: the figures of
 * these alone are found. */
struct scan_block {
    size_t count;
    bool exact; /* hi + lo is the prefix at every index */
    const double *hi, *lo, *abs_hi, *abs_lo, *terms;
    double result[SCAN_BLOCK], height[SCAN_BLOCK];
    /* Within 2^-48 of the figure, relatively, or 2^-1073; NaN: it is not known. Where sum|x| is
     * beyond the doubles, what it divides is estimated too large. */
    double estimate[SCAN_FIGURES][SCAN_BLOCK];
    double most[SCAN_FIGURES]; /* the largest estimate, -1: none is known */
    bool odd;   /* there are items that doubles cannot describe: numbers or errors that are not
                   finite. Their err_abs is NaN */
    bool loose; /* there are estimates that are too large */
    const bool *lost; /* items whose hi, NaN, does not say what the sum is; NULL: there are none */
};

/* Fills in what follows height[]. */
void scan_block_estimate(struct scan_block *b, const struct scan_rules *rules);

/* The sum of the squares of the estimates of SCAN_ULP that are known, as sum[0] + sum[1] times
 * 4^*exponent; within 2^-49, relatively. */
void scan_block_squares(const struct scan_block *b, double sum[2], int *exponent);
