/* Exact norms, means and variances against rational numbers. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "reference/measure/measure.h"
#include "reference/exact/reference.h"
#include "tests/support/oracle.h"
#include "tests/support/rational.h"
#include "tests/support/samples.h"

static const enum exact_value values[] = {EXACT_NORM, EXACT_MEAN, EXACT_VARIANCE};
static const char *const value_name[EXACT_VALUES] = {
    [EXACT_NORM] = "norm", [EXACT_MEAN] = "mean", [EXACT_VARIANCE] = "variance"};

static struct reference compute(enum exact_value of, const struct array *a)
{
    struct reference r, slow;
    struct problem p = {0};
    cr_assert(reference_compute_of(&r, of, a, NULL, REFERENCE_FAST, &p) == STATUS_OK, "%s", p.text);
    cr_assert(reference_compute_of(&slow, of, a, NULL, REFERENCE_MPFR, &p) == STATUS_OK, "%s",
              p.text);
    cr_assert(reference_equal(&r, &slow), "%s of %zu: the kinds differ", value_name[of], a->n);
    reference_free(&slow);
    return r;
}

/* The value, of a norm its square. */
static rational due(enum exact_value of, const struct array *a)
{
    rational sum = whole(0), squares = whole(0), n = whole(a->n);
    for (size_t i = 0; i < a->n; i++) {
        rational x = from_double(array_get(a, i));
        sum = plus(sum, x);
        squares = plus(squares, times(x, x));
    }
    if (of == EXACT_NORM)
        return squares;
    rational mean = over(sum, n);
    return of == EXACT_MEAN ? mean : minus(over(squares, n), times(mean, mean));
}

/* Is `x` the value? Or, cut, of two digits more than REFERENCE_DIGITS, the last of them 1, and the
 * value within the three fourths of a digit above it and the one below? Of a norm, the squares. */
static bool stands_for(const mpfr_t x, bool cut, rational value, bool square)
{
    rational at = from_mpfr(x);
    if (square)
        at = times(at, at);
    if (!cut)
        return mpq_cmp(at, value) == 0;
    mpfr_t near;
    mpfr_init2(near, mpfr_get_prec(x));
    mpfr_abs(near, x, MPFR_RNDN);
    mpfr_nextbelow(near);
    rational low = from_mpfr(near);
    mpfr_nextabove(near);
    mpfr_nextabove(near);
    rational high = from_mpfr(near);
    mpfr_clear(near);
    if (mpq_sgn(at) != mpq_sgn(value))
        return false;
    value = size_of(value);
    if (square) {
        low = times(low, low);
        high = times(high, high);
    }
    return mpfr_get_prec(x) == REFERENCE_DIGITS + 2 && mpfr_min_prec(x) == REFERENCE_DIGITS + 2 &&
           mpq_cmp(low, value) < 0 && mpq_cmp(value, plus(high, minus(high, low))) < 0;
}

/* Relative to the true one, less than 2^-600 away. */
static bool is_error(const mpfr_t error, rational true_error)
{
    rational off = size_of(minus(from_mpfr(error), true_error));
    return mpq_cmp(times(off, to_power(whole(2), 600)), true_error) <= 0;
}

