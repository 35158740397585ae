/* Measures against rational arithmetic, rounded once by MPFR. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "reference/measure/measure.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

static struct reference reference_of(enum format f, size_t n, const double *x)
{
    struct array a = {f, n, malloc(n ? array_bytes(f, n) : 1)};
    struct reference r;
    array_encode(&a, 0, n, x);
    cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
    free(a.data);
    return r;
}

/* The double nearest to a rational, subnormals included. */
static double nearest(const mpq_t q)
{
    mpfr_exp_t emin = mpfr_get_emin();
    MPFR_DECL_INIT(x, 53);
    int ternary = mpfr_set_q(x, q, MPFR_RNDN);
    mpfr_set_emin(-1073);
    ternary = mpfr_check_range(x, ternary, MPFR_RNDN);
    mpfr_subnormalize(x, ternary, MPFR_RNDN);
    double rounded = mpfr_get_d(x, MPFR_RNDN);
    mpfr_set_emin(emin);
    return rounded;
}

/* 2^(max(e, emin) - p + 1), e from the sizes of numerator and denominator. */
static void ulp_of(mpq_t ulp, const mpq_t sum, enum format f)
{
    const struct format_facts *facts = &format_facts[f];
    int e = facts->emin;
    mpq_t power;
    mpq_init(power);
    mpq_set_ui(power, 1, 1);
    mpq_div_2exp(power, power, (mp_bitcnt_t)-facts->emin);
    mpq_t size;
    mpq_init(size);
    mpq_abs(size, sum);
    for (mpq_mul_2exp(power, power, 1); e < facts->emax && mpq_cmp(power, size) <= 0; e++)
        mpq_mul_2exp(power, power, 1);
    mpq_div_2exp(ulp, power, (mp_bitcnt_t)facts->precision);
    mpq_clears(power, size, NULL);
}

static void expect_figure(struct figure got, const mpq_t above, const mpq_t below, const char *what)
{
    if (mpq_sgn(below) == 0) {
        cr_assert(!got.known, "%s over 0", what);
        return;
    }
    mpq_t quotient;
    mpq_init(quotient);
    mpq_div(quotient, above, below);
    mpq_abs(quotient, quotient);
    double due = nearest(quotient);
    cr_assert(got.known && same_double(got.value, due), "%s: %a, not %a", what, got.value, due);
    mpq_clear(quotient);
}

static void expect_measure(const struct reference *r, enum format storage, enum format accumulator,
                           double result, const struct theorem *t)
{
    struct measure m;
    measure(&m, r, storage, accumulator, result, t);
    mpq_t sum, size, error, unit, one;
    mpq_inits(sum, size, error, unit, one, NULL);
    mpfr_get_q(sum, r->sum);
    mpfr_get_q(size, r->sum_abs);
    mpq_set_d(error, result);
    mpq_sub(error, error, sum);
    mpq_abs(error, error);
    mpq_set_ui(one, 1, 1);
    ulp_of(unit, sum, accumulator);
    expect_figure(m.err_abs, error, one, "err_abs");
    expect_figure(m.err_rel, error, sum, "err_rel");
    expect_figure(m.err_ulp, error, unit, "err_ulp");
    expect_figure(m.err_backward, error, size, "err_backward");
    mpfr_t bound;
    mpfr_init2(bound, 4096); /* test_theorem answers for it */
    cr_assert(theorem_bound(bound, t, r, storage, accumulator) && m.bound.known);
    cr_assert(m.bound.value == mpfr_get_d(bound, MPFR_RNDU), "bound %a", m.bound.value);
    if (t->kind == THEOREM_ANY_ORDER) { /* all its bits */
        mpfr_get_q(unit, bound);
        cr_assert(m.broken == (mpq_cmp(error, unit) > 0), "broken: %d", m.broken);
        if (mpq_sgn(error) || mpq_sgn(unit)) {
            if (mpq_sgn(unit))
                expect_figure(m.err_over_bound, error, unit, "err_over_bound");
            else
                cr_assert(m.err_over_bound.known && m.err_over_bound.value == INFINITY);
        } else {
            cr_assert(!m.err_over_bound.known, "0/0");
        }
    }
    cr_assert(m.outcome == OUTCOME_OK, "outcome %d", m.outcome);
    mpfr_clear(bound);
    mpq_clears(sum, size, error, unit, one, NULL);
}

