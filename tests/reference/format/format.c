/* The formats against MPFR, at every encoding of 16 bits and around every boundary. */
#include <criterion/criterion.h>

#include <float.h>
#include <math.h>

#include "reference/format/array.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

enum { SHORT_FORMATS = 4 };
static const enum format short_formats[SHORT_FORMATS] = {FP16, BF16, E4M3, E5M2};

static uint64_t encodings(enum format f)
{
    return UINT64_C(1) << 8 * format_facts[f].bytes;
}

/* A row that the table could have. */
#define FORMAT(constant, ...) static const struct format_facts constant = FORMAT_FACTS(__VA_ARGS__);
FORMAT(e4m3_saturating, "e4m3", 8, 4, 6, 8, 0, 1)
#undef FORMAT

/* The value of an encoding by the oracle, as a double. */
static double value_of(enum format f, uint64_t bits)
{
    mpfr_t x;
    mpfr_init2(x, 64);
    oracle_decode(x, f, bits);
    double value = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return value;
}

static double rounded(enum format f, double x)
{
    MPFR_DECL_INIT(exact, 53);
    mpfr_set_d(exact, x, MPFR_RNDN);
    return oracle_round(f, exact);
}

static void expect_rounding(enum format f, double x)
{
    double got = format_round(f, x), due = rounded(f, x);
    cr_assert(same_double(got, due), "%s: %a rounds to %a, MPFR says %a", format_facts[f].name, x,
              got, due);
    double back = value_of(f, format_encode(f, x));
    cr_assert(same_double(back, due), "%s: %a encodes as %a, MPFR says %a", format_facts[f].name, x,
              back, due);
}

/* A double, its negative, and their neighbours. */
static void expect_rounding_around(enum format f, double x)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        expect_rounding(f, sign * x);
        expect_rounding(f, nextafter(sign * x, INFINITY));
        expect_rounding(f, nextafter(sign * x, -INFINITY));
    }
}

/* IEEE 754-2019, table 3.5; bfloat16; the Open Compute Project's 8-bit formats. The largest finite
 * number, the smallest subnormal, infinity or else NaN, NaN. */
Test(format, rows_are_what_the_standards_say)
{
    const struct {
        struct format_facts facts;
        enum format f; /* FORMATS: not in the table */
        int precision, emin, emax, bytes;
        double largest, smallest, too_large;
        uint64_t specials, nan;
    } due[] = {
        {format_facts[FP16], FP16, 11, -14, 15, 2, 65504, 0x1p-24, INFINITY, 0x7c00, 0x7e00},
        {format_facts[BF16], BF16, 8, -126, 127, 2, 0x1.fep127, 0x1p-133, INFINITY, 0x7f80, 0x7fc0},
        {format_facts[FP32], FP32, FLT_MANT_DIG, FLT_MIN_EXP - 1, FLT_MAX_EXP - 1, 4, FLT_MAX,
         0x1p-149, INFINITY, 0x7f800000, 0x7fc00000},
        {format_facts[FP64], FP64, DBL_MANT_DIG, DBL_MIN_EXP - 1, DBL_MAX_EXP - 1, 8, DBL_MAX,
         0x1p-1074, INFINITY, 0x7ff0000000000000, 0x7ff8000000000000},
        {format_facts[E4M3], E4M3, 4, -6, 8, 1, 448, 0x1p-9, NAN, 0x7f, 0x7f},
        {e4m3_saturating, FORMATS, 4, -6, 8, 1, 448, 0x1p-9, 448, 0x7f, 0x7f},
        {format_facts[E5M2], E5M2, 3, -14, 15, 1, 57344, 0x1p-16, INFINITY, 0x7c, 0x7e},
    };
    int rows = 0;
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        const struct format_facts *row = &due[i].facts;
        rows += due[i].f != FORMATS;
        cr_expect(row->precision == due[i].precision && row->emin == due[i].emin &&
                      row->emax == due[i].emax && row->bytes == due[i].bytes,
                  "%s: %d %d %d %d", row->name, row->precision, row->emin, row->emax, row->bytes);
        cr_expect(row->largest == due[i].largest && row->smallest == due[i].smallest &&
                      same_double(row->too_large, due[i].too_large),
                  "%s: %a %a %a", row->name, row->largest, row->smallest, row->too_large);
        cr_expect(row->specials == due[i].specials && row->nan == due[i].nan, "%s: %jx %jx",
                  row->name, (uintmax_t)row->specials, (uintmax_t)row->nan);
    }
    cr_expect(rows == FORMATS, "%d of %d rows", rows, FORMATS);
}

