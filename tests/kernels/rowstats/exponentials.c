/* Softmax and its kin: correctly rounded exponentials and logarithms, exact values against others'
 * arithmetic, what is not finite, and known failures. */
#include <criterion/criterion.h>

#include <math.h>
#include <mpfr.h>

#include "reference/exact/elementary.h"
#include "reference/exact/mpfr.h"
#include "reference/exact/reference.h"
#include "reference/theorem/theorem.h"
#include "tests/support/samples.h"
#include "tests/support/statistics.h"

/* --- exp and log --- */

/* By 400 bits, rounded once more: right, as no exponential of these is so near to a tie. */
static double due(enum format f, double x, int (*function)(mpfr_t, const mpfr_t, mpfr_rnd_t))
{
    mpfr_t y;
    mpfr_init2(y, 400);
    mpfr_set_d(y, x, MPFR_RNDN);
    function(y, y, MPFR_RNDN);
    double rounded = round_mpfr(y, f);
    mpfr_clear(y);
    return rounded;
}

static void expect_both(enum format f, double x)
{
    cr_assert_eq(exp_rounded(f, x), due(f, x, mpfr_exp), "exp %a in %s: %a", x,
                 format_facts[f].name, exp_rounded(f, x));
    if (x > 0)
        cr_assert_eq(log_rounded(f, x), due(f, x, mpfr_log), "log %a in %s: %a", x,
                     format_facts[f].name, log_rounded(f, x));
}

Test(exponentials, of_every_short_number_are_correctly_rounded)
{
    for (enum format f = FP16; f <= BF16; f++)
        for (uint64_t bits = 0; bits < 0x10000; bits++)
            if (isfinite(format_decode(f, bits)))
                expect_both(f, format_decode(f, bits));
}

Test(exponentials, of_longer_numbers_are_correctly_rounded)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < 40000; i++) {
        enum format f = i % 2 ? FP64 : FP32;
        double x =
            ldexp((double)(int64_t)sample_next(&seed), -63 + (int)(sample_next(&seed) % 20) - 10);
        expect_both(f, format_round(f, x));
    }
}

Test(exponentials, of_what_is_not_finite)
{
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        cr_expect_eq(exp_rounded(f, 0), 1);
        cr_expect_eq(exp_rounded(f, -0.0), 1);
        cr_expect(exp_rounded(f, -INFINITY) == 0 && !signbit(exp_rounded(f, -INFINITY)));
        cr_expect_eq(exp_rounded(f, INFINITY), INFINITY);
        cr_expect(isnan(exp_rounded(f, NAN)) && isnan(log_rounded(f, NAN)));
        cr_expect(isnan(log_rounded(f, -1)));
        cr_expect_eq(log_rounded(f, 0), -INFINITY);
        cr_expect_eq(log_rounded(f, INFINITY), INFINITY);
        cr_expect(log_rounded(f, 1) == 0 && !signbit(log_rounded(f, 1)));
        cr_expect_eq(exp_rounded(f, 1e300), INFINITY);
        cr_expect_eq(exp_rounded(f, -1e300), 0);
    }
}

/* --- exact values --- */

/* By plain MPFR with so many bits that nothing shows: sum exp(x) and what follows. */
static void plain(mpfr_t to, enum exact_value of, const struct array *a, size_t index)
{
    mpfr_t term, sum;
    mpfr_inits2(4000, term, sum, (mpfr_ptr)0);
    mpfr_set_prec(to, 4000);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < a->n; i++) {
        mpfr_set_d(term, array_get(a, i), MPFR_RNDN);
        mpfr_exp(term, term, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    if (exact_facts[of].log)
        mpfr_log(to, sum, MPFR_RNDN);
    else {
        double from = -INFINITY;
        for (size_t i = 0; i < a->n; i++)
            from = fmax(from, array_get(a, i));
        mpfr_set_d(term, exact_facts[of].each ? array_get(a, index) : from, MPFR_RNDN);
        mpfr_exp(term, term, MPFR_RNDN);
        if (exact_facts[of].each)
            mpfr_div(to, term, sum, MPFR_RNDN);
        else
            mpfr_div(to, sum, term, MPFR_RNDN);
    }
    mpfr_clears(term, sum, (mpfr_ptr)0);
}

/* All formats' roundings, and the error of a result that is off by little or nothing. */
static void expect_value(const struct reference *r, const struct array *a)
{
    mpfr_t value, error;
    mpfr_inits2(4000, value, error, (mpfr_ptr)0);
    plain(value, r->of, a, r->index);
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        double rounded = round_mpfr(r->sum, f);
        cr_expect_eq(rounded, round_mpfr(value, f), "%s: %a, expected %a", exact_facts[r->of].name,
                     rounded, round_mpfr(value, f));
        if (!isfinite(rounded))
            continue;
        reference_error(error, r, rounded);
        double found = mpfr_get_d(error, MPFR_RNDN);
        mpfr_set_prec(error, 4200);
        mpfr_sub_d(error, value, rounded, MPFR_RNDN);
        double expected = fabs(mpfr_get_d(error, MPFR_RNDN));
        cr_expect(fabs(found - expected) <= 0x1p-50 * expected || expected < 0x1p-1000,
                  "%s: error %g, expected %g", exact_facts[r->of].name, found, expected);
    }
    mpfr_clears(value, error, (mpfr_ptr)0);
}

