/* The fast reference against the one by mpfr_sum, and both against what is known otherwise. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "reference/exact/census.h"
#include "reference/exact/reference.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

static struct array array_new(enum format f, size_t n)
{
    struct array a = {f, n, malloc(n ? array_bytes(f, n) : 1)};
    cr_assert(a.data != NULL, "%zu elements", n);
    return a;
}

static struct array array_of(enum format f, size_t n, const double *x)
{
    struct array a = array_new(f, n);
    array_encode(&a, 0, n, x);
    return a;
}

static struct reference compute(const struct array *a, enum reference_kind kind)
{
    struct reference r;
    struct problem p = {0};
    enum status status = reference_compute(&r, a, kind, &p);
    cr_assert(status == STATUS_OK, "%s", p.text);
    return r;
}

/* Both kinds agree, and with a running MPFR sum. */
static void expect_agreement(const struct array *a, const char *what)
{
    const char *name = format_facts[a->format].name;
    struct reference fast = compute(a, REFERENCE_FAST), slow = compute(a, REFERENCE_MPFR);
    mpfr_t due;
    mpfr_init2(due, 53);
    oracle_sum(due, a, false);
    cr_assert(same_mpfr(fast.sum, due), "%s, %s, n = %zu: fast sum", what, name, a->n);
    cr_assert(same_mpfr(slow.sum, due), "%s, %s, n = %zu: mpfr_sum", what, name, a->n);
    oracle_sum(due, a, true);
    cr_assert(same_mpfr(fast.sum_abs, due), "%s, %s, n = %zu: fast sum_abs", what, name, a->n);
    cr_assert(same_mpfr(slow.sum_abs, due), "%s, %s, n = %zu: MPFR's sum_abs", what, name, a->n);
    cr_assert(reference_equal(&fast, &slow), "%s, %s, n = %zu: kinds differ", what, name, a->n);
    mpfr_clear(due);
    reference_free(&fast);
    reference_free(&slow);
}

Test(reference, kinds_agree_at_every_small_size)
{
    uint64_t seed = 41;
    for (enum format f = 0; f < FORMATS; f++)
        for (int kind = 0; kind < SAMPLES; kind++)
            for (size_t n = 0; n < 36; n++) {
                struct array a = array_new(f, n);
                sample_fill(&a, kind, f, sample_next(&seed));
                expect_agreement(&a, sample_name[kind]);
                free(a.data);
            }
}

/* Sizes around the blocks of either kind. */
Test(reference, kinds_agree_at_block_edges)
{
    static const size_t sizes[] = {511,  512,  1023,  1024,  1025, 2049,
                                   4096, 4097, 65535, 65536, 65541};
    uint64_t seed = 42;
    for (enum format f = 0; f < FORMATS; f++)
        for (int kind = 0; kind < SAMPLES; kind++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                if (sizes[i] > 5000 && (kind + f + i) % 4)
                    continue;
                struct array a = array_new(f, sizes[i]);
                sample_fill(&a, kind, f, sample_next(&seed));
                expect_agreement(&a, sample_name[kind]);
                free(a.data);
            }
}

/* One infinity, NaN, subnormal or zero among normal numbers, anywhere in a block. */
Test(reference, kinds_agree_with_one_odd_element)
{
    uint64_t seed = 43;
    for (enum format f = 0; f < FORMATS; f++)
        for (int round = 0; round < 120; round++) {
            const double odd[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0, format_facts[f].smallest};
            struct array a = array_new(f, 1 + sample_next(&seed) % 9000);
            sample_fill(&a, SAMPLE_NEAR, f, sample_next(&seed));
            array_encode(&a, sample_next(&seed) % a.n, 1, &odd[round % 6]);
            expect_agreement(&a, "one odd element");
            free(a.data);
        }
}

/* A long run of -0 with, perhaps, one +0: the block that holds it decides the sign. */
Test(reference, sign_of_a_long_sum_of_zeros)
{
    for (enum format f = 0; f < FORMATS; f++)
        for (size_t plus = 0; plus <= 3; plus++) {
            struct array a = array_new(f, 70000);
            for (size_t i = 0; i < a.n; i++)
                array_encode(&a, i, 1, &(double){-0.0});
            if (plus)
                array_encode(&a, (plus - 1) * (a.n - 1) / 2, 1, &(double){0.0});
            struct reference r = compute(&a, REFERENCE_FAST);
            cr_assert(mpfr_zero_p(r.sum) && !mpfr_signbit(r.sum) == (plus > 0), "%s, case %zu",
                      format_facts[f].name, plus);
            cr_assert(mpfr_zero_p(r.sum_abs) && !mpfr_signbit(r.sum_abs));
            cr_assert(r.zeros == a.n);
            reference_free(&r);
            expect_agreement(&a, "zeros");
            free(a.data);
        }
}

