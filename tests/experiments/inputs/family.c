/* What each family of inputs is for, shown exactly: those that cancel or bring out rounding. (cond:
 * inputs/cond.c) */
#include <math.h>
#include <stdio.h>

#include "tests/support/generated.h"

enum { SEED = 11 };

static double kahan_sum(const struct array *a)
{
    enum format f = a->format;
    double sum = 0, compensation = 0;
    for (size_t i = 0; i < a->n; i++) {
        double x = format_add(f, array_get(a, i), -compensation), next = format_add(f, sum, x);
        compensation = format_add(f, format_add(f, next, -sum), -x);
        sum = next;
    }
    return sum;
}

/* Knuth's TwoSum in f: the rounded sum; `error` is what it lacks. */
static double two_sum(enum format f, double a, double b, double *error)
{
    double sum = format_add(f, a, b), part = format_add(f, sum, -a);
    *error = format_add(f, format_add(f, a, -format_add(f, sum, -part)), format_add(f, b, -part));
    return sum;
}

/* SumK of Ogita, Rump and Oishi. */
static double sum_k(const struct array *a, int k)
{
    double *x = malloc(a->n * sizeof *x), sum = 0;
    cr_assert(x);
    array_decode(a, 0, a->n, x);
    for (; k > 1; k--)
        for (size_t i = 1; i < a->n; i++)
            x[i] = two_sum(a->format, x[i - 1], x[i], &x[i - 1]);
    for (size_t i = 0; i < a->n; i++)
        sum = format_add(a->format, sum, x[i]);
    free(x);
    return sum;
}

/* A running sum of ones stops at 2^p; after 2^p, it never starts. */
Test(input_family, ones_stagnation)
{
    for (enum format f = FP16; f <= BF16; f++) {
        struct array a = generated("ones", f, 5000, SEED, 0);
        cr_assert_eq(serial_sum(&a), ldexp(1, format_facts[f].precision));
        cr_assert_eq(exact_sum(&a), 5000);
        free(a.data);
    }
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        double start = ldexp(1, format_facts[f].precision);
        struct array a = generated("stagnation", f, 5001, SEED, 0);
        cr_assert_eq(serial_sum(&a), start, "%s: %g", format_facts[f].name, serial_sum(&a));
        cr_assert_eq(exact_sum(&a), start + 5000);
        free(a.data);
        struct array tenth = generated("ones:value=0.1", f, 3, SEED, 0);
        cr_assert_eq(array_get(&tenth, 2), format_round(f, 0.1));
        free(tenth.data);
    }
}

/* A running sum loses all of the small elements, and is 0 at the end. */
Test(input_family, cancellation)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 1; n < 3000; n = 3 * n) {
            struct array a = generated("cancellation", f, n, SEED, 0);
            double small = 0;
            for (size_t i = n > 1; i < n - (n > 1); i++)
                small += array_get(&a, i); /* exact: multiples of 2^-53 below 2^12, in most cases */
            cr_assert(n == 1 || serial_sum(&a) == 0, "%s: %g", format_facts[f].name,
                      serial_sum(&a));
            mpfr_t sum;
            mpfr_init2(sum, 53);
            oracle_sum(sum, &a, false);
            cr_assert(n < 9 || mpfr_cmp_d(sum, 0.25 * (double)n) > 0, "%s, n=%zu: nothing was lost",
                      format_facts[f].name, n);
            cr_assert(fabs(mpfr_get_d(sum, MPFR_RNDN) - small) <= 1e-9);
            mpfr_clear(sum);
            free(a.data);
        }
}

/* Pairs as the elements, an exact sum of 0. */
Test(input_family, zero_sum)
{
    size_t wrong = 0;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 1; n < 3000; n += 1 + n / 2) {
            struct array a = generated("zero_sum", f, n, SEED, 0);
            double size = 0;
            for (size_t i = 0; i < n; i++)
                size += fabs(array_get(&a, i));
            cr_assert_eq(exact_sum(&a), 0, "%s, n=%zu", format_facts[f].name, n);
            cr_assert(size > 0.1 * (double)(n - n % 2) || n < 8);
            wrong += serial_sum(&a) != 0;
            free(a.data);
        }
    cr_assert(wrong > 20, "a running sum is exact but for %zu cases", wrong);
}

