/* Enclosures of a row's exact values by MPFR, of few bits: enough for most roundings. */
#pragma once

#include "reference/exact/value.h"

struct enclosed;

/* NULL where memory is short. The array is kept, not copied. */
struct enclosed *exponentials_enclose(enum exact_value of, const struct array *x);
/* *y = the value, of the row or of element i, rounded once to f; false where its enclosure does not
 * tell. */
bool exponentials_decide(struct enclosed *e, size_t i, enum format f, double *y);
/* The same, always told, also of what is no number: the reference's value without what theorems ask
 * of the row, which would take as long as the row for each of its elements. */
double exponentials_settle(struct enclosed *e, size_t i, enum format f);
void exponentials_enclosed_free(struct enclosed *e); /* NULL is fine */
