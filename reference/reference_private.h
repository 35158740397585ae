/* What the files of the reference share. Private to reference/. */
#ifndef ULPSCOPE_REFERENCE_PRIVATE_H
#define ULPSCOPE_REFERENCE_PRIVATE_H

#include "reference/census.h"
#include "reference/reference.h"

void reference_take_census(struct reference *r, const struct census *c);

/* Counts a double by itself: a way of its own beside census_add. */
void reference_count_one(struct census *c, double x, enum format f);

/* Set sum and sum_abs, initialised, and the census, of both arrays together, if they are two. */
enum status reference_dot_fast(struct reference *r, const struct array *a, const struct array *b,
                               struct problem *p);
enum status reference_dot_mpfr(struct reference *r, const struct array *a, const struct array *b,
                               struct problem *p);

/* Of a norm, a mean or a variance: set sum, sum_abs and cut by `moment` and n. False where what
 * should be exact was rounded. */
bool reference_derive(struct reference *r);

/* Sets excess and size, initialised, to A - |value| and |value|, both times the same factor, each
 * rounded once or not at all. */
void reference_excess(mpfr_t excess, mpfr_t size, const struct reference *r);

#endif
