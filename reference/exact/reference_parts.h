/* What the files of the reference share. */
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

/* The same of a product, with what `moment` has of it, and `cut`; of extrema and their indices. */
enum status reference_product_fast(struct reference *r, const struct array *a, struct problem *p);
enum status reference_product_mpfr(struct reference *r, const struct array *a, struct problem *p);
void reference_extremum_fast(struct reference *r, const struct array *a);
void reference_extremum_mpfr(struct reference *r, const struct array *a);

/* reference_error of a product. */
void reference_product_error(mpfr_t error, const struct reference *r, double result);

/* x has REFERENCE_DIGITS bits, cut towards zero; what was cut off it is made to say in two more. */
void reference_finish_cut(mpfr_t x, bool cut);

/* Of a norm, a mean or a variance: set sum, sum_abs and cut by `moment` and n. False where what
 * should be exact was rounded. */
bool reference_derive(struct reference *r);

/* Sets excess and size, initialised, to A - |value| and |value|, both times the same factor, each
 * rounded once or not at all. */
void reference_excess(mpfr_t excess, mpfr_t size, const struct reference *r);
