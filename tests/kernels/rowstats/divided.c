/* RMSNorm and LayerNorm: exact values against comparisons of rational squares, what is not finite,
 * and known failures. */
#include <criterion/criterion.h>

#include <math.h>
#include <mpfr.h>

#include "reference/exact/divided_rounded.h"
#include "reference/exact/elementary.h"
#include "reference/exact/mpfr.h"
#include "reference/exact/reference.h"
#include "reference/measure/measure.h"
#include "reference/theorem/theorem.h"
#include "tests/support/rational.h"
#include "tests/support/samples.h"
#include "tests/support/statistics.h"

/* --- 1 / sqrt --- */

/* Is y = 1 / sqrt(x), rounded once? By (y - ulp/2)^2 x <= 1 <= (y + ulp/2)^2 x; where x is no power
 * of two there are no ties. */
Test(divided, roots_are_correctly_rounded)
{
    uint64_t seed = 3;
    for (size_t i = 0; i < 0x20000 + 4000; i++) {
        enum format f = i < 0x10000 ? FP16 : i < 0x20000 ? BF16 : i % 2 ? FP32 : FP64;
        double x = i < 0x20000
                       ? format_decode(f, i & 0xffff)
                       : format_round(f, ldexp((double)sample_next(&seed), -64 + (int)(i % 99)));
        if (!isfinite(x) || x <= 0)
            continue;
        double y = rsqrt_rounded(f, x);
        rational half = over(from_double(format_ulp(f, y)), whole(2)), of = from_double(x);
        rational low = minus(from_double(y), half), high = plus(from_double(y), half);
        cr_assert(mpq_cmp(times(times(low, low), of), whole(1)) <= 0 &&
                      mpq_cmp(times(times(high, high), of), whole(1)) >= 0,
                  "1 / sqrt(%a) in %s: %a", x, format_facts[f].name, y);
        rational_forget();
    }
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        cr_expect_eq(rsqrt_rounded(f, 0), INFINITY);
        cr_expect_eq(rsqrt_rounded(f, INFINITY), 0);
        cr_expect(isnan(rsqrt_rounded(f, -1)) && isnan(rsqrt_rounded(f, NAN)));
    }
}

/* --- exact values --- */

/* What is due, as the distance d and the square under the root: y = d / sqrt(w). */
static void set_due(rational *d, rational *w, enum exact_value of, const struct array *a,
                    size_t index)
{
    rational sum = whole(0), squares = whole(0), n = whole(a->n);
    bool layer = of == EXACT_LAYERNORM;
    for (size_t i = 0; i < a->n; i++) {
        rational x = from_double(array_get(a, i));
        sum = layer ? plus(sum, x) : sum;
        squares = plus(squares, times(x, x));
    }
    rational mean = over(sum, n);
    *d = minus(from_double(array_get(a, index)), mean);
    *w = plus(minus(over(squares, n), times(mean, mean)), from_double(layer ? 1e-5 : 1e-6));
}

/* Is y the number of f nearest to d / sqrt(w), the even one of two? */
static bool nearest(enum format f, double y, rational d, rational w)
{
    rational square = over(times(d, d), w), size = from_double(fabs(y));
    double ulp = format_ulp(f, y), below = format_ulp(f, nextafter(fabs(y), 0));
    rational high = plus(size, over(from_double(ulp), whole(2)));
    rational low = y == 0 ? whole(0) : minus(size, over(from_double(below), whole(2)));
    int under = mpq_cmp(times(low, low), square), over_it = mpq_cmp(square, times(high, high));
    bool even = format_encode(f, y) % 2 == 0, sign = y == 0 || (y < 0) == (mpq_sgn(d) < 0);
    return sign && (under < 0 || (under == 0 && (even || y == 0))) &&
           (over_it < 0 || (over_it == 0 && even));
}

