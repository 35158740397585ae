/* Shared by the files of the reference. */
#pragma once

#include "reference/exact/census.h"
#include "reference/exact/reference.h"

void reference_take_census(struct reference *r, const struct census *c);

/* Counts a double by itself: a way of its own beside census_add. */
void reference_count_one(struct census *c, double x, enum format f);

/* Set sum and sum_abs, initialised, and the census, of both arrays together, if they are two. */
enum status reference_dot_fast(struct reference *r, const struct array *a, const struct array *b,
                               struct problem *p);
enum status reference_dot_mpfr(struct reference *r, const struct array *a, const struct array *b,
                               struct problem *p);

/* How a kind of value is computed. */
struct exact_rules {
    /* Sets sum, sum_abs, cut and `moment`, as far as it has it, and the census. b: NULL, or the
     * second array. */
    enum status (*compute)(struct reference *r, const struct array *a, const struct array *b,
                           enum reference_kind kind, struct problem *p);
    /* The same of each element: r[0 .. a->n-1], initialised. NULL: an array has one value. */
    enum status (*each)(struct reference *r, const struct array *a, struct problem *p);
    /* reference_derive and reference_excess; NULL: A and the value are `sum_abs` and `sum`. */
    bool (*derive)(struct reference *r);
    void (*excess)(mpfr_t excess, mpfr_t size, const struct reference *r);
    /* reference_error of any value; or, where it is cut, as over / under. NULL: the value is not
     * cut. */
    void (*error)(mpfr_t error, const struct reference *r, double result);
    void (*cut_error)(mpfr_t over, mpfr_t under, const struct reference *r, double result);
    /* For values derived from exact sums: the sums on which they depend; for a quotient also its
     * parts, and whether none of them is rounded. */
    bool sum, squares;
    bool (*fraction)(mpfr_t over, mpfr_t under, const struct reference *r);
};
extern const struct exact_rules reference_sum, reference_norm, reference_mean, reference_variance,
    reference_product, reference_extremum, reference_exponentials, reference_rmsnorm,
    reference_layernorm;

/* Sums of elements, or of products, by the kind that is asked for: a rule's `compute`. */
enum status reference_sums(struct reference *r, const struct array *a, const struct array *b,
                           enum reference_kind kind, struct problem *p);

/* Squares of sums of doubles, and of doubles, times n^2 < 2^128: from 2^-2148 to 2^2304. */
enum { MOMENT_PRECISION = 4608 };

/* n^2 variance = n sum x^2 - (sum x)^2, of r->moment; false if it was rounded. */
bool reference_scatter(mpfr_t to, const struct reference *r);

/* x has REFERENCE_DIGITS bits, cut towards zero; what was cut off it is made to say in two more. */
void reference_finish_cut(mpfr_t x, bool cut);

/* Sets sum, sum_abs and cut of a norm, a mean or a variance from `moment` and n. Returns false if
 * something that has to be exact was rounded. */
bool reference_derive(struct reference *r);

/* Sets excess and size, initialised, to A - |value| and |value|, both times the same factor, each
 * rounded once or not at all. */
void reference_excess(mpfr_t excess, mpfr_t size, const struct reference *r);
