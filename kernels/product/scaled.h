/* Products with their exponents kept apart, so that nothing overflows or underflows on the way.
 *
 * A partial product is significand 2^exponent: the significand is +-1 <= |m| < 2, rounded to the
 * accumulator's precision, or a signed zero, an infinity or NaN, which multiply as in IEEE 754 (0
 * inf is NaN, in any order); the exponent is a whole number. */
#pragma once

#include "kernels/blocks/reduction.h"

/* m 2^exponent with a significand in [1, 2); m is finite and not 0, or else stays as it is. */
struct partial scaled(double m, int64_t exponent);

/* x, its significand rounded to f: its exponent need not be one of f's. */
struct partial scaled_element(enum format f, double x);

/* a b: one rounding. */
struct partial scaled_join(enum format f, struct partial a, struct partial b);

/* The value, rounded to f where it is subnormal there, inf or -inf beyond its largest number. */
double scaled_value(enum format f, struct partial a);

extern const struct reduction product_reduction; /* of nothing 1 */
