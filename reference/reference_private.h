/* What the files of the reference share. Private to reference/. */
#ifndef ULPSCOPE_REFERENCE_PRIVATE_H
#define ULPSCOPE_REFERENCE_PRIVATE_H

#include "reference/census.h"
#include "reference/reference.h"

void reference_take_census(struct reference *r, const struct census *c);

/* Counts a double by itself: a way of its own beside census_add. */
void reference_count_one(struct census *c, double x, enum format f);

/* Set sum and sum_abs, initialised, and the census, of both arrays together. */
enum status reference_dot_fast(struct reference *r, const struct array *a, const struct array *b,
                               struct problem *p);
enum status reference_dot_mpfr(struct reference *r, const struct array *a, const struct array *b,
                               struct problem *p);

#endif
