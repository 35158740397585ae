/* The exact truth about one input: its sum, the sum of its magnitudes, and what it holds. Of two
 * arrays: the sum of their products, the sum of the products' magnitudes, and what both hold. */
#ifndef ULPSCOPE_REFERENCE_H
#define ULPSCOPE_REFERENCE_H

#include <mpfr.h>

#include "reference/array.h"
#include "reference/exact_value.h"
#include "reference/problem.h"

enum reference_kind {
    REFERENCE_FAST, /* the superaccumulator */
    REFERENCE_MPFR  /* mpfr_sum in blocks, each exact, the running total exact too */
};

struct reference {
    mpfr_t sum;     /* exact: no rounding; may be a signed zero, inf or NaN (see exact.h) */
    mpfr_t sum_abs; /* exact sum of |x|; inf or NaN where an element is */
    size_t n;       /* elements of an array: terms of the sum */
    size_t zeros, subnormals, infs, nans;
    double smallest, largest; /* magnitudes of the finite elements; zeros do not count for
                                 smallest; 0 where there is none */
};

/* Reads the array once, block by block, without a copy. STATUS_OK, or
 * STATUS_DEVICE when memory is short, STATUS_FAILED should MPFR ever report that an exact sum was
 * rounded; on success reference_free is due. */
enum status reference_compute(struct reference *r, const struct array *a, enum reference_kind kind,
                              struct problem *p);
/* The same of another exact value. b: the second array, as long and of the same format, for those
 * of two; else NULL. */
enum status reference_compute_of(struct reference *r, enum exact_value of, const struct array *a,
                                 const struct array *b, enum reference_kind kind,
                                 struct problem *p);
void reference_free(struct reference *r);

/* The same numbers (as bits)? For holding one kind to the other. */
bool reference_equal(const struct reference *a, const struct reference *b);

/* log2(sum|x| / |sum x|), rounded to nearest double: inf where the exact sum is
 * 0, an input of zeros only or of no elements included; NaN where the sum is not
 * finite. */
double reference_cond_log2(const struct reference *r);

#endif