Test(measure, figures_in_every_format_pair)
{
    uint64_t seed = 71;
    for (enum format storage = 0; storage < ACCUMULATORS; storage++)
        for (enum format accumulator = 0; accumulator < ACCUMULATORS; accumulator++)
            for (int round = 0; round < 100; round++) {
                size_t n = (size_t)round % 12;
                struct array a = {storage, n, malloc(n ? array_bytes(storage, n) : 1)};
                sample_fill(&a, round % SAMPLE_BITS, accumulator, sample_next(&seed));
                struct reference r;
                reference_compute(&r, &a, REFERENCE_FAST, NULL);
                double result = oracle_round(accumulator, r.sum);
                for (uint64_t k = sample_next(&seed) % 5; k > 0; k--)
                    result = format_next_up(accumulator, result);
                if (round % 10 == 9) /* anything */
                    result = format_decode(accumulator, sample_next(&seed));
                struct theorem t = {.kind = round % 2 ? THEOREM_TREE : THEOREM_ANY_ORDER,
                                    .height = n};
                if (isfinite(result))
                    expect_measure(&r, storage, accumulator, result, &t);
                reference_free(&r);
                free(a.data);
            }
}

/* Quotients that are subnormal doubles, where rounding to 53 bits first would round twice. */
Test(measure, tiny_figures_are_rounded_once)
{
    uint64_t seed = 72;
    struct theorem t = {.kind = THEOREM_ANY_ORDER};
    for (int round = 0; round < 2000; round++) {
        double tiny = (double)(1 + sample_next(&seed) % 8) * 0x1p-1074;
        double large = ldexp(1 + (double)(sample_next(&seed) >> 12) * 0x1p-52, round % 10);
        double x[] = {large, tiny};
        struct reference r = reference_of(FP64, 2, x);
        expect_measure(&r, FP64, FP64, large, &t);
        reference_free(&r);
    }
}

/* Midpoints of doubles and sums next to a power of two, decided by a bit far below. */
Test(measure, far_bits_decide)
{
    static const double cases[][3] = {{1, 0x1p-53, 0x1p-1000}, {1, 0x1p-53, -0x1p-1000},
                                      {1, 0x1p-53, 0},         {2, -0x1p-60, 0},
                                      {2, -0x1p-1074, 0},      {0x1p-126, -0x1p-1000, 0}};
    struct theorem t = {.kind = THEOREM_ANY_ORDER};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double x[3];
                for (int i = 0; i < 3; i++)
                    x[i] = sign * cases[c][i];
                struct reference r = reference_of(FP64, 3, x);
                expect_measure(&r, FP64, f, 0, &t);
                expect_measure(&r, FP64, f, x[0], &t);
                reference_free(&r);
            }
}

static struct measure measured(size_t n, const double *x, enum format f, double result)
{
    struct theorem t = {.kind = THEOREM_ANY_ORDER};
    struct reference r = reference_of(FP64, n, x);
    struct measure m;
    measure(&m, &r, f, f, result, &t);
    reference_free(&r);
    return m;
}

/* n = 4, |x| summing to 4 (+ 2^-1074): the bound is 12u = 3 2^-51 (+ 3u 2^-1074). The doubles of
 * error and bound are the same in the first three. */