/* The mean is gone but for rounding: half an ulp of each element, and the mean's own. */
Test(input_family, anderson)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 1; n < 30000; n = 3 * n + 1) {
            struct array a = generated("anderson", f, n, SEED, 0);
            double size = 0, bound = (double)n * 0x1p-53;
            for (size_t i = 0; i < n; i++) {
                size += fabs(array_get(&a, i));
                bound += f == FP64 ? 0 : format_ulp(f, array_get(&a, i)) / 2;
            }
            mpfr_t sum;
            mpfr_init2(sum, 53);
            oracle_sum(sum, &a, false);
            cr_assert(mpfr_cmpabs_ui(sum, 0) == 0 || fabs(mpfr_get_d(sum, MPFR_RNDU)) <= bound,
                      "%s, n=%zu: %g", format_facts[f].name, n, mpfr_get_d(sum, MPFR_RNDN));
            cr_assert(n < 40 || size > 0.2 * (double)n, "%s, n=%zu: %g", format_facts[f].name, n,
                      size);
            mpfr_clear(sum);
            free(a.data);
        }
}

/* Kahan's sum loses the ones, or most of them; Sum2 does not. */
Test(input_family, kahan_killer)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 1; n <= 64; n++) {
            struct array a = generated("kahan_killer", f, n, SEED, 0);
            double exact = 2 * (double)(n / 4) + (double)(n % 4);
            cr_assert_eq(exact_sum(&a), exact, "%s, n=%zu", format_facts[f].name, n);
            cr_assert(n < 4 || !(fabs(kahan_sum(&a) - exact) <= 1),
                      "%s, n=%zu: Kahan gives %g for %g", format_facts[f].name, n, kahan_sum(&a),
                      exact);
            cr_assert_eq(sum_k(&a, 2), exact, "%s, n=%zu: Sum2 gives %g for %g",
                         format_facts[f].name, n, sum_k(&a, 2), exact);
            free(a.data);
        }
}

/* SumK with K below the number of rungs loses the lowest; with K of them, it does not. */
Test(input_family, ladder)
{
    for (int rungs = 2; rungs <= 4; rungs++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            char specification[32];
            snprintf(specification, sizeof specification, "ladder:rungs=%d", rungs);
            struct array a = generated(specification, f, 2 * (size_t)rungs + 1, SEED, 0);
            double lowest = array_get(&a, a.n - 1), exact = 3 * lowest;
            cr_assert_eq(exact_sum(&a), exact, "%s, %s", specification, format_facts[f].name);
            cr_assert(fabs(array_get(&a, 0)) ==
                      ldexp(lowest, (rungs - 1) * format_facts[f].precision));
            for (int k = 1; k <= rungs; k++) {
                bool right = sum_k(&a, k) == exact;
                cr_assert_eq(right, k == rungs, "%s, %s: Sum%d gives %g for %g", specification,
                             format_facts[f].name, k, sum_k(&a, k), exact);
            }
            free(a.data);
        }
}

/* Each addition of a running sum errs by exactly half an ulp. */
Test(input_family, ties)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int negative = 0; negative < 2; negative++) {
            struct array a = generated(negative ? "ties:negative=1" : "ties", f, 1000, SEED, 0);
            double sum = array_get(&a, 0), error;
            for (size_t i = 1; i < a.n; i++) {
                sum = two_sum(f, sum, array_get(&a, i), &error);
                cr_assert_eq(fabs(error), format_ulp(f, sum) / 2, "%s: element %zu is no tie",
                             format_facts[f].name, i);
                cr_assert_eq(sum < 0, negative);
            }
            free(a.data);
        }
}

Test(input_family, full_mantissa)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int negative = 0; negative < 2; negative++) {
            struct array a =
                generated(negative ? "full_mantissa" : "full_mantissa:negative=0", f, 100, SEED, 0);
            uint64_t significand = (UINT64_C(1) << (format_facts[f].precision - 1)) - 1;
            for (size_t i = 0; i < a.n; i++) {
                cr_assert_eq(array_bits(&a, i) & significand, significand);
                cr_assert_eq(array_get(&a, i) < 0, negative);
            }
            free(a.data);
        }
}

/* A running sum overflows; the exact sum is a number of the format. */
Test(input_family, near_overflow)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 1; n < 3000; n += 1 + n / 2) {
            struct array a = generated("near_overflow", f, n, SEED, 0);
            double sum = exact_sum(&a);
            cr_assert(sum > 0 && sum <= format_facts[f].largest && sum == format_round(f, sum),
                      "%s, n=%zu: %g", format_facts[f].name, n, sum);
            cr_assert_eq(!isfinite(serial_sum(&a)), n > 2, "%s, n=%zu", format_facts[f].name, n);
            for (size_t i = 0; i < n; i++)
                cr_assert(isfinite(array_get(&a, i)));
            free(a.data);
        }
}
