/* The superaccumulator against MPFR: no rounding, any order, every bit. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "reference/exact/bins.h"
#include "reference/exact/mpfr.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

static struct array array_new(enum format f, size_t n)
{
    struct array a = {f, n, malloc(n ? array_bytes(f, n) : 1)};
    cr_assert(a.data != NULL, "%zu elements", n);
    return a;
}

/* The sum, the sum of magnitudes and the sum rounded to every format are the oracle's. */
static void expect_sum(const struct exact *e, const struct array *a, const char *what)
{
    const char *name = format_facts[a->format].name;
    mpfr_t due, got;
    mpfr_init2(due, 53);
    mpfr_init2(got, 53);
    oracle_sum(due, a, true);
    exact_get_abs(got, e);
    cr_assert(same_mpfr(got, due), "%s, %s, n = %zu: sum of magnitudes", what, name, a->n);
    oracle_sum(due, a, false);
    exact_get(got, e);
    cr_assert(same_mpfr(got, due), "%s, %s, n = %zu: sum", what, name, a->n);
    for (enum format f = 0; f < FORMATS; f++) {
        double rounded = exact_round(e, f), rounded_due = oracle_round(f, due);
        cr_assert(same_double(rounded, rounded_due), "%s, %s, n = %zu: to %s %a, MPFR says %a",
                  what, name, a->n, format_facts[f].name, rounded, rounded_due);
    }
    mpfr_clears(due, got, (mpfr_ptr)0);
}

static void expect_array_sum(const struct array *a, const char *what)
{
    struct exact e;
    exact_init(&e);
    exact_add_array(&e, a, 0, a->n);
    expect_sum(&e, a, what);
}

Test(exact, every_kind_of_data_one_by_one_and_as_an_array)
{
    uint64_t seed = 31;
    for (enum format f = 0; f < FORMATS; f++)
        for (int kind = 0; kind < SAMPLES; kind++)
            for (size_t n = 0; n <= 40; n++) {
                struct array a = array_new(f, n);
                sample_fill(&a, kind, f, sample_next(&seed));
                expect_array_sum(&a, sample_name[kind]);
                struct exact e;
                exact_init(&e);
                for (size_t i = 0; i < n; i++)
                    exact_add(&e, array_get(&a, i));
                expect_sum(&e, &a, sample_name[kind]);
                free(a.data);
            }
}

/* Sizes around those where the way of adding changes. */
Test(exact, every_kind_of_data_in_bins)
{
    static const size_t sizes[] = {511, 512, 513, 515, 4095, 4096, 4097, 65535, 65537, 131075};
    uint64_t seed = 32;
    for (enum format f = 0; f < FORMATS; f++)
        for (int kind = 0; kind < SAMPLES; kind++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                if (sizes[i] > 5000 && kind % 3 != 2)
                    continue;
                struct array a = array_new(f, sizes[i]);
                sample_fill(&a, kind, f, sample_next(&seed));
                expect_array_sum(&a, sample_name[kind]);
                free(a.data);
            }
}

/* Finite numbers of any encoding: the bins of infinities and NaN stay empty, those of subnormals
 * and of the largest numbers do not. */
Test(exact, any_finite_bits)
{
    uint64_t seed = 33;
    for (enum format f = 0; f < FORMATS; f++)
        for (int round = 0; round < 12; round++) {
            struct array a = array_new(f, 300 + 70 * round);
            for (size_t i = 0; i < a.n; i++) {
                uint64_t bits;
                do
                    bits = sample_next(&seed);
                while (!isfinite(format_decode(f, bits)));
                array_set_bits(&a, i, bits);
            }
            expect_array_sum(&a, "finite bits");
            for (size_t i = 0; i < a.n; i++) /* and then only subnormals and zeros */
                array_set_bits(
                    &a, i,
                    format_encode(f, remainder(array_get(&a, i), format_facts[f].smallest_normal)));
            expect_array_sum(&a, "subnormals");
            free(a.data);
        }
}

/* Sums next to where rounding to f turns: a number of f, half an ulp, and the least that a double
 * can add. */