static void expect_values(const struct array *a)
{
    static const enum exact_value values[] = {EXACT_SUMEXP, EXACT_LOGSUMEXP};
    struct reference r, slow, each[64] = {0};
    for (size_t i = 0; i < 2; i++) {
        cr_assert(reference_compute_of(&r, values[i], a, NULL, REFERENCE_FAST, NULL) == STATUS_OK);
        cr_assert(reference_compute_of(&slow, values[i], a, NULL, REFERENCE_MPFR, NULL) ==
                  STATUS_OK);
        cr_expect(reference_equal(&r, &slow));
        expect_value(&r, a);
        reference_free(&r);
        reference_free(&slow);
    }
    cr_assert(reference_compute_each(each, EXACT_SOFTMAX, a, NULL) == STATUS_OK);
    for (size_t i = 0; i < a->n; i++) {
        cr_assert(reference_compute_at(&slow, EXACT_SOFTMAX, a, i, REFERENCE_MPFR, NULL) ==
                  STATUS_OK);
        cr_expect(reference_equal(&each[i], &slow));
        expect_value(&each[i], a);
        reference_free(&each[i]);
        reference_free(&slow);
    }
}

Test(exponentials, exact_values_are_those_of_plain_mpfr)
{
    double x[64];
    uint64_t seed = 7;
    for (size_t i = 0; i < 40; i++) {
        struct array a = {FP64, 1 + i % 12, x};
        double spread = ldexp(1, (int)(i % 11) - 2);
        for (size_t k = 0; k < a.n; k++)
            x[k] = spread * ldexp((double)(int64_t)sample_next(&seed), -63);
        if (i % 5 == 0) /* all equal */
            for (size_t k = 0; k < a.n; k++)
                x[k] = x[0];
        if (i % 7 == 3) /* masked */
            x[0] = a.n > 1 ? -INFINITY : x[0];
        expect_values(&a);
    }
    /* log of the sum undoes the largest element; next to a number, far closer than it has digits */
    expect_values(
        &(struct array){FP64, 2, (double[]){-0x1.62e42fefa39efp-1, -0x1.62e42fefa39efp-1}});
    expect_values(&(struct array){FP64, 2, (double[]){0, -700}});
    expect_values(&(struct array){FP64, 3, (double[]){5, -300, -745}});
}

/* Sums just above 1, 2 or 3, by less than any number of bits shows that there is time for. */
Test(exponentials, exact_values_of_elements_far_apart_are_found_soon, .timeout = 20)
{
    mpfr_set_emin(mpfr_get_emin_min()); /* exponentials as large as the plain way has them */
    mpfr_set_emax(mpfr_get_emax_max());
    expect_values(&(struct array){FP64, 2, (double[]){0, 1e6}});
    expect_values(&(struct array){FP64, 3, (double[]){5.8716549e10, 1.2553035e-20, 5.8716549e10}});
    expect_values(&(struct array){FP64, 4, (double[]){1e11, 1e11, -1e12, 1e11}});
    expect_values(&(struct array){FP64, 3, (double[]){-3e10, 2.7090657e14, -4.0215547e34}});
    expect_values(&(struct array){FP64, 4, (double[]){-1e9, 7e9, 7e9 - 1, -0.0}});
}

/* --- what is not finite --- */

struct special {
    const char *are;
    size_t n;
    double x[4];
    double sum, log, share[4];
};
/* As torch.softmax, torch.logsumexp and scipy.special have it. */
static const struct special specials[] = {
    {"of -inf", 3, {-INFINITY, -INFINITY, -INFINITY}, NAN, -INFINITY, {NAN, NAN, NAN}},
    {"with +inf", 3, {1, INFINITY, 2}, NAN, INFINITY, {NAN, NAN, NAN}},
    {"with two +inf", 3, {INFINITY, 1, INFINITY}, NAN, INFINITY, {NAN, NAN, NAN}},
    {"with NaN", 3, {1, NAN, 2}, NAN, NAN, {NAN, NAN, NAN}},
    {"with NaN and inf", 3, {INFINITY, NAN, -INFINITY}, NAN, NAN, {NAN, NAN, NAN}},
    {"all equal", 4, {3, 3, 3, 3}, 4, 3 + 0x1.62e42fefa39efp0, {.25, .25, .25, .25}},
    {"masked", 4, {-INFINITY, 3, -INFINITY, 3}, 2, 3 + 0x1.62e42fefa39efp-1, {0, .5, 0, .5}},
    {"masked but for one", 3, {-INFINITY, -7, -INFINITY}, 1, -7, {0, 1, 0}},
    {"one -0", 1, {-0.0}, 1, 0, {1}},
    {"far apart", 2, {-30000, 30000}, 1, 30000, {0, 1}},
    {"empty", 0, {0}, 0, -INFINITY, {0}},
};

