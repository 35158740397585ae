/* Numbers that are no binary fractions, known as narrowly as is asked for: Ziv's test. */
#pragma once

#include <stdbool.h>

#include <mpfr.h>

/* Sets lo <= |value| <= hi, of the sign that it returns, computed with `precision` bits; both have
 * that precision. The value is neither 0 nor a number of MPFR, so that neither end is it. */
typedef int ziv_enclose(mpfr_t lo, mpfr_t hi, mpfr_prec_t precision, const void *context);

/* Sets `to` to the value's first bits, cut towards zero, and two more, so that rounding to fewer
 * bits and comparing with numbers of fewer bits give what they give for the value: as many bits as
 * say how far it is from the nearest double, to 2^-100 of that, but no more than
 * ZIV_DIGITS_MOST: the distance is then nothing as a double. What is closer to 0 than 2^-10000
 * becomes that. It ends because the value is no number of MPFR: the enclosure becomes so narrow
 * that it has none in it. */
enum { ZIV_DIGITS = 192, ZIV_DIGITS_MOST = 2304 };
void ziv_settle(mpfr_t to, ziv_enclose *enclose, const void *context);