Test(measure, a_bound_is_broken_one_bit_above_it)
{
    const double exactly[] = {1, 1, 2, 0}, more[] = {1, 1, 2, 0x1p-1074},
                 less[] = {1, 1, 2, -0x1p-1074};
    const double result = 4 - 0x1.8p-50;
    struct measure m = measured(4, exactly, FP64, result);
    cr_expect(!m.broken && m.err_abs.value == 0x1.8p-50 && m.bound.value == 0x1.8p-50);
    cr_expect(m.err_over_bound.known && m.err_over_bound.value == 1);
    m = measured(4, less, FP64, result);
    cr_expect(!m.broken && m.err_over_bound.value == 1, "2^-1074 below");
    m = measured(4, more, FP64, result);
    cr_expect(m.broken && m.err_over_bound.value == 1, "2^-1074 above");
    cr_expect(m.err_abs.value == 0x1.8p-50);
    m = measured(4, exactly, FP64, 4 - 0x1p-49);
    cr_expect(m.broken && m.err_over_bound.value > 1);
    m = measured(4, exactly, FP64, format_next_up(FP64, result));
    cr_expect(!m.broken && m.err_over_bound.value < 1);
    m = measured(1, exactly, FP64, 1 + 0x1p-52); /* a bound of 0 */
    cr_expect(m.broken && m.err_over_bound.known && m.err_over_bound.value == INFINITY);
    m = measured(1, exactly, FP64, 1);
    cr_expect(!m.broken && m.bound.known && m.bound.value == 0 && !m.err_over_bound.known);
}

Test(measure, sums_of_zero)
{
    const double x[] = {1, -1}, zeros[] = {0, -0.0};
    struct measure m = measured(2, x, FP32, 0x1p-149);
    cr_expect(m.outcome == OUTCOME_OK && !m.err_rel.known && m.err_abs.value == 0x1p-149);
    cr_expect(m.err_ulp.known && m.err_ulp.value == 1, "in smallest subnormals");
    cr_expect(m.err_backward.known && m.err_backward.value == 0x1p-150);
    m = measured(2, zeros, FP32, 0);
    cr_expect(!m.err_rel.known && !m.err_backward.known && m.err_ulp.value == 0);
    m = measured(0, NULL, FP32, 0);
    cr_expect(m.err_abs.known && m.err_abs.value == 0 && m.bound.value == 0 && !m.broken);
}

/* The threshold of overflow is half an ulp beyond the largest number; the tie goes to inf. */
Test(measure, overflow_is_told_from_a_sum_beyond_the_range)
{
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        const struct format_facts *facts = &format_facts[f];
        double half = format_ulp(f, facts->largest) / 2;
        const double at[] = {facts->largest, half, 0}, under[] = {facts->largest, half, -0x1p-1074};
        for (int sign = -1; sign <= 1; sign += 2) {
            double a[3], u[3];
            for (int i = 0; i < 3; i++) {
                a[i] = sign * at[i];
                u[i] = sign * under[i];
            }
            struct measure m = measured(3, a, f, sign * INFINITY);
            cr_expect(m.outcome == OUTCOME_OK, "%s: at the threshold", facts->name);
            m = measured(3, a, f, -sign * INFINITY);
            cr_expect(m.outcome == OUTCOME_OVERFLOW, "%s: the other infinity", facts->name);
            m = measured(3, u, f, sign * INFINITY);
            cr_expect(m.outcome == OUTCOME_OVERFLOW, "%s: under it", facts->name);
            cr_expect(m.err_abs.value == INFINITY && m.err_rel.value == INFINITY);
            cr_expect(m.err_ulp.value == INFINITY && m.err_backward.value == INFINITY);
            cr_expect(!m.bound.known && !m.err_over_bound.known && !m.broken, "%s", facts->name);
            m = measured(3, u, f, NAN);
            cr_expect(m.outcome == OUTCOME_OVERFLOW, "%s: NaN", facts->name);
            m = measured(3, a, f, NAN);
            cr_expect(m.outcome == OUTCOME_NAN && isnan(m.err_abs.value), "%s", facts->name);
            cr_expect(isnan(m.err_rel.value) && isnan(m.err_ulp.value), "%s", facts->name);
        }
    }
}

/* n = 2: no order overflows where A + uA is at most the largest number, L. uA is about an ulp of L:
 * so with A = L - 2 ulps, and not with A = L - half an ulp. */
