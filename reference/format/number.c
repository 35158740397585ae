#include "reference/format/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 17 };

/* Lays out d.ddd * 10^exponent as %.17g does: without trailing zeros, and with an exponent only
 * below -4 and from 17 on. */
static void lay_out(char text[NUMBER_TEXT], bool negative, const char digits[DIGITS], long exponent)
{
    char *out = text;
    int used = DIGITS;
    while (used > 1 && digits[used - 1] == '0')
        used--;
    if (negative)
        *out++ = '-';
    if (exponent < -4 || exponent >= DIGITS) {
        *out++ = digits[0];
        if (used > 1)
            out += sprintf(out, ".%.*s", used - 1, digits + 1);
        snprintf(out, (size_t)(text + NUMBER_TEXT - out), "e%c%02ld", exponent < 0 ? '-' : '+',
                 labs(exponent));
    } else if (exponent < 0) {
        sprintf(out, "0.%.*s%.*s", (int)-exponent - 1, "0000", used, digits);
    } else {
        int whole = (int)exponent + 1; /* digits before the point; zeros there are digits */
        out += sprintf(out, "%.*s", whole, digits);
        if (used > whole)
            sprintf(out, ".%.*s", used - whole, digits + whole);
    }
}

/* NaN, infinities and zeros; `zero` is how an unsigned zero prints. */
static bool special(char text[NUMBER_TEXT], const mpfr_t x, const char *zero)
{
    const char *sign = mpfr_signbit(x) ? "-" : "";
    if (mpfr_nan_p(x))
        strcpy(text, "nan");
    else if (mpfr_inf_p(x))
        sprintf(text, "%sinf", sign);
    else if (mpfr_zero_p(x))
        sprintf(text, "%s%s", sign, zero);
    else
        return false;
    return true;
}

void number_decimal_mpfr(char text[NUMBER_TEXT], const mpfr_t x)
{
    if (special(text, x, "0"))
        return;
    char digits[DIGITS + 2]; /* a sign, the digits, the end */
    mpfr_exp_t exponent;     /* of 0.ddd */
    mpfr_get_str(digits, &exponent, 10, DIGITS, x, MPFR_RNDN);
    bool negative = digits[0] == '-';
    lay_out(text, negative, digits + negative, (long)exponent - 1);
}

/* Most figures of a study are whole, and few long: their digits are known without a division. */
static bool small_whole(char text[NUMBER_TEXT], double x)
{
    if (!(fabs(x) < 0x1p53) || x != (double)(long long)x || (x == 0 && signbit(x)))
        return false;
    char digits[24], *at = digits + sizeof digits;
    unsigned long long left = (unsigned long long)fabs(x);
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (x < 0)
        *--at = '-';
    size_t length = (size_t)(digits + sizeof digits - at);
    memcpy(text, at, length);
    text[length] = 0;
    return true;
}

void number_decimal(char text[NUMBER_TEXT], double x)
{
    if (small_whole(text, x))
        return;
    MPFR_DECL_INIT(value, 53);
    mpfr_set_d(value, x, MPFR_RNDN);
    number_decimal_mpfr(text, value);
}

/* Writes 1.fff * 2^exponent; `fraction` are hexadecimal digits, perhaps with zeros at the end. */
static void hex(char *text, size_t room, bool negative, const char *fraction, long exponent)
{
    int used = (int)strlen(fraction);
    while (used > 0 && fraction[used - 1] == '0')
        used--;
    snprintf(text, room, "%s0x1%s%.*sp%+ld", negative ? "-" : "", used ? "." : "", used, fraction,
             exponent);
}

void number_hex(char text[NUMBER_TEXT], double x)
{
    MPFR_DECL_INIT(value, 53);
    mpfr_set_d(value, x, MPFR_RNDN);
    if (special(text, value, "0x0p+0"))
        return;
    char fraction[16];
    int exponent;
    double significand = 2 * frexp(fabs(x), &exponent);
    snprintf(fraction, sizeof fraction, "%013llx",
             (unsigned long long)double_bits(significand) & 0xfffffffffffff);
    hex(text, NUMBER_TEXT, x < 0, fraction, exponent - 1);
}

char *number_hex_mpfr(const mpfr_t x)
{
    /* Sign, "0x1.", a digit for four bits, "p+", an exponent of up to 20 characters, the end. */
    size_t room = NUMBER_TEXT + 32 + (size_t)mpfr_get_prec(x) / 4;
    char *text = malloc(room), *digits = malloc(room);
    if (text && digits && !special(text, x, "0x0p+0")) {
        mpz_t integer;
        mpz_init(integer);
        long exponent = mpfr_get_z_2exp(integer, x);
        size_t bits = mpz_sizeinbase(integer, 2);
        mpz_abs(integer, integer);
        mpz_mul_2exp(integer, integer, (4 - (bits - 1) % 4) % 4);
        mpz_get_str(digits, 16, integer); /* begins with the leading 1 */
        mpz_clear(integer);
        hex(text, room, mpfr_signbit(x), digits + 1, exponent + (long)bits - 1);
    }
    if (!digits) {
        free(text);
        text = NULL;
    }
    free(digits);
    return text;
}

void number_bits(char text[NUMBER_TEXT], enum format f, double x)
{
    snprintf(text, NUMBER_TEXT, "0x%0*llx", 2 * format_facts[f].bytes,
             (unsigned long long)format_encode(f, x));
}

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
