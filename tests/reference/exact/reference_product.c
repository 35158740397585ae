/* Exact products against whole numbers of GMP. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "reference/measure/measure.h"
#include "reference/exact/reference.h"
#include "tests/support/oracle.h"
#include "tests/support/rational.h"
#include "tests/support/samples.h"

static struct reference compute(const struct array *a, const char *what)
{
    struct reference r, slow;
    struct problem p = {0};
    cr_assert(reference_compute_of(&r, EXACT_PRODUCT, a, NULL, REFERENCE_FAST, &p) == STATUS_OK,
              "%s", p.text);
    cr_assert(reference_compute_of(&slow, EXACT_PRODUCT, a, NULL, REFERENCE_MPFR, &p) == STATUS_OK,
              "%s", p.text);
    cr_assert(reference_equal(&r, &slow), "%s, n = %zu: the kinds differ", what, a->n);
    reference_free(&slow);
    return r;
}

static bool is_finite(const struct array *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (!isfinite(array_get(a, i)))
            return false;
    return true;
}

/* One multiplication after the other, of significands as whole numbers. */
static rational due(const struct array *a)
{
    mpz_t product, significand;
    long exponents = 0;
    mpz_init_set_ui(product, 1);
    mpz_init(significand);
    for (size_t i = 0; i < a->n; i++) {
        int exponent;
        mpz_set_d(significand, ldexp(frexp(array_get(a, i), &exponent), 53));
        mpz_mul(product, product, significand);
        exponents += exponent - 53;
    }
    mpfr_t value;
    mpfr_init2(value, (mpfr_prec_t)mpz_sizeinbase(product, 2) + 1);
    mpfr_set_z_2exp(value, product, exponents, MPFR_RNDN);
    rational result = from_mpfr(value);
    mpfr_clear(value);
    mpz_clears(product, significand, NULL);
    return result;
}

static size_t bits_of(rational value)
{
    mpz_t odd;
    mpz_init_set(odd, mpq_numref(value));
    mpz_abs(odd, odd);
    size_t bits = mpz_sizeinbase(odd, 2) - mpz_scan1(odd, 0);
    mpz_clear(odd);
    return bits;
}

/* Between the neighbours of a number of REFERENCE_DIGITS + 2 bits, the last of them 1. */
static bool is_cut_of(const mpfr_t x, rational value)
{
    mpfr_t near;
    mpfr_init2(near, REFERENCE_DIGITS + 2);
    mpfr_abs(near, x, MPFR_RNDN);
    mpfr_nextbelow(near);
    rational low = from_mpfr(near);
    mpfr_nextabove(near);
    mpfr_nextabove(near);
    mpfr_nextabove(near);
    mpfr_nextabove(near);
    rational high = from_mpfr(near), size = size_of(value);
    mpfr_clear(near);
    return mpfr_get_prec(x) == REFERENCE_DIGITS + 2 && mpfr_min_prec(x) == REFERENCE_DIGITS + 2 &&
           mpfr_sgn(x) == mpq_sgn(value) && mpq_cmp(low, size) < 0 && mpq_cmp(size, high) < 0;
}

/* Relative to the true one, less than 2^-600 away. */
static void expect_errors(const struct reference *r, rational value, const char *what)
{
    const double result[] = {
        mpfr_get_d(r->sum, MPFR_RNDN), mpfr_get_d(r->sum, MPFR_RNDZ), 0, -1.5, 0x1p-1074, 0x1p1023};
    mpfr_t error;
    mpfr_init2(error, 53);
    for (size_t i = 0; i < sizeof result / sizeof *result; i++) {
        if (!isfinite(result[i]))
            continue;
        reference_error(error, r, result[i]);
        rational true_error = size_of(minus(value, from_double(result[i])));
        rational off = size_of(minus(from_mpfr(error), true_error));
        cr_assert(mpq_cmp(times(off, to_power(whole(2), 600)), true_error) <= 0,
                  "%s, n = %zu: error of %a", what, r->n, result[i]);
    }
    mpfr_clear(error);
}

static void expect_product(const struct array *a, const char *what)
{
    struct reference r = compute(a, what);
    if (is_finite(a)) {
        rational value = due(a);
        bool whole_value = mpq_sgn(value) == 0 || bits_of(value) <= REFERENCE_PRODUCT_DIGITS;
        cr_assert(r.cut == !whole_value, "%s, n = %zu", what, a->n);
        cr_assert(r.cut ? is_cut_of(r.sum, value) : mpq_cmp(from_mpfr(r.sum), value) == 0,
                  "%s, n = %zu", what, a->n);
        cr_assert(mpfr_cmpabs(r.sum, r.sum_abs) == 0 && !mpfr_signbit(r.sum_abs), "%s, n = %zu",
                  what, a->n);
        expect_errors(&r, value, what);
        rational_forget();
    }
    reference_free(&r);
}