Test(measure, no_number_where_no_order_overflows)
{
    static const double results[] = {INFINITY, -INFINITY, NAN};
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        const struct format_facts *facts = &format_facts[f];
        double ulp = format_ulp(f, facts->largest), top = facts->largest - 2 * ulp;
        const double in_range[] = {top / 2, -top / 2}, not_in_range[] = {top, -ulp * 3 / 2};
        for (size_t k = 0; k < 3; k++) {
            struct measure m = measured(2, in_range, f, results[k]);
            cr_expect(m.outcome == OUTCOME_OVERFLOW && m.broken, "%s, %g", facts->name, results[k]);
            cr_expect(m.bound.known && m.bound.value == facts->unit_roundoff * top, "%a",
                      m.bound.value);
            cr_expect(m.err_over_bound.known && m.err_over_bound.value == INFINITY);
            cr_expect(same_double(m.err_abs.value, fabs(results[k])) && !m.err_rel.known);
            m = measured(2, not_in_range, f, results[k]);
            cr_expect(m.outcome == OUTCOME_OVERFLOW && !m.broken, "%s", facts->name);
            cr_expect(!m.bound.known && !m.err_over_bound.known, "%s", facts->name);
            m = measured(0, NULL, f, results[k]);
            cr_expect(m.broken && m.bound.value == 0 && m.err_over_bound.value == INFINITY);
        }
    }
}

/* Where the output has the smaller range, it counts; its rounding is in the bound, too: u of it. */
Test(measure, no_number_of_an_output)
{
    const double x[] = {40000, 25000}, more[] = {40000, 26000};
    struct theorem t = {.kind = THEOREM_ANY_ORDER};
    struct measure m;
    struct reference r = reference_of(FP32, 2, x);
    measure_output(&m, &r, FP32, FP32, FP16, INFINITY, &t);
    cr_expect(m.broken && m.outcome == OUTCOME_OVERFLOW);
    cr_expect(m.bound.value == 65000 * 0x1p-24 + 64992 * 0x1p-11, "%a", m.bound.value);
    reference_free(&r);
    r = reference_of(FP32, 2, more);
    measure_output(&m, &r, FP32, FP32, FP16, NAN, &t);
    cr_expect(!m.broken && !m.bound.known && m.outcome == OUTCOME_NAN);
    measure_output(&m, &r, FP32, FP32, FP32, NAN, &t);
    cr_expect(m.broken && m.bound.value == 66000 * 0x1p-24 && m.outcome == OUTCOME_OVERFLOW);
    measure_output(&m, &r, FP32, FP16, FP32, NAN, &t);
    cr_expect(!m.broken && !m.bound.known && m.outcome == OUTCOME_OVERFLOW, "added in fp16");
    reference_free(&r);
}

Test(measure, sums_that_are_not_finite)
{
    const double plus[] = {1, INFINITY}, nan[] = {1, NAN};
    static const struct {
        bool of_nan;
        double result;
        enum outcome outcome;
        bool known;
        double err_abs;
    } cases[] = {
        {false, INFINITY, OUTCOME_OK, false, 0},
        {false, -INFINITY, OUTCOME_OVERFLOW, true, INFINITY},
        {false, 1, OUTCOME_OK, true, INFINITY},
        {false, NAN, OUTCOME_NAN, true, NAN},
        {true, NAN, OUTCOME_NAN, false, 0},
        {true, 1, OUTCOME_OK, true, INFINITY},
        {true, INFINITY, OUTCOME_OK, true, INFINITY},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct measure m = measured(2, cases[c].of_nan ? nan : plus, FP64, cases[c].result);
        cr_expect(m.outcome == cases[c].outcome, "case %zu: outcome %d", c, m.outcome);
        cr_expect(m.err_abs.known == cases[c].known, "case %zu", c);
        cr_expect(!m.err_abs.known || same_double(m.err_abs.value, cases[c].err_abs), "case %zu",
                  c);
        cr_expect(!m.err_rel.known && !m.err_ulp.known && !m.err_backward.known, "case %zu", c);
        cr_expect(!m.bound.known && !m.err_over_bound.known && !m.broken, "case %zu", c);
    }
}

/* Is every value of `narrow` one of f? By name, not by arithmetic. */
static bool holds(enum format f, enum format narrow)
{
    return f == narrow || f == FP64 || (f == FP32 && narrow <= BF16);
}

