/* The one writer of numbers: the same text for the same value, everywhere.
 *
 * Decimal: as C's %.17g with `nan`, `inf`, `-inf`. Hexadecimal: C99 hex floats
 * with a leading 1 and no trailing zeros, `0x1.8p+1`, `-0x1p-1074`, `0x0p+0`,
 * `-0x0p+0`; `inf`, `-inf`, `nan`. Every NaN prints as `nan`. */
#pragma once

#include <mpfr.h>

#include "reference/format/format.h"

enum { NUMBER_TEXT = 32 }; /* bytes that hold any decimal, or any double in hex */

void number_decimal(char text[NUMBER_TEXT], double x);
void number_hex(char text[NUMBER_TEXT], double x);

/* `0x` and as many hexadecimal digits as the format's width has (NaN canonical). */
void number_bits(char text[NUMBER_TEXT], enum format f, double x);

/* The value of x correctly rounded to 17 significant decimal digits, in %.17g's
 * style, exponents of up to nine digits. */
void number_decimal_mpfr(char text[NUMBER_TEXT], const mpfr_t x);

/* All bits of x as a hex float, as many digits as it takes. The caller frees it;
 * NULL when memory is short. */
char *number_hex_mpfr(const mpfr_t x);

/* Reads a number as people write sizes: `1000`, `1e6`, `0.5`, `2^20`, `2^-10`: no sign, no
 * hexadecimal digits, no `inf` or `nan`. A long double holds every whole number below 2^64. False
 * where the text is anything else. */
bool number_read(long double *value, const char *text, size_t length);
/* The same as a double, which must be finite. */
bool real_read(double *value, const char *text, size_t length);
