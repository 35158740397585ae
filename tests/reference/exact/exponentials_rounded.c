/* Quick roundings of exponentials of rows, held to the reference: on drawn rows, on what is not
 * finite, and right beside ties, where an enclosure in double cannot tell. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "reference/exact/exponentials_rounded.h"
#include "reference/exact/mpfr.h"
#include "reference/exact/reference.h"
#include "tests/support/samples.h"

static const enum exact_value values[] = {EXACT_SUMEXP, EXACT_LOGSUMEXP, EXACT_SOFTMAX};
enum { VALUES = sizeof values / sizeof *values, MOST = 4200 };

static double due(enum exact_value of, const double *x, size_t n, size_t i, enum format f)
{
    struct array in = {FP64, n, (void *)x};
    struct reference r;
    struct problem p = {0};
    enum status status = exact_facts[of].each
                             ? reference_compute_at(&r, of, &in, i, REFERENCE_FAST, &p)
                             : reference_compute_of(&r, of, &in, NULL, REFERENCE_FAST, &p);
    cr_assert(status == STATUS_OK, "%s", p.text);
    double rounded = round_mpfr(r.sum, f);
    reference_free(&r);
    return rounded;
}

static void expect_output(enum exact_value of, const double *x, size_t n, size_t i, enum format f,
                          double y)
{
    double wanted = due(of, x, n, i, f);
    cr_assert(isnan(wanted) ? isnan(y) : double_bits(y) == double_bits(wanted),
              "%s of %zu, output %zu in %s: %a, expected %a", exact_facts[of].name, n, i,
              format_facts[f].name, y, wanted);
}

/* Of long rows some elements. */
static void expect_row(const double *x, size_t n)
{
    static double y[MOST];
    struct problem p = {0};
    for (size_t k = 0; k < VALUES; k++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            enum exact_value of = values[k];
            size_t outputs = exact_facts[of].each ? n : 1, step = outputs / 16 + 1;
            cr_assert(exponentials_rounded(of, x, n, f, y, &p) == STATUS_OK, "%s", p.text);
            for (size_t i = 0; i < outputs; i += step)
                expect_output(of, x, n, i, f, y[i]);
        }
}

Test(exponentials_rounded, drawn_rows)
{
    static double x[MOST];
    uint64_t seed = 7;
    const double size[] = {1e-6, 1, 20, 200, 1e300};
    for (size_t k = 0; k < 40; k++) {
        size_t n = 1 + sample_next(&seed) % (k % 8 ? 40 : 600);
        for (size_t i = 0; i < n; i++) {
            x[i] = size[k % 5] * ldexp((double)(int64_t)sample_next(&seed), -63);
            x[i] = k % 3 ? format_round(FP32, x[i]) : x[i];
            x[i] = k % 4 == 3 && i % 2 ? -INFINITY : x[i];
        }
        expect_row(x, n);
    }
}

Test(exponentials_rounded, what_is_not_finite_and_equal)
{
    static double x[MOST];
    expect_row(x, 0);
    expect_row((double[]){-INFINITY, -INFINITY}, 2);
    expect_row((double[]){1, INFINITY}, 2);
    expect_row((double[]){1, -INFINITY, NAN}, 3);
    expect_row((double[]){-0.0}, 1);
    expect_row((double[]){-0.0, -INFINITY}, 2);
    expect_row((double[]){-1e308, 1e308}, 2);
    expect_row((double[]){0, -745.2, -745.1, -708.4}, 4);
    expect_row((double[]){0, -149 * log(2), -150 * log(2), -151 * log(2)}, 4);
    for (size_t n = 2; n < MOST; n = n * 5 / 3)
        expect_row(x, n);
}

/* A sum next to a tie of fp16: of so many ones and something too small to be seen in double. */
Test(exponentials_rounded, sums_beside_a_tie)
{
    static double x[2050];
    double y, at, above;
    struct problem p = {0};
    x[2049] = -INFINITY; /* 2049 in fp16 is a tie, which goes to 2048 */
    cr_assert(exponentials_rounded(EXACT_SUMEXP, x, 2050, FP16, &at, &p) == STATUS_OK);
    x[2049] = -40;
    cr_assert(exponentials_rounded(EXACT_SUMEXP, x, 2050, FP16, &above, &p) == STATUS_OK);
    cr_expect(at == 2048 && above == 2050, "%a and %a", at, above);
    x[2049] = -140;
    cr_assert(exponentials_rounded(EXACT_SUMEXP, x, 2050, FP16, &y, &p) == STATUS_OK);
    cr_expect_eq(y, 2050);
    x[2049] = -1000; /* which an enclosure takes for 0 */
    cr_assert(exponentials_rounded(EXACT_SUMEXP, x, 2050, FP16, &y, &p) == STATUS_OK);
    cr_expect_eq(y, 2050);
}

/* Moves x[which] up to where the value's rounding changes: neighbours on both sides of a tie, which
 * is nearer to it than double can tell. */
static void expect_around(enum exact_value of, enum format f, double *x, size_t n, size_t which,
                          double step)
{
    double y[8], low = x[which], high = low, below = due(of, x, n, which, f);
    struct problem p = {0};
    do {
        x[which] = high = high + step;
        step *= 2;
        cr_assert(step < 64);
    } while (due(of, x, n, which, f) == below);
    while (nextafter(low, high) < high) {
        x[which] = low + (high - low) / 2;
        if (due(of, x, n, which, f) == below)
            low = x[which];
        else
            high = x[which];
    }
    for (double at = nextafter(nextafter(low, -INFINITY), -INFINITY), k = 0; k < 6;
         at = nextafter(at, INFINITY), k++) {
        x[which] = at;
        cr_assert(exponentials_rounded(of, x, n, f, y, &p) == STATUS_OK, "%s", p.text);
        for (size_t i = 0; i < (exact_facts[of].each ? n : 1); i++)
            expect_output(of, x, n, i, f, y[i]);
    }
}

Test(exponentials_rounded, values_beside_a_tie)
{
    uint64_t seed = 3;
    for (size_t k = 0; k < 60; k++) {
        enum format f = (enum format)(k % 3); /* fp16, bf16, fp32 */
        double x[5];
        for (size_t i = 0; i < 5; i++)
            x[i] = 4 * ldexp((double)(int64_t)sample_next(&seed), -63);
        double from = x[2], step = format_facts[f].unit_roundoff;
        expect_around(EXACT_SOFTMAX, f, x, 5, 2, step);
        x[2] = from;
        expect_around(EXACT_LOGSUMEXP, f, x, 5, 2, step);
    }
}