Test(format, facts_follow_from_precision_and_range)
{
    for (enum format f = 0; f < FORMATS; f++) {
        const struct format_facts *facts = &format_facts[f];
        int p = facts->precision;
        cr_expect(facts->unit_roundoff == ldexp(1, -p), "%s", facts->name);
        double top = 2 - ldexp(f == E4M3 ? 2 : 1, 1 - p); /* the last of E4M3 is the NaN */
        cr_expect(facts->largest == ldexp(top, facts->emax), "%s", facts->name);
        cr_expect(facts->smallest == ldexp(1, facts->emin - p + 1), "%s", facts->name);
        cr_expect(facts->smallest_normal == ldexp(1, facts->emin), "%s", facts->name);
        cr_expect(facts->emin == (f == E4M3 ? 2 : 1) - facts->emax, "%s", facts->name);
        cr_expect(format_named(facts->name) == f, "%s", facts->name);
    }
    cr_expect(format_named("fp8") == FORMATS);
    cr_expect(format_named("") == FORMATS);
    cr_expect(format_named("FP16") == FORMATS);
}

Test(format, every_short_encoding_decodes_and_encodes_back)
{
    for (int k = 0; k < SHORT_FORMATS; k++)
        for (uint64_t bits = 0; bits < encodings(short_formats[k]); bits++) {
            enum format f = short_formats[k];
            double value = value_of(f, bits), got = format_decode(f, bits);
            cr_assert(same_double(got, value), "%s 0x%04x decodes to %a, MPFR says %a",
                      format_facts[f].name, (unsigned)bits, got, value);
            cr_assert(same_double(format_decode(f, bits | 0xabcd0000), value),
                      "%s 0x%04x: bits above the width count", format_facts[f].name,
                      (unsigned)bits);
            static const uint64_t nan[SHORT_FORMATS] = {0x7e00, 0x7fc0, 0x7f, 0x7e};
            uint64_t canonical = isnan(value) ? nan[k] : bits;
            cr_assert(format_encode(f, value) == canonical, "%s 0x%04x encodes to 0x%04x",
                      format_facts[f].name, (unsigned)bits, (unsigned)format_encode(f, value));
            cr_assert(format_canonical(f, bits) == canonical, "%s 0x%04x canonical: 0x%04x",
                      format_facts[f].name, (unsigned)bits, (unsigned)format_canonical(f, bits));
        }
}

/* Neighbours by the order of encodings, the oracle's values on both sides of an assertion. */
Test(format, every_short_encoding_has_its_ulp_and_its_neighbours)
{
    for (int k = 0; k < SHORT_FORMATS; k++)
        for (uint64_t bits = 0; bits < encodings(short_formats[k]) / 2; bits++) {
            enum format f = short_formats[k];
            const struct format_facts *facts = &format_facts[f];
            double x = value_of(f, bits), up = NAN, down = NAN, ulp = NAN;
            if (!isnan(x)) {
                up = isinf(x) ? x : x == facts->largest ? INFINITY : value_of(f, bits + 1);
                down = x == 0 ? -facts->smallest : value_of(f, bits - 1);
            }
            if (isfinite(x))
                ulp = x == facts->largest ? x - down : up - x;
            cr_assert(same_double(format_ulp(f, x), ulp), "%s: ulp(%a)", facts->name, x);
            cr_assert(same_double(format_ulp(f, -x), ulp), "%s: ulp(-%a)", facts->name, x);
            cr_assert(same_double(format_next_up(f, x), up), "%s: next_up(%a) = %a", facts->name, x,
                      format_next_up(f, x));
            cr_assert(same_double(format_next_down(f, x), down), "%s: next_down(%a) = %a",
                      facts->name, x, format_next_down(f, x));
            if (x == 0)
                continue;
            cr_assert(same_double(format_next_down(f, -x), -up), "%s: next_down(-%a)", facts->name,
                      x);
            cr_assert(same_double(format_next_up(f, -x), -down), "%s: next_up(-%a)", facts->name,
                      x);
        }
}

