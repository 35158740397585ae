/* Exact minima, maxima and their indices against their definition. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "reference/exact/reference.h"
#include "reference/theorem/theorem.h"
#include "tests/support/extremes.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

static double value_of(enum exact_value of, const struct array *a, const char *what)
{
    struct reference r, slow;
    cr_assert(reference_compute_of(&r, of, a, NULL, REFERENCE_FAST, NULL) == STATUS_OK);
    cr_assert(reference_compute_of(&slow, of, a, NULL, REFERENCE_MPFR, NULL) == STATUS_OK);
    cr_assert(reference_equal(&r, &slow), "%s of %zu, %s: the kinds differ", exact_facts[of].name,
              a->n, what);
    double value = mpfr_get_d(r.sum, MPFR_RNDN);
    cr_assert(!r.cut && same_double(mpfr_get_d(r.sum_abs, MPFR_RNDN), fabs(value)));
    reference_free(&slow);
    reference_free(&r);
    return value;
}

static void expect_values(const struct array *a, const char *what)
{
    for (enum exact_value of = EXACT_MINIMUM; of <= EXACT_ARGMAX; of++) {
        double got = value_of(of, a, what), want = extreme_due(of, a);
        cr_assert(same_double(got, want), "%s of %zu, %s: %a, expected %a", exact_facts[of].name,
                  a->n, what, got, want);
    }
}

Test(reference_extremum, is_the_one_defined)
{
    static const size_t lengths[] = {0, 1, 2, 3, 17, 300, ARRAY_BLOCK + 1};
    double data[ARRAY_BLOCK + 1];
    uint64_t seed = 9;
    for (enum format f = 0; f < FORMATS; f++)
        for (int kind = 0; kind < SAMPLES; kind++)
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
                struct array a = {f, lengths[i], data};
                sample_fill(&a, kind, f, sample_next(&seed));
                expect_values(&a, sample_name[kind]);
            }
}

/* Every array of four of these. */
Test(reference_extremum, of_special_values)
{
    static const double odd[] = {NAN, 0.0, -0.0, INFINITY, -INFINITY, 1, -1, 5e-324};
    enum { KINDS = sizeof odd / sizeof *odd };
    for (size_t code = 0; code < KINDS * KINDS * KINDS * KINDS; code++)
        for (size_t n = code < KINDS ? 1 : 4; n <= 4; n++) {
            double data[4];
            size_t rest = code;
            for (size_t i = 0; i < 4; i++, rest /= KINDS)
                data[i] = odd[rest % KINDS];
            expect_values(&(struct array){FP64, n, data}, "special values");
        }
}

Test(reference_extremum, by_hand)
{
    double x[] = {2, -0.0, NAN, 0.0, -7, NAN, -7, 9};
    struct array a = {FP64, 8, x}, clean = {FP64, 2, x}, nans = {FP64, 1, x + 2},
                 none = {FP64, 0, x};
    cr_expect(isnan(value_of(EXACT_MINIMUM, &a, "a")) && isnan(value_of(EXACT_MAXIMUM, &a, "a")));
    cr_expect(value_of(EXACT_MINIMUM_NUMBER, &a, "a") == -7);
    cr_expect(value_of(EXACT_MAXIMUM_NUMBER, &a, "a") == 9);
    cr_expect(value_of(EXACT_ARGMIN, &a, "a") == 2 && value_of(EXACT_ARGMAX, &a, "a") == 2);
    cr_expect(value_of(EXACT_ARGMIN, &clean, "b") == 1 && value_of(EXACT_ARGMAX, &clean, "b") == 0);
    cr_expect(isnan(value_of(EXACT_MINIMUM_NUMBER, &nans, "c")));
    cr_expect(value_of(EXACT_MINIMUM, &none, "d") == INFINITY);
    cr_expect(value_of(EXACT_MAXIMUM_NUMBER, &none, "d") == -INFINITY);
    cr_expect(value_of(EXACT_ARGMIN, &none, "d") == -1 && value_of(EXACT_ARGMAX, &none, "d") == -1);
}

/* The bound is 0 but where the element is rounded; and then it is that rounding's. */
Test(reference_extremum, theorem)
{
    double x[] = {1 + 0x1p-12, 2, 3};
    struct array a = {FP64, 3, x};
    struct theorem t = {.kind = THEOREM_EXTREMUM};
    mpfr_t bound;
    mpfr_init2(bound, 200);
    for (enum exact_value of = EXACT_MINIMUM; of <= EXACT_ARGMAX; of++) {
        struct reference r;
        cr_assert(reference_compute_of(&r, of, &a, NULL, REFERENCE_FAST, NULL) == STATUS_OK);
        for (enum format f = 0; f < FORMATS; f++) {
            double size = fabs(mpfr_get_d(r.sum, MPFR_RNDN));
            bool rounded = of < EXACT_ARGMIN && f != FP64;
            cr_assert(theorem_bound(bound, &t, &r, FP64, f));
            cr_expect(mpfr_cmp_d(bound, rounded ? size * format_facts[f].unit_roundoff : 0) == 0,
                      "%s in %s", exact_facts[of].name, format_facts[f].name);
        }
        reference_free(&r);
    }
    mpfr_clear(bound);
}
