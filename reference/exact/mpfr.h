/* The value of a superaccumulator as an MPFR number, with all bits. */
#pragma once

#include <mpfr.h>

#include "reference/exact/exact.h"

/* Sets `to` (initialised by the caller) to the sum, or to the sum of the
 * magnitudes, without rounding; its precision is changed to what that takes. */
void exact_get(mpfr_t to, const struct exact *e);
void exact_get_abs(mpfr_t to, const struct exact *e);

/* x rounded once to f; x of any precision, or cut as reference.h's `sum` is. */
double round_mpfr(const mpfr_t x, enum format f);