Test(reference, census_by_hand)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int kind = REFERENCE_FAST; kind <= REFERENCE_MPFR; kind++) {
            const struct format_facts *facts = &format_facts[f];
            const double x[] = {0.0,
                                -0.0,
                                -facts->smallest,
                                3 * facts->smallest,
                                NAN,
                                -INFINITY,
                                1,
                                -facts->largest,
                                facts->smallest_normal,
                                NAN,
                                NAN,
                                INFINITY,
                                0.0,
                                facts->smallest_normal - facts->smallest};
            struct array a = array_of(f, sizeof x / sizeof *x, x);
            struct reference r = compute(&a, (enum reference_kind)kind);
            cr_assert(r.n == 14 && r.zeros == 3 && r.subnormals == 3 && r.infs == 2 && r.nans == 3,
                      "%s: %zu elements, %zu zeros, %zu subnormals, %zu inf, %zu NaN", facts->name,
                      r.n, r.zeros, r.subnormals, r.infs, r.nans);
            cr_assert(r.smallest == facts->smallest && r.largest == facts->largest, "%s: %a %a",
                      facts->name, r.smallest, r.largest);
            cr_assert(mpfr_nan_p(r.sum) && mpfr_nan_p(r.sum_abs));
            reference_free(&r);
            a.n = 2; /* zeros only */
            r = compute(&a, (enum reference_kind)kind);
            cr_assert(r.smallest == 0 && r.largest == 0, "%s: zeros only", facts->name);
            reference_free(&r);
            a.n = 0;
            r = compute(&a, (enum reference_kind)kind);
            cr_assert(mpfr_zero_p(r.sum) && !mpfr_signbit(r.sum) && r.n == 0 && r.zeros == 0);
            cr_assert(mpfr_zero_p(r.sum_abs) && !mpfr_signbit(r.sum_abs));
            reference_free(&r);
            free(a.data);
        }
}

/* Parts of an array, at any place in it, give the counts of the whole, by every variant. */
static void expect_census(const struct array *a, const struct census_variant *v, uint64_t *seed,
                          const char *what)
{
    struct reference whole = compute(a, REFERENCE_MPFR);
    struct census c = {0};
    for (size_t begin = 0; begin < a->n;) {
        size_t count = 1 + sample_next(seed) % (a->n - begin);
        census_add_by(v, &c, a, begin, count);
        begin += count;
    }
    cr_assert(c.zeros == whole.zeros && c.subnormals == whole.subnormals && c.infs == whole.infs &&
                  c.nans == whole.nans && c.smallest == whole.smallest &&
                  c.largest == whole.largest,
              "%s, %s, %s, n = %zu", v->name, format_facts[a->format].name, what, a->n);
    reference_free(&whole);
}

Test(reference, census_of_parts)
{
    uint64_t seed = 44;
    for (size_t v = 0; v < census_variants; v++)
        for (enum format f = 0; census_variant[v].available() && f < FORMATS; f++)
            for (int round = 0; round < 40; round++) {
                struct array a = array_new(f, 1 + sample_next(&seed) % 10000);
                sample_fill(&a, round % SAMPLES, f, sample_next(&seed));
                expect_census(&a, &census_variant[v], &seed, sample_name[round % SAMPLES]);
                free(a.data);
            }
}

/* The smallest normal numbers are none of the subnormal ones. */
Test(reference, census_of_the_smallest_numbers)
{
    uint64_t seed = 45;
    for (size_t v = 0; v < census_variants; v++)
        for (enum format f = 0; census_variant[v].available() && f < FORMATS; f++)
            for (size_t n = 1; n < 80; n += 13) {
                struct array a = array_new(f, n);
                double least = format_facts[f].smallest_normal;
                for (size_t i = 0; i < n; i++) {
                    double x = i % 3 ? least : format_next_down(f, least);
                    array_encode(&a, i, 1, &(double){i % 2 ? -x : x});
                }
                expect_census(&a, &census_variant[v], &seed, "smallest");
                free(a.data);
            }
}

