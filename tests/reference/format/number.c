/* The writer of numbers against printf, strtod and MPFR. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/format/number.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

/* Bit patterns, decimal fractions, whole numbers, powers of two and of ten: in turn. */
static double draw(uint64_t *seed, int round)
{
    uint64_t random = sample_next(seed);
    int64_t whole = (int64_t)random >> sample_next(seed) % 63;
    switch (round % 5) {
    case 0:
        return double_from_bits(random);
    case 1:
        return (double)(whole % 1000000) / 1000;
    case 2:
        return (double)whole;
    case 3:
        return ldexp((double)(random % 7) - 3, (int)(random >> 32) % 2200 - 1100);
    default:
        return pow(10, (double)((int)(random >> 32) % 640 - 320)) * ((double)(random % 3) - 1);
    }
}

Test(number, decimals_are_those_of_printf_and_read_back)
{
    uint64_t seed = 81;
    for (int round = 0; round < 300000; round++) {
        double x = draw(&seed, round);
        char text[NUMBER_TEXT], due[64];
        number_decimal(text, x);
        snprintf(due, sizeof due, "%.17g", x);
        cr_assert_str_eq(text, isnan(x) ? "nan" : due, "%a: %s, not %s", x, text, due);
        cr_assert(same_double(strtod(text, NULL), x), "%a: %s", x, text);
        MPFR_DECL_INIT(same, 53);
        mpfr_set_d(same, x, MPFR_RNDN);
        number_decimal_mpfr(due, same);
        cr_assert_str_eq(text, due, "%a: %s, not %s", x, text, due);
    }
}

/* One text for one value: a leading 1, no zeros at the end. */
Test(number, hex_is_canonical_and_reads_back)
{
    uint64_t seed = 82;
    for (int round = 0; round < 300000; round++) {
        double x = draw(&seed, round);
        char text[NUMBER_TEXT];
        number_hex(text, x);
        cr_assert(same_double(strtod(text, NULL), x), "%a: %s", x, text);
        if (!isfinite(x) || x == 0)
            continue;
        const char *digits = text + (*text == '-');
        cr_assert(strncmp(digits, "0x1", 3) == 0, "%a: %s", x, text);
        const char *p = strchr(digits, 'p');
        cr_assert(p && (p[1] == '+' || p[1] == '-'), "%a: %s", x, text);
        cr_assert(p == digits + 3 || (digits[3] == '.' && p > digits + 4 && p[-1] != '0'), "%a: %s",
                  x, text);
        MPFR_DECL_INIT(same, 53);
        mpfr_set_d(same, x, MPFR_RNDN);
        char *wide = number_hex_mpfr(same);
        cr_assert_str_eq(wide, text, "%s and %s", wide, text);
        free(wide);
    }
}

Test(number, texts_by_hand)
{
    static const struct {
        double x;
        const char *decimal, *hex;
    } cases[] = {
        {0.0, "0", "0x0p+0"},
        {-0.0, "-0", "-0x0p+0"},
        {3, "3", "0x1.8p+1"},
        {-1, "-1", "-0x1p+0"},
        {0.1, "0.10000000000000001", "0x1.999999999999ap-4"},
        {0.0001, "0.0001", "0x1.a36e2eb1c432dp-14"},
        {1e-5, "1.0000000000000001e-05", "0x1.4f8b588e368f1p-17"},
        {1e16, "10000000000000000", "0x1.1c37937e08p+53"},
        {1e17, "1e+17", "0x1.6345785d8ap+56"},
        {-0x1p-1074, "-4.9406564584124654e-324", "-0x1p-1074"},
        {0x1.fffffffffffffp1023, "1.7976931348623157e+308", "0x1.fffffffffffffp+1023"},
        {INFINITY, "inf", "inf"},
        {-INFINITY, "-inf", "-inf"},
        {NAN, "nan", "nan"},
        {-NAN, "nan", "nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[NUMBER_TEXT];
        MPFR_DECL_INIT(same, 53);
        mpfr_set_d(same, cases[i].x, MPFR_RNDN);
        number_decimal(text, cases[i].x);
        cr_expect_str_eq(text, cases[i].decimal, "%s, not %s", text, cases[i].decimal);
        number_decimal_mpfr(text, same);
        cr_expect_str_eq(text, cases[i].decimal, "%s, not %s", text, cases[i].decimal);
        number_hex(text, cases[i].x);
        cr_expect_str_eq(text, cases[i].hex, "%s, not %s", text, cases[i].hex);
        char *wide = number_hex_mpfr(same);
        cr_expect_str_eq(wide, cases[i].hex, "%s, not %s", wide, cases[i].hex);
        free(wide);
    }
}

/* Exact sums: up to 2176 bits, beyond the range of doubles. */
Test(number, wide_numbers_read_back_bit_for_bit)
{
    uint64_t seed = 83;
    mpfr_t x, back;
    mpz_t integer;
    gmp_randstate_t random;
    mpfr_init2(x, 2300);
    mpfr_init2(back, 2300);
    mpz_init(integer);
    gmp_randinit_default(random);
    gmp_randseed_ui(random, 84);
    for (int round = 0; round < 3000; round++) {
        mpz_urandomb(integer, random, 1 + sample_next(&seed) % 2300);
        mpfr_set_z_2exp(x, integer, (long)(sample_next(&seed) % 2500) - 2400, MPFR_RNDN);
        if (round % 2)
            mpfr_neg(x, x, MPFR_RNDN);
        char *hex = number_hex_mpfr(x);
        cr_assert(hex && mpfr_set_str(back, hex, 0, MPFR_RNDN) == 0, "%s", hex);
        cr_assert(same_mpfr(x, back), "round %d: %s", round, hex);
        free(hex);
        char text[NUMBER_TEXT], due[64];
        number_decimal_mpfr(text, x);
        mpfr_snprintf(due, sizeof due, "%.17Rg", x);
        cr_assert_str_eq(text, due, "%s, not %s", text, due);
    }
    mpfr_set_str(x, "1.25e400", 10, MPFR_RNDN);
    char text[NUMBER_TEXT];
    number_decimal_mpfr(text, x);
    cr_assert_str_eq(text, "1.25e+400", "%s", text);
    mpz_clear(integer);
    gmp_randclear(random);
    mpfr_clears(x, back, (mpfr_ptr)0);
}

Test(number, bits_have_the_width_of_their_format)
{
    static const char *const one[] = {"0x3c00", "0x3f80", "0x3f800000", "0x3ff0000000000000",
                                      "0x38",   "0x3c"};
    static const char *const zero[] = {"0x8000", "0x8000", "0x80000000", "0x8000000000000000",
                                       "0x80",   "0x80"};
    static const char *const nan[] = {"0x7e00", "0x7fc0", "0x7fc00000", "0x7ff8000000000000",
                                      "0x7f",   "0x7e"};
    static const char *const least[] = {"0x0001", "0x0001", "0x00000001", "0x0000000000000001",
                                        "0x01",   "0x01"};
    for (enum format f = 0; f < FORMATS; f++) {
        char text[NUMBER_TEXT];
        number_bits(text, f, 1);
        cr_expect_str_eq(text, one[f], "%s", text);
        number_bits(text, f, -0.0);
        cr_expect_str_eq(text, zero[f], "%s", text);
        number_bits(text, f, -NAN);
        cr_expect_str_eq(text, nan[f], "%s", text);
        number_bits(text, f, format_facts[f].smallest);
        cr_expect_str_eq(text, least[f], "%s", text);
    }
}
