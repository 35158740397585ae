/* The exact truth about one input: its sum, the sum of its magnitudes, and what it holds. Of two
 * arrays: the sum of their products, the sum of the products' magnitudes, and what both hold. Or
 * another exact value of exact/value.h, and its A. */
#pragma once

#include <stdbool.h>

#include <mpfr.h>

#include "reference/format/array.h"
#include "reference/exact/census.h"
#include "reference/exact/exact.h"
#include "reference/exact/value.h"
#include "reference/base/problem.h"

enum reference_kind {
    REFERENCE_FAST, /* the superaccumulator; of products GMP's integers; of extrema, encodings */
    REFERENCE_MPFR  /* mpfr_sum in blocks, each exact, the running total exact too; mpfr_mul; MPFR's
                       comparisons */
};

enum {
    REFERENCE_DIGITS = 640,         /* bits of an exact value that is no binary fraction */
    REFERENCE_HEX_DIGITS = 256,     /* of which results show these */
    REFERENCE_PRODUCT_DIGITS = 4096 /* a product of more bits than these is cut */
};

struct reference {
    enum exact_value of;
    /* The exact value, not rounded; may be a signed zero, inf or NaN (see exact.h). If it is not a
     * short binary fraction, `cut` is true, and the value lies between this number, which has its
     * first REFERENCE_DIGITS bits and two more, and a neighbour of it: rounding to fewer bits, and
     * comparing with a number of fewer bits, give the same as for the value itself. reference_error
     * computes errors. */
    mpfr_t sum;
    mpfr_t sum_abs; /* A, in the same manner; inf or NaN where an element is */
    bool cut;
    /* For a norm, a mean or a variance, and for an element that is divided by a root: the exact
     * sums of x, |x| and x^2 on which the value depends (a norm on the last alone, a mean on the
     * others). For a product that is cut `sum` alone: the product to within 2^-4000 of it. */
    struct {
        mpfr_t sum, sum_abs, squares;
    } moment;
    size_t n;       /* elements of an array: terms of the sum */
    size_t index;   /* of the element whose value it is, where each has one; else 0 */
    double element; /* that element, where it is divided by a root; else 0 */
    /* Of exponentials exp(x - max x) alone, each rounded up: how far the least finite element lies
     * below the greatest; their sum; the sum of d exp(-d (1 - 2^-8)), d = max x - x; and d of the
     * element whose value it is, inf where that is masked, -inf. */
    struct {
        double range, sum, weighted, at;
    } exponentials;
    size_t zeros, subnormals, infs, nans;
    double smallest, largest; /* magnitudes of the finite elements; zeros do not count for
                                 smallest; 0 where there is none */
};

/* Reads the array once, block by block, without a copy. STATUS_OK, or
 * STATUS_MEMORY when memory is short, STATUS_FAILED should MPFR ever report that an exact sum was
 * rounded; on success reference_free is due. */
enum status reference_compute(struct reference *r, const struct array *a, enum reference_kind kind,
                              struct problem *p);
/* The same of another exact value. b: the second array, as long and of the same format, for those
 * of two; else NULL. */
enum status reference_compute_of(struct reference *r, enum exact_value of, const struct array *a,
                                 const struct array *b, enum reference_kind kind,
                                 struct problem *p);
/* The same of element `index` of one array, where each has a value. */
enum status reference_compute_at(struct reference *r, enum exact_value of, const struct array *a,
                                 size_t index, enum reference_kind kind, struct problem *p);
/* The same of all elements of an array, where each has a value: r[0 .. a->n-1], zeroed. On failure
 * nothing is due. */
enum status reference_compute_each(struct reference *r, enum exact_value of, const struct array *a,
                                   struct problem *p);
void reference_free(struct reference *r);

/* The mean or the variance of the row of which r is the value of an element, from r->moment.
 * reference_free is due. */
void reference_of_row(struct reference *to, enum exact_value of, const struct reference *r);

/* For an element divided by a root (rmsnorm, layernorm): does the sum of squares under the root
 * exceed the largest number of f? The squares are of the elements, or, in layernorm, of their
 * distances from the mean unless `whole`. False for other values. */
bool reference_squares_overflow(const struct reference *r, enum format f, bool whole);

/* The same of a sum whose elements come block by block: of n elements so far, zeroed and begun. */
struct reference_blocks {
    struct exact sum;
    struct census census;
    size_t n;
};
void reference_blocks_begin(struct reference_blocks *b);
void reference_blocks_add(struct reference_blocks *b, const struct array *block);
/* Adds all that `from` holds. */
void reference_blocks_merge(struct reference_blocks *b, const struct reference_blocks *from);
/* reference_free is due. */
void reference_blocks_end(struct reference *r, const struct reference_blocks *b);

/* The same numbers (as bits)? For holding one kind to the other. */
bool reference_equal(const struct reference *a, const struct reference *b);

/* Sets `error` (its precision is changed) to |exact value - result|, result finite and the value
 * too: exactly, or where the value is cut, in the same manner as that, and where it is a product
 * that is not nearly in the range of doubles. */
void reference_error(mpfr_t error, const struct reference *r, double result);

/* log2(sum|x| / |sum x|), or log2(A / |exact value|), rounded to nearest double: inf where the
 * exact sum is 0, an input of zeros only or of no elements included; NaN where the sum is not
 * finite. */
double reference_cond_log2(const struct reference *r);