Test(reference, equal_tells_every_difference)
{
    const double x[] = {1, 2, 0x1p-1074, 0, -0.0, INFINITY};
    struct array a = array_of(FP64, 5, x);
    struct reference r = compute(&a, REFERENCE_FAST), same = compute(&a, REFERENCE_MPFR);
    cr_assert(reference_equal(&r, &same));
    size_t *count[] = {&same.n, &same.zeros, &same.subnormals, &same.infs, &same.nans};
    for (int k = 0; k < 5; k++) {
        ++*count[k];
        cr_assert(!reference_equal(&r, &same), "count %d", k);
        --*count[k];
    }
    double *size[] = {&same.smallest, &same.largest};
    for (int k = 0; k < 2; k++) {
        double saved = *size[k];
        *size[k] = nextafter(saved, INFINITY);
        cr_assert(!reference_equal(&r, &same), "range %d", k);
        *size[k] = saved;
    }
    mpfr_nextabove(same.sum); /* 2176 bits: far below the last bit of a double */
    cr_assert(!reference_equal(&r, &same), "the last bit of the sum");
    mpfr_nextbelow(same.sum);
    mpfr_nextabove(same.sum_abs);
    cr_assert(!reference_equal(&r, &same), "the last bit of sum_abs");
    mpfr_set_nan(same.sum_abs);
    cr_assert(!reference_equal(&r, &same), "NaN");
    mpfr_set_nan(r.sum_abs);
    cr_assert(reference_equal(&r, &same), "NaN twice");
    mpfr_set_zero(r.sum, 1);
    mpfr_set_zero(same.sum, -1);
    cr_assert(!reference_equal(&r, &same), "signed zeros");
    reference_free(&r);
    reference_free(&same);
    free(a.data);
}

static double cond_of(size_t n, const double *x)
{
    struct array a = array_of(FP64, n, x);
    struct reference r = compute(&a, REFERENCE_FAST);
    double cond = reference_cond_log2(&r);
    reference_free(&r);
    free(a.data);
    return cond;
}

Test(reference, condition_numbers_that_are_known)
{
    cr_expect(cond_of(3, (double[]){1, 2, 3}) == 0);
    cr_expect(cond_of(3, (double[]){-1, -2, -0.0}) == 0);
    cr_expect(cond_of(2, (double[]){3, -1}) == 1);
    cr_expect(cond_of(2, (double[]){-3, 1}) == 1);
    cr_expect(cond_of(3, (double[]){0x1p1000, 0x1p-1074, -0x1p1000}) == 2075);
    cr_expect(cond_of(2, (double[]){1, -1}) == INFINITY);
    /* (2^1000 + 2^-1074) / (2^1000 - 2^-1074) = 1 + 2^-2073 + ...: too near to 1 for a double */
    cr_expect(cond_of(2, (double[]){0x1p1000, -0x1p-1074}) == 0);
    /* 1 + 2^-1000 + ...: log2 is 2^-1000 / ln 2 */
    double due = 0x1p-1000 / 0x1.62e42fefa39efp-1;
    double got = cond_of(2, (double[]){1, -0x1p-1001});
    cr_expect(fabs(got - due) <= 0x1p-1052, "%a, not %a", got, due);
    /* 0/0: the exact sum is 0, so that every relative perturbation of it is infinite */
    cr_expect(cond_of(0, NULL) == INFINITY);
    cr_expect(cond_of(2, (double[]){0, -0.0}) == INFINITY);
    cr_expect(isnan(cond_of(2, (double[]){1, INFINITY})));
    cr_expect(isnan(cond_of(2, (double[]){1, NAN})));
}

/* By another road: the quotient, and its logarithm, at 5000 bits. */
Test(reference, condition_numbers_are_rounded_once)
{
    uint64_t seed = 45;
    mpfr_t quotient;
    mpfr_init2(quotient, 5000);
    for (int round = 0; round < 300; round++) {
        enum format f = (enum format)(round % FORMATS);
        struct array a = array_new(f, 2 + sample_next(&seed) % 50);
        sample_fill(&a, round % 2 ? SAMPLE_NEAR : SAMPLE_WIDE, f, sample_next(&seed));
        struct reference r = compute(&a, REFERENCE_FAST);
        mpfr_div(quotient, r.sum_abs, r.sum, MPFR_RNDN);
        mpfr_abs(quotient, quotient, MPFR_RNDN);
        mpfr_log2(quotient, quotient, MPFR_RNDN);
        cr_assert(same_double(reference_cond_log2(&r), mpfr_get_d(quotient, MPFR_RNDN)),
                  "round %d: %a, not %a", round, reference_cond_log2(&r),
                  mpfr_get_d(quotient, MPFR_RNDN));
        reference_free(&r);
        free(a.data);
    }
    mpfr_clear(quotient);
}