/* |y - result| by 6000 bits. */
static double error_due(rational d, rational w, double result)
{
    mpfr_t y, root;
    mpfr_inits2(6000, y, root, (mpfr_ptr)0);
    mpfr_set_q(root, w, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    mpfr_set_q(y, d, MPFR_RNDN);
    mpfr_div(y, y, root, MPFR_RNDN);
    mpfr_sub_d(y, y, result, MPFR_RNDN);
    double error = fabs(mpfr_get_d(y, MPFR_RNDN));
    mpfr_clears(y, root, (mpfr_ptr)0);
    return error;
}

/* Of what is cut, all digits: the next number of as many is beyond it. */
static void expect_digits(const struct reference *r, rational d, rational w)
{
    mpfr_t digits;
    mpfr_init2(digits, REFERENCE_DIGITS);
    mpfr_abs(digits, r->sum, MPFR_RNDZ);
    rational low = from_mpfr(digits), square = times(d, d);
    int under = mpq_cmp(times(times(low, low), w), square);
    cr_assert(r->cut ? under < 0 : under == 0);
    if (r->cut) { /* of 0, which never is, that number has 2^30 bits as a fraction */
        mpfr_nextabove(digits);
        rational high = from_mpfr(digits);
        cr_assert(mpq_cmp(square, times(times(high, high), w)) < 0);
    }
    mpfr_clear(digits);
}

static void expect_value(const struct reference *r, const struct array *a)
{
    rational d, w;
    mpfr_t error;
    mpfr_init2(error, 64);
    set_due(&d, &w, r->of, a, r->index);
    expect_digits(r, d, w);
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        double y = round_mpfr(r->sum, f), others[] = {y, -y, y * 1.5, 0, 3};
        cr_assert(!isfinite(y) || nearest(f, y, d, w), "%s of %a in %s: %a",
                  exact_facts[r->of].name, array_get(a, r->index), format_facts[f].name, y);
        for (size_t i = 0; i < sizeof others / sizeof *others && isfinite(y); i++) {
            reference_error(error, r, others[i]);
            double found = mpfr_get_d(error, MPFR_RNDN), due = error_due(d, w, others[i]);
            cr_expect(fabs(found - due) <= 0x1p-50 * due, "%s: error %g, expected %g",
                      exact_facts[r->of].name, found, due);
        }
    }
    mpfr_clear(error);
    rational_forget();
}

/* Values rounded once, by few bits where they tell, have the bits of the reference's. */
static void expect_rounded(const struct reference *each, enum exact_value of, const struct array *a)
{
    double x[40], y[40];
    array_decode(a, 0, a->n, x);
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        cr_assert(divided_rounded(of, x, a->n, f, y, NULL) == STATUS_OK);
        for (size_t i = 0; i < a->n; i++) {
            double due = round_mpfr(each[i].sum, f);
            cr_expect(isnan(due) ? isnan(y[i]) : double_bits(y[i]) == double_bits(due),
                      "%s of %a in %s: %a, not %a", exact_facts[of].name, x[i],
                      format_facts[f].name, y[i], due);
        }
    }
}

Test(divided, exact_values_are_nearest_by_their_squares)
{
    static const enum exact_value values[] = {EXACT_RMSNORM, EXACT_LAYERNORM};
    double x[40];
    uint64_t seed = 9;
    for (size_t round = 0; round < 60; round++) {
        enum format s = round % FORMATS;
        struct array a = {s, 1 + round % 7 * (round % 5), x};
        sample_fill(&a, round / FORMATS % SAMPLE_BITS, FP32, sample_next(&seed));
        if (round % 11 == 0) /* all equal */
            for (size_t i = 0; i < a.n; i++)
                array_set_bits(&a, i, array_bits(&a, 0));
        struct reference each[40] = {0}, slow;
        for (size_t v = 0; v < 2; v++) {
            cr_assert(reference_compute_each(each, values[v], &a, NULL) == STATUS_OK);
            expect_rounded(each, values[v], &a);
            for (size_t i = 0; i < a.n; i++) {
                cr_assert(reference_compute_at(&slow, values[v], &a, i, REFERENCE_MPFR, NULL) ==
                          STATUS_OK);
                cr_expect(reference_equal(&each[i], &slow));
                if (each[i].nans + each[i].infs == 0)
                    expect_value(&each[i], &a);
                reference_free(&slow);
                reference_free(&each[i]);
            }
        }
    }
    struct array zeros = {FP64, 2, (double[]){0, -0.0}};
    struct reference r;
    cr_assert(reference_compute_at(&r, EXACT_RMSNORM, &zeros, 1, REFERENCE_FAST, NULL) ==
              STATUS_OK);
    cr_expect(!r.cut && mpfr_zero_p(r.sum) && mpfr_signbit(r.sum));
    reference_free(&r);
}

/* --- what is not finite --- */

struct special {
    const char *are;
    size_t n;
    double x[4], rms[4], layer[4];
};
static const struct special specials[] = {
    {"with NaN", 3, {1, NAN, 2}, {NAN, NAN, NAN}, {NAN, NAN, NAN}},
    {"with NaN and inf", 3, {1, NAN, INFINITY}, {NAN, NAN, NAN}, {NAN, NAN, NAN}},
    {"with +inf", 3, {1, INFINITY, -2}, {0, NAN, -0.0}, {NAN, NAN, NAN}},
    {"with -inf", 3, {-INFINITY, -0.0, 2}, {NAN, -0.0, 0}, {NAN, NAN, NAN}},
    {"with both", 2, {-INFINITY, INFINITY}, {NAN, NAN}, {NAN, NAN}},
    {"of zeros", 3, {0, -0.0, 0}, {0, -0.0, 0}, {0, 0, 0}},
    {"all equal", 4, {4, 4, 4, 4}, {1, 1, 1, 1}, {0, 0, 0, 0}},
    {"of one", 1, {-64}, {-1}, {0}},
    {"of two", 2, {-128, 128}, {-1, 1}, {-1, 1}},
    {"empty", 0, {0}, {0}, {0}},
};

