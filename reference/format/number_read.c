#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/format/number.h"

/* DIGITS[.DIGITS][e[SIGN]DIGITS], read whole; false if the text is anything else. */
static bool read_decimal(const char *text, size_t length, long double *value)
{
    char copy[64], *end;
    if (length == 0 || length >= sizeof copy || strspn(text, "0123456789.eE+-") < length ||
        strchr("+-eE", text[0]))
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    *value = strtold(copy, &end);
    return !*end;
}

bool number_read(long double *value, const char *text, size_t length)
{
    const char *hat = memchr(text, '^', length);
    long double exponent;
    if (!hat)
        return read_decimal(text, length, value);
    size_t base_length = (size_t)(hat - text), left = length - base_length - 1;
    bool down = left > 0 && hat[1] == '-';
    if (!read_decimal(text, base_length, value) ||
        !read_decimal(hat + 1 + down, left - down, &exponent) || exponent != floorl(exponent) ||
        exponent > 16384)
        return false;
    long double base = *value;
    *value = 1;
    for (int i = 0; i < (int)exponent; i++)
        *value = down ? *value / base : *value * base;
    return true;
}

bool real_read(double *value, const char *text, size_t length)
{
    long double number;
    if (!number_read(&number, text, length) || !isfinite((double)number))
        return false;
    *value = (double)number;
    return true;
}