/* What is by the output's format is as if it were the accumulator; the bound is the accumulator's
 * and, where it is rounded once more, u |result| or eta/2. The 8 digits of bf16 round in fp16 only
 * below 2^-17, to its subnormal numbers. */
static void expect_output(const struct reference *r, enum format storage, enum format accumulator,
                          enum format output, double result, const struct theorem *t)
{
    struct measure m, same;
    measure(&same, r, storage, output, result, t);
    measure_output(&m, r, storage, accumulator, output, result, t);
    cr_assert(m.outcome == same.outcome && same_double(m.err_abs.value, same.err_abs.value) &&
              same_double(m.err_rel.value, same.err_rel.value) &&
              same_double(m.err_ulp.value, same.err_ulp.value) &&
              same_double(m.err_backward.value, same.err_backward.value));
    if (!isfinite(result))
        return;
    mpq_t sum, half, due;
    mpfr_t bound;
    mpq_inits(sum, half, due, NULL);
    mpfr_init2(bound, 6000);
    theorem_bound(bound, t, r, storage, accumulator);
    mpfr_get_q(due, bound);
    bool more = accumulator == BF16 && output == FP16;
    if (more && fabs(result) <= 0x1p-17) {
        mpq_set_d(half, 0x1p-25);
        mpq_add(due, due, half);
    } else if (!more && !holds(output, accumulator)) {
        double least = format_facts[output].smallest / format_facts[output].unit_roundoff / 2;
        mpq_set_d(half, fmax(fabs(result), least));
        mpq_set_d(sum, format_facts[output].unit_roundoff);
        mpq_mul(half, half, sum);
        mpq_add(due, due, half);
    }
    mpfr_set_q(bound, due, MPFR_RNDU);
    cr_assert(m.bound.known && m.bound.value == mpfr_get_d(bound, MPFR_RNDU), "%d to %d: %a",
              accumulator, output, m.bound.value);
    mpfr_get_q(sum, r->sum);
    mpq_set_d(half, result);
    mpq_sub(sum, sum, half);
    mpq_abs(sum, sum);
    cr_assert(m.broken == (mpq_cmp(sum, due) > 0), "%d to %d: broken", accumulator, output);
    if (mpq_sgn(due) != 0)
        expect_figure(m.err_over_bound, sum, due, "err_over_bound");
    mpfr_clear(bound);
    mpq_clears(sum, half, due, NULL);
}

Test(measure, outputs_of_every_format)
{
    uint64_t seed = 73;
    for (int round = 0; round < 64 * 40; round++) {
        enum format storage = round % 4, accumulator = round / 4 % 4, output = round / 16 % 4;
        size_t n = sample_next(&seed) % 9;
        struct array a = {storage, n, malloc(array_bytes(storage, n) + 1)};
        sample_fill(&a, round / 64 % SAMPLE_BITS, accumulator, sample_next(&seed));
        struct reference r;
        reference_compute(&r, &a, REFERENCE_FAST, NULL);
        double result = oracle_round(output, r.sum);
        for (uint64_t k = sample_next(&seed) % 4; k > 0; k--)
            result = format_next_up(output, result);
        struct theorem t = {.kind = THEOREM_ANY_ORDER};
        expect_output(&r, storage, accumulator, output, result, &t);
        reference_free(&r);
        free(a.data);
    }
}

/* The least number that bf16 and fp16 have the same digits of: below it results are rounded to it.
 */
Test(measure, the_last_output_that_is_rounded)
{
    const double least = 0x1p-17, below = format_next_down(BF16, least);
    for (int sign = -1; sign <= 1; sign += 2) {
        double x = sign * below;
        struct reference r = reference_of(BF16, 1, &x);
        struct theorem t = {.kind = THEOREM_ANY_ORDER};
        expect_output(&r, BF16, BF16, FP16, sign * least, &t);
        expect_output(&r, BF16, BF16, FP16, sign * format_next_up(FP16, least), &t);
        reference_free(&r);
    }
}
