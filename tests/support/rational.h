/* Rational numbers in expressions, for tests: each call gives a new number, and rational_forget
 * frees all of them. */
#pragma once

#include <mpfr.h>

typedef mpq_srcptr rational;

rational whole(unsigned long x);
rational from_double(double x);
rational from_mpfr(const mpfr_t x); /* finite */
rational plus(rational a, rational b);
rational minus(rational a, rational b);
rational times(rational a, rational b);
rational over(rational a, rational b); /* b is not 0 */
rational to_power(rational a, unsigned long k);
rational size_of(rational a); /* |a| */
rational lesser(rational a, rational b);
rational greater(rational a, rational b);

void rational_forget(void);