static bool same(enum format f, double found, double expected)
{
    return format_canonical(f, format_encode(f, found)) ==
           format_canonical(f, format_encode(f, expected));
}

Test(exponentials, of_special_rows)
{
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++)
        for (size_t k = 0; k < sizeof specials / sizeof *specials; k++)
            for (enum format f = 0; f < ACCUMULATORS; f++) {
                const struct method *m = method_registry[i];
                const struct special *s = &specials[k];
                const struct exact_facts *facts = &exact_facts[m->operation->of];
                if (facts->form != FORM_ROW || facts->epsilon > 0 || !m->cpu ||
                    !operation_of_rows(m->operation))
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
                    double due_of = facts->each ? s->share[j] : facts->log ? s->log : s->sum;
                    /* the sum is exact in these; m + log of it is rounded twice */
                    bool near = facts->log && isfinite(due_of) &&
                                fabs(y - due_of) <= 2 * format_ulp(f, due_of);
                    cr_expect(near || same(f, y, due_of), "%s in %s of a row %s: %a, expected %a",
                              m->name, format_facts[f].name, s->are, y, due_of);
                }
                if (s->n > 0)
                    cr_expect(statistic_holds(&c, &to, why), "%s", why);
                held++;
            }
    cr_expect(held > 500);
}

/* --- shares --- */

/* A share and its result lie between 0 and 1, however much rounding the elements may change them:
 * numbers near 30000 are 16 apart in fp16, near 1e30 2^93 apart in bf16. */
Test(exponentials, shares_err_by_less_than_1)
{
    static const struct {
        enum format accumulator;
        double in[2];
    } cases[] = {{FP16, {30001, 30003}}, {BF16, {1e30, 1e30 + 0x1p80}}};
    mpfr_t bound;
    mpfr_init2(bound, 300);
    for (size_t i = 0; i < 4; i++) {
        double in[2] = {cases[i / 2].in[0], cases[i / 2].in[1]};
        struct array a = {FP64, 2, in};
        struct theorem t = {.kind = i ? THEOREM_RESCALED : THEOREM_EXPONENTIALS, .height = 1};
        struct reference r;
        cr_assert(reference_compute_at(&r, EXACT_SOFTMAX, &a, i % 2, REFERENCE_FAST, NULL) ==
                  STATUS_OK);
        cr_expect(theorem_bound(bound, &t, &r, FP64, cases[i / 2].accumulator));
        double share = mpfr_get_d(r.sum, MPFR_RNDU), found = mpfr_get_d(bound, MPFR_RNDU);
        double due = fmax(share, 1 - share);
        cr_expect(found >= due && found <= due + 0x1p-52, "%zu: share %a, bound %a", i, share,
                  found);
        reference_free(&r);
    }
    mpfr_clear(bound);
}

/* A sum of n exponentials and its result lie between 1 and n (1+u)^h, however coarse bf16 is. */
Test(exponentials, sums_err_by_less_than_their_number)
{
    static const enum exact_value of[] = {EXACT_SUMEXP, EXACT_LOGSUMEXP};
    double in[] = {1e30, 1e30 + 0x1p80, -1e30};
    struct array a = {FP64, 3, in};
    mpfr_t bound;
    mpfr_init2(bound, 300);
    for (size_t i = 0; i < 4; i++) {
        struct theorem t = {.kind = i % 2 ? THEOREM_RESCALED : THEOREM_EXPONENTIALS, .height = 2};
        struct reference r;
        cr_assert(reference_compute_of(&r, of[i / 2], &a, NULL, REFERENCE_FAST, NULL) == STATUS_OK);
        cr_expect(theorem_bound(bound, &t, &r, FP64, BF16), "%zu: no bound", i);
        double found = mpfr_get_d(bound, MPFR_RNDU), due = 3 * pow(1 + 0x1p-8, 3) - 1;
        cr_expect(i >= 2 ? found < 0x1p96 : found >= due && found <= due * (1 + 0x1p-50),
                  "%zu: %a, expected %a", i, found, due);
        reference_free(&r);
    }
    mpfr_clear(bound);
}

/* --- known failures --- */

/* executorch #20090: a denominator in bf16 stands still at 256, one in fp16 at 2048. */
Test(exponentials, a_denominator_stalls)
{
    static double in[4096], out[1];
    struct statistic_case c = {.method = method_named("sumexp/serial"),
                               .in = {FP64, 4096, in},
                               .rows = 1,
                               .stride = 1,
                               .shape.threads = 1};
    static const double stalls[] = {[FP16] = 2048, [BF16] = 256, [FP32] = 4096, [FP64] = 4096};
    char why[WHY];
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        c.accumulator = f;
        struct array to = {f, 1, out};
        cr_assert(statistic_run(&c, &to, why));
        cr_expect_eq(array_get(&to, 0), stalls[f]);
        cr_expect(statistic_holds(&c, &to, why), "%s", why);
    }
}