static bool same(enum format f, double found, double expected)
{
    return format_canonical(f, format_encode(f, found)) ==
           format_canonical(f, format_encode(f, expected));
}

static bool divides(const struct method *m)
{
    return exact_facts[m->operation->of].epsilon > 0 && m->cpu && operation_of_rows(m->operation);
}

Test(divided, of_special_rows)
{
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++)
        for (size_t k = 0; k < sizeof specials / sizeof *specials; k++)
            for (enum format f = 0; f < ACCUMULATORS; f++) {
                const struct method *m = method_registry[i];
                const struct special *s = &specials[k];
                if (!divides(m))
                    continue;
                double in[4], out[4], y;
                struct statistic_case c = {.method = m,
                                           .in = {FP64, s->n, in},
                                           .accumulator = f,
                                           .rows = 1,
                                           .stride = 1,
                                           .shape.threads = 1};
                char why[WHY];
                memcpy(in, s->x, sizeof in);
                struct array to = {f, statistic_outputs(&c), out};
                cr_assert(statistic_run(&c, &to, why), "%s", why);
                for (size_t j = 0; j < to.n; j++) {
                    array_decode(&to, j, 1, &y);
                    const double *dues = m->operation->of == EXACT_RMSNORM ? s->rms : s->layer;
                    double due = format_round(f, dues[j]);
                    /* epsilon has its share in them: 2^-20 and, of fp16, where it is subnormal */
                    bool near =
                        fabs(due) == 1 && fabs(y - due) <= fmax(2 * format_ulp(f, 1), 0x1p-18);
                    /* -0 less a mean of +0 is -0 */
                    near |= dues == s->layer && due == 0 && y == 0;
                    cr_expect(near || same(f, y, due), "%s in %s of a row %s: %a, expected %a",
                              m->name, format_facts[f].name, s->are, y, due);
                }
                if (s->n > 0)
                    cr_expect(statistic_holds(&c, &to, why), "%s", why);
                held++;
            }
    cr_expect(held > 300);
}

/* --- known failures --- */

static void run_row(const char *name, const struct array *in, enum format f,
                    const struct array *out)
{
    struct statistic_case c = {.method = method_named(name),
                               .in = *in,
                               .accumulator = f,
                               .rows = 1,
                               .stride = 1,
                               .shape.threads = 1};
    char why[WHY];
    cr_assert(statistic_run(&c, out, why), "%s", why);
    cr_expect(statistic_holds(&c, out, why), "%s", why);
}

/* 300^2 is beyond fp16's 65504: 1 / sqrt(inf) is 0. That is said to be an overflow, of every
 * element; and where only the squares of the elements are beyond, as the textbook adds them, of
 * that alone. */