Test(exact, rounds_once_at_every_boundary)
{
    uint64_t seed = 34;
    for (enum format f = 0; f < FORMATS; f++)
        for (int round = 0; round < 30000; round++) {
            const struct format_facts *facts = &format_facts[f];
            double x = format_decode(f, sample_next(&seed));
            x = round % 16 == 0 ? facts->largest : round % 16 == 1 ? facts->smallest_normal : x;
            if (!isfinite(x))
                continue;
            struct array a = array_new(FP64, 4);
            double half = format_ulp(f, x) / 2, quarter = half / 2; /* may be 0 in fp64 */
            double term[] = {x, copysign(half, round & 32 ? x : -x), round & 64 ? quarter : 0,
                             round % 3 * 0x1p-1074 - 0x1p-1074};
            array_encode(&a, 0, 4, term);
            expect_array_sum(&a, "boundary");
            free(a.data);
        }
}

Test(exact, merges_of_any_partition_agree)
{
    uint64_t seed = 35;
    for (int round = 0; round < 200; round++) {
        enum format f = (enum format)(round % FORMATS);
        struct array a = array_new(f, sample_next(&seed) % 3000);
        sample_fill(&a, round / FORMATS % SAMPLES, f, sample_next(&seed));
        struct exact part[8];
        for (int k = 0; k < 8; k++)
            exact_init(&part[k]);
        for (size_t begin = 0; begin < a.n;) {
            size_t count = 1 + sample_next(&seed) % (a.n - begin);
            exact_add_array(&part[sample_next(&seed) % 8], &a, begin, count);
            begin += count;
        }
        for (int k = 7; k > 0; k--) /* in a random tree */
            exact_merge(&part[sample_next(&seed) % (uint64_t)k], &part[k]);
        expect_sum(&part[0], &a, "merged");
        free(a.data);
    }
}

Test(exact, cancellation_to_zero_is_plus_zero)
{
    uint64_t seed = 36;
    for (enum format f = 0; f < FORMATS; f++)
        for (size_t half = 1; half <= 4096; half *= 4) {
            struct array a = array_new(f, 2 * half);
            sample_fill(&a, SAMPLE_WIDE, f, sample_next(&seed));
            for (size_t i = 0; i < half; i++) {
                uint64_t j = i + sample_next(&seed) % (half - i); /* any partner */
                uint64_t bits = array_bits(&a, i), sign = UINT64_C(1)
                                                          << (8 * format_facts[f].bytes - 1);
                array_set_bits(&a, i, array_bits(&a, j));
                array_set_bits(&a, j, bits);
                array_set_bits(&a, half + i, array_bits(&a, i) ^ sign);
            }
            expect_array_sum(&a, "cancelling");
            struct exact e;
            exact_init(&e);
            exact_add_array(&e, &a, 0, a.n);
            cr_assert(same_double(exact_round(&e, f), 0.0), "%s, n = %zu", format_facts[f].name,
                      a.n);
            free(a.data);
        }
}

/* Carries ripple through all limbs, up and, after a subtraction, down. */
Test(exact, carries_run_through_every_limb)
{
    struct exact e;
    exact_init(&e);
    mpfr_t due, got;
    mpfr_init2(due, 2200);
    mpfr_init2(got, 53);
    mpfr_set_zero(due, 1);
    for (int p = -1074; p < 1024; p++) { /* every bit of every double: 2^1024 - 2^-1074 */
        exact_add(&e, ldexp(1, p));
        mpfr_add_d(due, due, ldexp(1, p), MPFR_RNDN);
    }
    exact_get(got, &e);
    cr_assert(same_mpfr(got, due));
    cr_assert(exact_round(&e, FP64) == INFINITY);
    exact_add(&e, 0x1p-1074); /* 2^1024 */
    mpfr_set_ui_2exp(due, 1, 1024, MPFR_RNDN);
    exact_get(got, &e);
    cr_assert(same_mpfr(got, due));
    exact_add(&e, -0x1p-1074);
    exact_add(&e, -0x1p1023);
    exact_add(&e, -0x1p1023); /* -2^-1074, from both sides */
    cr_assert(exact_round(&e, FP64) == -0x1p-1074, "%a", exact_round(&e, FP64));
    cr_assert(same_double(exact_round(&e, FP32), -0.0));
    mpfr_clears(due, got, (mpfr_ptr)0);
}