Test(reference_product, is_that_of_whole_numbers)
{
    static const size_t lengths[] = {0, 1, 2, 3, 10, 70, 90, 300};
    uint64_t seed = 71;
    double data[300];
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int kind = 0; kind < SAMPLES; kind++)
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
                struct array a = {f, lengths[i], data};
                sample_fill(&a, kind, f, sample_next(&seed));
                expect_product(&a, sample_name[kind]);
            }
}

/* Of numbers of few bits, next to where products are cut; and far beyond the range of doubles. */
Test(reference_product, where_products_are_cut)
{
    enum { MOST = 5000 };
    static double data[MOST];
    static const size_t lengths[] = {76, 77, 78, 79, 2583, 2584, 2585, 2586, MOST};
    const double base[] = {3, -1.5, 2, -0.5, 0x1.8p1000, 0x1.8p-1073, 0x1.fffffffffffffp-500};
    for (size_t k = 0; k < sizeof base / sizeof *base; k++)
        for (size_t l = 0; l < (k < 4 ? 9 : 4); l++) {
            for (size_t i = 0; i < lengths[l]; i++)
                data[i] = base[k];
            expect_product(&(struct array){FP64, lengths[l], data}, "powers");
        }
}

/* Two significands whose product is just above 2^64: one more than a word holds. */
Test(reference_product, words_that_just_overflow)
{
    size_t tried = 0;
    for (unsigned long word = 4097; word < 4297; word += 2) {
        unsigned long odd = ~0ul / word + 1;
        double data[] = {(double)word, (double)odd};
        if (odd % 2 == 0)
            continue;
        expect_product(&(struct array){FP64, 2, data}, "just above 2^64");
        tried++;
    }
    cr_expect(tried > 10);
}

static double value_of(size_t n, const double *x, double *cond)
{
    struct reference r = compute(&(struct array){FP64, n, (void *)x}, "special");
    double value = mpfr_get_d(r.sum, MPFR_RNDN);
    *cond = reference_cond_log2(&r);
    reference_free(&r);
    return value;
}

Test(reference_product, special_values)
{
    double cond, zero[] = {3, -0.0, 2}, zeros[] = {-0.0, -1, -0.0}, inf[] = {-2, INFINITY, 0.5};
    double mixed[] = {INFINITY, 1, 0}, nan[] = {1, NAN, 0}, odd[] = {-INFINITY, -INFINITY, -1};
    cr_expect(value_of(0, zero, &cond) == 1 && cond == 0);
    cr_expect(same_double(value_of(3, zero, &cond), -0.0) && cond == INFINITY);
    cr_expect(same_double(value_of(3, zeros, &cond), -0.0));
    cr_expect(same_double(value_of(1, zeros, &cond), -0.0));
    cr_expect(same_double(value_of(2, zeros, &cond), 0.0));
    cr_expect(value_of(3, inf, &cond) == -INFINITY && isnan(cond));
    cr_expect(isnan(value_of(3, mixed, &cond)));
    cr_expect(isnan(value_of(3, nan, &cond)));
    cr_expect(value_of(3, odd, &cond) == -INFINITY);
    cr_expect(value_of(2, odd, &cond) == INFINITY);
    cr_expect(value_of(1, (double[]){-3}, &cond) == -3 && cond == 0);
}

/* An element where they begin, one in a later block, decides. */
Test(reference_product, special_values_far_behind)
{
    enum { FAR = 3 * ARRAY_BLOCK };
    static double data[FAR];
    const double late[] = {0.0, -0.0, INFINITY, NAN};
    for (size_t k = 0; k < 4; k++) {
        double cond;
        for (size_t i = 0; i < FAR; i++)
            data[i] = 1.25;
        data[FAR - 1] = late[k];
        cr_expect(same_double(value_of(FAR, data, &cond), late[k]), "%g", late[k]);
    }
}

/* What the theorem says of n factors, by rational numbers: (1 + u/(1+u))^k - 1 of the product. */
Test(reference_product, theorem)
{
    double data[12];
    uint64_t seed = 5;
    mpfr_t bound;
    mpfr_init2(bound, 200);
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (size_t n = 1; n <= 12; n++) {
                struct array a = {s, n, data};
                sample_fill(&a, SAMPLE_NEAR, s, sample_next(&seed));
                struct reference r = compute(&a, "near");
                struct theorem t = {.kind = THEOREM_PRODUCT};
                bool longer = format_facts[s].precision > format_facts[f].precision;
                size_t k = longer ? 2 * n - 1 : n - 1;
                rational u = from_double(format_facts[f].unit_roundoff), one = whole(1);
                rational growth = minus(to_power(plus(one, over(u, plus(one, u))), k), one);
                rational due_bound = times(growth, size_of(from_mpfr(r.sum)));
                cr_assert(theorem_bound(bound, &t, &r, s, f));
                rational got = from_mpfr(bound), more = times(due_bound, from_double(1 + 0x1p-50));
                cr_expect(mpq_cmp(got, due_bound) >= 0 && mpq_cmp(got, more) <= 0,
                          "%s in %s, n = %zu", format_facts[s].name, format_facts[f].name, n);
                rational_forget();
                reference_free(&r);
            }
    mpfr_clear(bound);
}