/* | |value| - |result| | of a norm, by a root of many digits. */
static rational root_error(rational square, double result)
{
    mpfr_t root;
    mpfr_init2(root, 12000);
    mpfr_set_q(root, square, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    rational error = size_of(minus(from_mpfr(root), from_double(result)));
    mpfr_clear(root);
    return error;
}

static void expect_value(enum exact_value of, const struct array *a, const char *what)
{
    struct reference r = compute(of, a);
    if (!mpfr_number_p(r.sum)) {
        reference_free(&r);
        return;
    }
    rational value = due(of, a);
    cr_assert(stands_for(r.sum, r.cut, value, of == EXACT_NORM), "%s of %zu, %s", value_name[of],
              a->n, what);
    const double result[] = {mpfr_get_d(r.sum, MPFR_RNDN), mpfr_get_d(r.sum, MPFR_RNDU),
                             (float)mpfr_get_d(r.sum, MPFR_RNDZ), 0, -1.5};
    mpfr_t error;
    mpfr_init2(error, 53);
    for (size_t i = 0; i < 5; i++) {
        if (!isfinite(result[i]))
            continue;
        rational true_error = of == EXACT_NORM ? root_error(value, result[i])
                                               : size_of(minus(value, from_double(result[i])));
        reference_error(error, &r, result[i]);
        cr_assert(is_error(error, true_error), "%s of %zu, %s: error of %a", value_name[of], a->n,
                  what, result[i]);
    }
    mpfr_clear(error);
    reference_free(&r);
    rational_forget();
}

static void expect_values(enum format f, size_t n, const double *x, const char *what)
{
    struct array a = {f, n, malloc(n ? array_bytes(f, n) : 1)};
    cr_assert(a.data != NULL);
    array_encode(&a, 0, n, x);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        expect_value(values[i], &a, what);
    free(a.data);
}

Test(reference_moments, are_those_of_rational_numbers)
{
    uint64_t seed = 411;
    for (enum format f = 0; f < FORMATS; f++)
        for (int kind = 0; kind < SAMPLES; kind++)
            for (size_t n = 1; n < 40; n += 1 + n / 4) {
                struct array a = {f, n, malloc(array_bytes(f, n))};
                sample_fill(&a, kind, f, sample_next(&seed));
                for (size_t i = 0; i < sizeof values / sizeof *values; i++)
                    expect_value(values[i], &a, sample_name[kind]);
                free(a.data);
            }
}

/* Values nearer to a double than their digits reach. */
Test(reference_moments, errors_far_below_the_digits)
{
    expect_values(FP64, 2, (double[]){1, 0x1p-500}, "1 and 2^-500");
    expect_values(FP64, 3, (double[]){3, 4, 0x1p-1074}, "3, 4, smallest");
    expect_values(FP64, 3, (double[]){0x1p1023, 0x1p-1074, 1}, "huge and tiny");
    expect_values(FP64, 3, (double[]){0x1p-1074, 0x1p-1074, 0}, "subnormal");
    expect_values(FP64, 2, (double[]){3, 4}, "a whole norm");
    expect_values(FP64, 5, (double[]){7, 7, 7, 7, 7}, "constant");
}

static double value_of(enum exact_value of, size_t n, const double *x, struct figure *cond)
{
    struct array a = {FP64, n, (void *)x};
    struct reference r = compute(of, &a);
    double value = mpfr_get_d(r.sum, MPFR_RNDN);
    if (cond)
        *cond = (struct figure){true, reference_cond_log2(&r)};
    reference_free(&r);
    return value;
}

Test(reference_moments, special_values)
{
    double none[1] = {0}, inf[] = {1, -INFINITY, 2}, nan[] = {1, NAN, INFINITY},
           zero[] = {-0.0, 0.0};
    cr_expect(same_double(value_of(EXACT_NORM, 0, none, NULL), 0.0));
    cr_expect(isnan(value_of(EXACT_MEAN, 0, none, NULL)));
    cr_expect(isnan(value_of(EXACT_VARIANCE, 0, none, NULL)));
    cr_expect(value_of(EXACT_NORM, 3, inf, NULL) == INFINITY);
    cr_expect(value_of(EXACT_MEAN, 3, inf, NULL) == -INFINITY);
    cr_expect(isnan(value_of(EXACT_VARIANCE, 3, inf, NULL)));
    for (size_t i = 0; i < 3; i++)
        cr_expect(isnan(value_of(values[i], 3, nan, NULL)), "%s", value_name[values[i]]);
    cr_expect(same_double(value_of(EXACT_NORM, 2, zero, NULL), 0.0));
    cr_expect(same_double(value_of(EXACT_VARIANCE, 2, zero, NULL), 0.0));
}

/* log2 A / |value|, by hand. */
Test(reference_moments, condition)
{
    struct figure cond;
    value_of(EXACT_NORM, 3, (double[]){1, 2, 5}, &cond);
    cr_expect(cond.value == 0, "%g", cond.value);
    value_of(EXACT_MEAN, 3, (double[]){4, -3, 1}, &cond);
    cr_expect(cond.value == 2, "%g", cond.value);         /* 8 / 2 */
    value_of(EXACT_VARIANCE, 2, (double[]){0, 1}, &cond); /* (1/2) / (1/4) */
    cr_expect(cond.value == 1, "%.17g", cond.value);
    value_of(EXACT_VARIANCE, 2, (double[]){1, -1 + 0x1p-53}, &cond);
    cr_expect(cond.value > 0 && cond.value < 0x1p-100, "%g", cond.value); /* 1 + mean^2 */
    value_of(EXACT_VARIANCE, 2, (double[]){1, 1}, &cond);
    cr_expect(cond.value == INFINITY, "%g", cond.value);
}

/* Elements are counted once, although they are multiplied by themselves. */
Test(reference_moments, census)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        double x[] = {0, 5e-324, -3, 0x1p-1030};
        struct array a = {FP64, 4, x};
        struct reference r = compute(values[i], &a);
        cr_expect(r.n == 4 && r.zeros == 1 && r.subnormals == 2 && r.largest == 3 &&
                      r.smallest == 5e-324,
                  "%s: %zu zeros, %zu subnormals", value_name[values[i]], r.zeros, r.subnormals);
        reference_free(&r);
    }
}