Test(format, neighbours_at_the_edges_of_every_format)
{
    for (enum format f = 0; f < FORMATS; f++) {
        const struct format_facts *facts = &format_facts[f];
        const char *name = facts->name;
        cr_expect(format_next_up(f, 0.0) == facts->smallest, "%s", name);
        cr_expect(format_next_up(f, -0.0) == facts->smallest, "%s", name);
        cr_expect(format_next_down(f, -0.0) == -facts->smallest, "%s", name);
        cr_expect(same_double(format_next_up(f, -facts->smallest), -0.0), "%s", name);
        cr_expect(format_next_up(f, facts->largest) == INFINITY, "%s", name);
        cr_expect(format_next_up(f, -INFINITY) == -facts->largest, "%s", name);
        cr_expect(format_next_down(f, facts->smallest_normal) ==
                      facts->smallest_normal - facts->smallest,
                  "%s", name);
        cr_expect(format_next_up(f, 1) == 1 + 2 * facts->unit_roundoff, "%s", name);
        cr_expect(format_next_down(f, 1) == 1 - facts->unit_roundoff, "%s", name);
        cr_expect(isnan(format_next_up(f, NAN)) && isnan(format_next_down(f, NAN)), "%s", name);
    }
}

/* For x between the numbers of f too: from MPFR's exponent. */
Test(format, ulp_of_any_double)
{
    uint64_t seed = 11;
    for (int i = 0; i < 400000; i++)
        for (enum format f = 0; f < FORMATS; f++) {
            const struct format_facts *facts = &format_facts[f];
            double x = double_from_bits(sample_next(&seed));
            if (i % 2) /* the format's own range, powers of two among it */
                x = ldexp(i % 4 == 1 ? 1 : 1 + (double)(sample_next(&seed) >> 12) * 0x1p-52,
                          facts->emin - 70 + i % (facts->emax - facts->emin + 140));
            MPFR_DECL_INIT(exact, 53);
            mpfr_set_d(exact, x, MPFR_RNDN);
            double ulp = NAN;
            if (mpfr_number_p(exact)) {
                long e = mpfr_zero_p(exact) ? facts->emin : mpfr_get_exp(exact) - 1;
                e = e < facts->emin ? facts->emin : e > facts->emax ? facts->emax : e;
                ulp = ldexp(1, (int)e - facts->precision + 1);
            }
            cr_assert(same_double(format_ulp(f, x), ulp), "%s: ulp(%a) = %a", facts->name, x,
                      format_ulp(f, x));
        }
}

/* Each number of 16 bits, the midpoint to the next, and the doubles beside them. */
Test(format, rounding_at_every_short_boundary)
{
    for (int k = 0; k < SHORT_FORMATS; k++)
        for (uint64_t bits = 0; bits < encodings(short_formats[k]) / 2; bits++) {
            enum format f = short_formats[k];
            double x = value_of(f, bits), next = value_of(f, bits + 1);
            if (!isfinite(x))
                break;
            if (!isfinite(next)) /* what lies above the largest number, if it were one */
                next = f == E4M3 ? 480 : ldexp(1, format_facts[f].emax + 1);
            expect_rounding_around(f, x);
            expect_rounding_around(f, x + (next - x) / 2);
            expect_rounding(f, x + (next - x) / 4);
            expect_rounding(f, x + (next - x) / 4 * 3);
        }
}

Test(format, rounding_at_sampled_boundaries_of_fp32)
{
    uint64_t seed = 12;
    for (uint64_t i = 0; i < 400000; i++) {
        uint64_t bits = sample_next(&seed) & 0x7fffffff;
        if (i < 256 * 512) /* every exponent with fractions of zeros, ones and few of either */
            bits = i / 512 << 23 | (((i & 255) - 128) & 0x7fffff) >> (i & 256 ? 8 : 0);
        double x = value_of(FP32, bits & 0x7fffffff), next = value_of(FP32, bits + 1);
        if (!isfinite(x))
            continue;
        next = isinf(next) ? 0x1p128 : next;
        expect_rounding(FP32, x);
        expect_rounding_around(FP32, x + (next - x) / 2);
    }
}

Test(format, rounding_of_any_double)
{
    uint64_t seed = 13;
    for (int i = 0; i < 500000; i++)
        for (enum format f = 0; f < FORMATS; f++) {
            expect_rounding(f, double_from_bits(sample_next(&seed)));
            const struct format_facts *facts = &format_facts[f];
            double x = 1 + (double)(sample_next(&seed) >> 12) * 0x1p-52;
            int span = facts->emax - facts->emin + facts->precision + 8;
            expect_rounding(f, ldexp(x, facts->emin - facts->precision - 4 + i % span));
        }
}