/* A million of the same number, as many as bins take at once and some: bins and limbs overflow into
 * their carries. */
Test(exact, many_equal_terms_are_a_product)
{
    mpfr_t due, got;
    mpfr_init2(due, 2200);
    mpfr_init2(got, 53);
    for (enum format f = 0; f < FORMATS; f++) {
        const struct format_facts *facts = &format_facts[f];
        const double term[] = {facts->largest, facts->smallest, -facts->largest,
                               -(facts->smallest_normal - facts->smallest), 1};
        struct array a = array_new(f, BINS_MOST + 3);
        for (int k = 0; k < 5; k++) {
            for (size_t i = 0; i < a.n; i++)
                array_encode(&a, i, 1, &term[k]);
            struct exact e, one;
            exact_init(&e);
            exact_init(&one);
            exact_add_array(&e, &a, 0, a.n);
            for (size_t i = 0; i < a.n; i++)
                exact_add(&one, term[k]);
            mpfr_set_d(due, term[k], MPFR_RNDN);
            mpfr_mul_ui(due, due, a.n, MPFR_RNDN);
            exact_get(got, &e);
            cr_assert(same_mpfr(got, due), "%s: %zu times %a", facts->name, a.n, term[k]);
            exact_get(got, &one);
            cr_assert(same_mpfr(got, due), "%s: %zu times %a, one by one", facts->name, a.n,
                      term[k]);
        }
        free(a.data);
    }
    mpfr_clears(due, got, (mpfr_ptr)0);
}

/* 2^63 - 1 terms, by doubling. */
Test(exact, the_most_terms_fit)
{
    const double term[] = {0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 0x1p-1074, -1.1};
    mpfr_t due, got;
    mpfr_init2(due, 2200);
    mpfr_init2(got, 53);
    for (int k = 0; k < 4; k++) {
        struct exact total, doubling;
        exact_init(&total);
        exact_init(&doubling);
        exact_add(&doubling, term[k]);
        for (int i = 0; i < 63; i++) {
            exact_merge(&total, &doubling);
            exact_merge(&doubling, &doubling);
        }
        mpfr_set_d(due, term[k], MPFR_RNDN);
        mpfr_mul_ui(due, due, (UINT64_C(1) << 63) - 1, MPFR_RNDN);
        exact_get(got, &total);
        cr_assert(same_mpfr(got, due), "2^63 - 1 times %a", term[k]);
        mpfr_abs(due, due, MPFR_RNDN);
        exact_get_abs(got, &total);
        cr_assert(same_mpfr(got, due), "2^63 - 1 times %a, magnitudes", term[k]);
    }
    mpfr_clears(due, got, (mpfr_ptr)0);
}

/* What is no plain number, at the front, the middle and the end of small and large arrays. */
Test(exact, specials_and_signed_zeros)
{
    static const struct {
        double background, a, b, sum;
    } cases[] = {
        {1, INFINITY, 1, INFINITY},
        {1, -INFINITY, 1, -INFINITY},
        {1, INFINITY, INFINITY, INFINITY},
        {1, INFINITY, -INFINITY, NAN},
        {1, NAN, 1, NAN},
        {1, NAN, INFINITY, NAN},
        {-0.0, -0.0, -0.0, -0.0},
        {-0.0, 0.0, -0.0, 0.0},
        {-0.0, -INFINITY, -0.0, -INFINITY},
        {0.0, -0.0, 0.0, 0.0},
        {-0.0, 0.5, -0.5, 0.0},
        {-0.0, -0.5, -0.0, -0.5},
    };
    static const size_t sizes[] = {2, 3, 100, 1000, 70000};
    for (enum format f = 0; f < FORMATS; f++)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                struct array x = array_new(f, sizes[s]);
                for (size_t i = 0; i < x.n; i++)
                    array_encode(&x, i, 1, &cases[c].background);
                size_t place[2] = {c % 2 ? 0 : x.n / 2, x.n - 1};
                array_encode(&x, place[0], 1, &cases[c].a);
                array_encode(&x, place[1] == place[0] ? 0 : place[1], 1, &cases[c].b);
                expect_array_sum(&x, "special");
                struct exact e;
                exact_init(&e);
                exact_add_array(&e, &x, 0, x.n);
                double sum = exact_round(&e, f);
                if (f != E4M3 && (cases[c].background == 0 || !isfinite(cases[c].sum)))
                    cr_assert(same_double(sum, cases[c].sum), "%s, n = %zu, case %zu: %a",
                              format_facts[f].name, x.n, c, sum);
                free(x.data);
            }
    struct exact none;
    exact_init(&none);
    cr_assert(same_double(exact_round(&none, FP16), 0.0), "the sum of nothing");
    exact_add(&none, -0.0);
    cr_assert(same_double(exact_round(&none, FP16), -0.0), "the sum of -0");
}