Test(divided, squares_that_overflow_are_said_to)
{
    static const struct {
        const char *name;
        double x[4];
        bool vanishes;
    } rows[] = {
        {"rmsnorm/tiled", {300, -300, 200, 100}, true},
        {"rmsnorm/serial", {300, -300, 200, 100}, true},
        {"rmsnorm/exact", {300, -300, 200, 100}, false},
        {"layernorm/two_pass", {300, -300, 200, 100}, true},
        {"layernorm/textbook", {200, 201, 202, 200}, true},
        {"layernorm/two_pass", {200, 201, 202, 200}, false},
        {"layernorm/welford", {200, 201, 202, 200}, false},
        {"layernorm/chan", {200, 201, 202, 200}, false},
        {"rmsnorm/tiled", {3, -3, 2, 1}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double in[4], out[4];
        struct array a = {FP64, 4, in}, to = {FP16, 4, out};
        const struct method *m = method_named(rows[i].name);
        memcpy(in, rows[i].x, sizeof in);
        run_row(rows[i].name, &a, FP16, &to);
        struct reference each[4] = {0};
        cr_assert(reference_compute_each(each, m->operation->of, &a, NULL) == STATUS_OK);
        for (size_t k = 0; k < 4; k++) {
            struct measure is;
            struct theorem t = {.kind = m->bound, .height = 3};
            measure(&is, &each[k], FP64, FP16, array_get(&to, k), &t);
            cr_expect_eq(array_get(&to, k) == 0, rows[i].vanishes, "%s: %g", rows[i].name,
                         array_get(&to, k));
            cr_expect_eq(is.outcome, rows[i].vanishes ? OUTCOME_OVERFLOW : OUTCOME_OK, "%s: %s",
                         rows[i].name, outcome_name[is.outcome]);
            cr_expect(!rows[i].vanishes || !is.bound.known);
            reference_free(&each[k]);
        }
    }
}

/* A mean of 1000: in fp32 the textbook's variance has no digit, and may be below 0. */
Test(divided, the_textbook_fails_with_a_large_mean)
{
    enum { N = 64 };
    double in[N], out[N];
    struct array a = {FP32, N, in}, to = {FP32, N, out};
    for (size_t i = 0; i < N; i++)
        array_encode(&a, i, 1, &(double){1000 + 0.001 * (double)(i % 7)});
    run_row("layernorm/textbook", &a, FP32, &to);
    cr_expect(isnan(array_get(&to, 0)) || fabs(array_get(&to, 0)) > 1.5 ||
              fabs(array_get(&to, 0)) < 0.5);
    run_row("layernorm/two_pass", &a, FP32, &to);
    struct reference each[N] = {0};
    cr_assert(reference_compute_each(each, EXACT_LAYERNORM, &a, NULL) == STATUS_OK);
    for (size_t i = 0; i < N; i++) {
        double due = round_mpfr(each[i].sum, FP32);
        cr_expect(fabs(array_get(&to, i) - due) < 0.05, "%g, expected %g", array_get(&to, i), due);
        reference_free(&each[i]);
    }
}

/* --- bounds --- */

/* What a row's bounds have in common is kept for the next element: rows, heights and formats that
 * alternate have the bounds that each has without that. */
Test(divided, what_is_kept_of_a_row_changes_no_bound)
{
    static const struct {
        enum theorem_kind kind;
        enum exact_value of;
    } bounds[] = {{THEOREM_RMSNORM, EXACT_RMSNORM},
                  {THEOREM_LAYERNORM_TEXTBOOK, EXACT_LAYERNORM},
                  {THEOREM_LAYERNORM_TWO_PASS, EXACT_LAYERNORM},
                  {THEOREM_LAYERNORM_WELFORD, EXACT_LAYERNORM},
                  {THEOREM_LAYERNORM_CHAN, EXACT_LAYERNORM},
                  {THEOREM_EXPONENTIALS, EXACT_SOFTMAX},
                  {THEOREM_RESCALED, EXACT_SOFTMAX}};
    enum { ROWS = 3, LENGTH = 12 };
    float x[ROWS][LENGTH];
    uint64_t seed = 11;
    size_t told = 0;
    struct theorem_memo *memo = theorem_memo_new();
    mpfr_t kept, due;
    mpfr_inits2(200, kept, due, (mpfr_ptr)0);
    for (size_t k = 0; k < ROWS * LENGTH; k++) /* rows of equal magnitudes and other sums, too */
        x[k / LENGTH][k % LENGTH] = k < LENGTH ? (float)ldexp((double)sample_next(&seed), -63)
                                               : (k < 2 * LENGTH && k % 2 ? -1.F : 1.F) *
                                                     x[k / LENGTH - 1][k % LENGTH] *
                                                     (k < 2 * LENGTH ? 1.F : 3.F);
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        struct reference r[ROWS][LENGTH];
        for (size_t row = 0; row < ROWS; row++)
            cr_assert(reference_compute_each(r[row], bounds[b].of,
                                             &(struct array){FP32, LENGTH, x[row]},
                                             NULL) == STATUS_OK);
        for (size_t i = 0; i < 8 * LENGTH; i++) {
            struct theorem t = {.kind = bounds[b].kind, .height = i / 5 % 2 ? 4 : 11};
            const struct reference *of = &r[i / 3 % ROWS][i % LENGTH];
            enum format f = i / 7 % 2 ? FP64 : FP32;
            bool says = theorem_bound(due, &t, of, FP32, f);
            t.memo = memo;
            cr_expect(theorem_bound(kept, &t, of, FP32, f) == says);
            cr_expect(!says || mpfr_equal_p(kept, due), "%zu: %g, not %g", i,
                      mpfr_get_d(kept, MPFR_RNDN), mpfr_get_d(due, MPFR_RNDN));
            told += says;
        }
        for (size_t i = 0; i < ROWS * LENGTH; i++)
            reference_free(&r[i / LENGTH][i % LENGTH]);
    }
    cr_expect(told > 100, "%zu bounds", told);
    mpfr_clears(kept, due, (mpfr_ptr)0);
    theorem_memo_free(memo);
}
