/* A superaccumulator: the exact sum of any number of doubles (below 2^63).
 *
 * Positive and negative terms are gathered in a fixed-point number each, wide
 * enough for every bit of every double, beside flags for what has no place on a
 * fixed-point grid. Their difference is the sum, their total the sum of the
 * magnitudes. Neither depends on the order of additions or merges.
 *
 * What a sum is, when it is no plain number (as IEEE 754 addition in any order
 * gives it when nothing overflows on the way, and as mpfr_sum returns it):
 *   any NaN, or infinities of both signs     NaN
 *   infinities of one sign                   that infinity
 *   exact zero, all terms -0 (at least one)  -0
 *   every other exact zero, and n = 0        +0
 * The sum of the magnitudes is NaN with any NaN, else +inf with any infinity,
 * and +0 where every term is a zero. */
#pragma once

#include "reference/format/array.h"
#include "reference/exact/fixed.h"

struct exact {
    /* The layout is private to exact.c and kernels/blocks/exact_state.c. */
    struct fixed side[2]; /* magnitudes of the positive and of the negative terms */
    bool nan, inf[2];     /* by sign */
    bool empty;           /* no term yet */
    bool plain;           /* a term other than -0 was added */
};

void exact_init(struct exact *e);
void exact_add(struct exact *e, double x);

/* Adds x 2^exponent, x not 0, exponent from -1074 to 900. */
void exact_add_integer(struct exact *e, __int128 x, int exponent);

/* Adds elements begin .. begin+count-1 of an array. */
void exact_add_array(struct exact *e, const struct array *a, size_t begin, size_t count);

/* The same of their terms, or of themselves where `term` is NULL. */
void exact_add_terms(struct exact *e, const struct array *a, size_t begin, size_t count,
                     array_term *term);

/* Adds all that `from` holds. */
void exact_merge(struct exact *e, const struct exact *from);

/* The sum rounded once to f. */
double exact_round(const struct exact *e, enum format f);