/* A sum beyond the range of doubles, with bits in the highest limb alone, is an infinity. */
Test(exact, the_highest_limb_is_read)
{
    struct fixed x = {{0}};
    x.limb[FIXED_LIMBS - 1] = 1;
    for (enum format f = 0; f < FORMATS; f++)
        cr_expect(same_double(fixed_round(&x, f), format_facts[f].too_large), "%s",
                  format_facts[f].name);
}

/* What bins know beside the sum: a subnormal of negative sign is no -0, and a NaN is one whatever
 * bit of its fraction is set; added as an array, in bins and one by one. */
Test(exact, bins_tell_what_elements_are)
{
    enum { N = 700 };
    static uint64_t data[N];
    for (enum format f = 0; f < FORMATS; f++)
        for (int sign = 0; sign < 2; sign++) {
            struct array one = {f, 1, data}, many = {f, N, data};
            uint64_t top = (uint64_t)sign << (8 * format_facts[f].bytes - 1);
            uint64_t infinity = format_encode(f, INFINITY) | top;
            for (int bit = 0; bit < format_facts[f].precision - 1; bit++)
                for (int k = 0; k < 2; k++) {
                    struct array *a = k ? &many : &one;
                    struct exact subnormal, nan;
                    exact_init(&subnormal);
                    exact_init(&nan);
                    for (size_t i = 0; i < a->n; i++)
                        array_set_bits(a, i, top | UINT64_C(1) << bit);
                    exact_add_array(&subnormal, a, 0, a->n);
                    for (size_t i = 0; i < a->n; i++)
                        array_set_bits(a, i, i ? infinity : infinity | UINT64_C(1) << bit);
                    exact_add_array(&nan, a, 0, a->n);
                    cr_expect(subnormal.plain && !subnormal.empty && !subnormal.nan,
                              "%s, sign %d, bit %d: no subnormal", format_facts[f].name, sign, bit);
                    cr_expect(nan.nan, "%s, sign %d, bit %d: no NaN", format_facts[f].name, sign,
                              bit);
                }
        }
}

/* The middle of two neighbours and very little beside it, which doubles cut off. */
Test(exact, mpfr_is_rounded_once_beside_a_tie)
{
    mpfr_t x;
    mpfr_init2(x, 400);
    for (enum format f = 0; f < FORMATS; f++)
        for (int k = 0; k < 4; k++) {
            double u = format_facts[f].unit_roundoff, sign = k / 2 ? -1 : 1;
            mpfr_set_si_2exp(x, k % 2 ? 1 : -1, -300, MPFR_RNDN);
            mpfr_add_d(x, x, 1, MPFR_RNDN);
            mpfr_add_d(x, x, u, MPFR_RNDN);
            mpfr_mul_d(x, x, sign, MPFR_RNDN);
            double got = round_mpfr(x, f);
            cr_expect(got == sign * (k % 2 ? 1 + 2 * u : 1), "%s, %d: %a", format_facts[f].name, k,
                      got);
        }
    mpfr_clear(x);
}