Test(format, rounding_of_what_is_no_number_and_of_the_traps)
{
    for (enum format f = 0; f < FORMATS; f++) {
        const struct format_facts *facts = &format_facts[f];
        const double cases[] = {0.0,
                                INFINITY,
                                0x1p-1074,
                                0x1p-1022,
                                0x1.fffffffffffffp1023,
                                facts->largest,
                                facts->smallest / 2,
                                facts->smallest * 1.5,
                                facts->smallest_normal - facts->smallest,
                                facts->largest * (1 + facts->unit_roundoff / 2),
                                1 + 0x1p-11 +
                                    0x1p-30, /* through fp32 it would round to 1 in fp16 */
                                1 + 0x1p-8 + 0x1p-30,
                                65519.99,
                                65520,
                                0x1.ffffffp127,
                                0x1.fffffefffffffp127};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            expect_rounding_around(f, cases[i]);
        cr_expect(isnan(format_round(f, NAN)) && isnan(format_round(f, -NAN)), "%s", facts->name);
        cr_expect(format_encode(f, -NAN) == format_encode(f, NAN), "%s: NaN", facts->name);
        for (uint64_t payload = 1; payload < UINT64_C(1) << 52; payload *= 2) {
            double nan = double_from_bits(UINT64_C(0xfff) << 52 | payload);
            cr_expect(isnan(format_round(f, nan)), "%s: NaN of payload %llx", facts->name,
                      (unsigned long long)payload);
            cr_expect(format_encode(f, nan) == format_encode(f, NAN), "%s: NaN of payload %llx",
                      facts->name, (unsigned long long)payload);
        }
    }
    cr_expect(format_round(FP16, 1 + 0x1p-11 + 0x1p-30) == 1 + 0x1p-10);
    cr_expect(format_encode(FP32, NAN) == 0x7fc00000);
    cr_expect(format_encode(FP64, NAN) == UINT64_C(0x7ff8) << 48);
}

Test(format, wide_encodings_decode)
{
    uint64_t seed = 14;
    for (int i = 0; i < 500000; i++)
        for (enum format f = FP32; f <= FP64; f++) {
            uint64_t bits = sample_next(&seed) >> (f == FP32 ? 32 : 0);
            double value = value_of(f, bits);
            cr_assert(same_double(format_decode(f, bits), value), "%s 0x%llx", format_facts[f].name,
                      (unsigned long long)bits);
            uint64_t canonical = format_canonical(f, bits);
            cr_assert(isnan(value) ? canonical == format_encode(f, NAN) : canonical == bits,
                      "%s 0x%llx canonical", format_facts[f].name, (unsigned long long)bits);
            cr_assert(format_encode(f, value) == canonical, "%s 0x%llx encodes back",
                      format_facts[f].name, (unsigned long long)bits);
        }
}

/* Pairs next to where rounding turns: a number of f, half an ulp beyond it or not, and a little. */
Test(format, pairs_round_once)
{
    uint64_t seed = 15;
    mpfr_t sum;
    mpfr_init2(sum, 2200);
    for (int i = 0; i < 400000; i++) {
        enum format f = (enum format)(i % FORMATS);
        uint64_t draw = sample_next(&seed);
        double x = format_decode(f, sample_next(&seed));
        double hi = x + (draw & 1 ? format_ulp(f, x) / 2 : 0) * (draw & 2 ? 1 : -1);
        if (draw % 5 == 0)
            hi = double_from_bits(sample_next(&seed));
        if (draw & 32) /* beside that */
            hi = nextafter(hi, draw & 64 ? INFINITY : -INFINITY);
        if (!isfinite(hi))
            continue;
        double lo = ldexp(1 + (double)(draw >> 12) * 0x1p-52, ilogb(hi == 0 ? 0x1p-1074 : hi) - 54);
        lo = hi == 0 || draw % 7 == 0 ? 0 : draw & 4 ? lo : ldexp(lo, -(int)(draw >> 7 & 127));
        lo = draw & 16 ? -lo : lo;
        if (hi + lo != hi)
            continue;
        mpfr_set_d(sum, hi, MPFR_RNDN);
        mpfr_add_d(sum, sum, lo, MPFR_RNDN);
        double due = oracle_round(f, sum), got = format_round_pair(f, hi, lo);
        cr_assert(got == due || same_double(got, due), "%s: %a %a gives %a, not %a",
                  format_facts[f].name, hi, lo, got, due);
        cr_assert(same_double(format_round_pair(f, hi, 0), format_round(f, hi)), "%a alone", hi);
    }
    mpfr_clear(sum);
}
