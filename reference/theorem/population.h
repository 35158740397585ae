/* What the theorems of variances have in common.
 *
 * A = sum|x| / n, s^2 is the variance; what carries a ~ is of the elements rounded to the
 * accumulator, each by at most u |x| + eta/2, or by nothing where it holds them. A standard
 * deviation is a seminorm of x / sqrt(n): rounding changes it by at most r = u sqrt(sum x^2 / n) +
 * eta/2, and so s~ <= s + r, |s~^2 - s^2| <= r (2s + r). */
#pragma once

#include "reference/theorem/factors.h"

/* Of the rounded elements, magnitudes, rounded up. */
struct population {
    mpfr_t mean, mean_abs, largest, deviation;
    mpfr_t moved; /* |s~^2 - s^2| */
};

/* Of r, a variance's reference, n > 0. population_free is due. */
void population_init(struct population *x, const struct reference *r, enum format storage,
                     enum format accumulator);
void population_free(struct population *x);

/* to = x (factor y + x), rounded up; numbers >= 0. */
void population_cross(mpfr_t to, const mpfr_t x, double factor, const mpfr_t y);
