/* The statistics of runs, held to rational arithmetic. */
#include <criterion/criterion.h>
#include <gmp.h>
#include <math.h>

#include "experiments/inputs/philox.h"
#include "experiments/runs/tally.h"

enum { SETS = 120, RUNS_MOST = 300, PRECISION = 4000 };

static const struct figure unknown = {0};

static struct figure known(double value)
{
    return (struct figure){true, value};
}

/* Runs drawn from a few values of a format, far apart or close together. */
struct sample {
    enum format format;
    size_t runs;
    double value[RUNS_MOST], err_ulp[RUNS_MOST], time_ns[RUNS_MOST];
};

static void draw(struct sample *s, uint64_t seed)
{
    struct draw d = random_draw(seed, RANDOM_VALUES, 0);
    s->format = (enum format)(seed % ACCUMULATORS);
    s->runs = 1 + (size_t)random_below(d.word[0], seed % 3 ? 20 : RUNS_MOST);
    size_t values = 1 + (size_t)random_below(d.word[1], 12);
    for (size_t i = 0; i < s->runs; i++) {
        struct draw run = random_draw(seed, RANDOM_VALUES, 1 + i);
        size_t which = (size_t)random_below(run.word[0], values);
        struct draw value = random_draw(seed, RANDOM_MIXING, which);
        int spread = seed % 5 == 0 ? format_facts[s->format].emax - 2 : 3;
        int exponent = (int)random_below(value.word[1], 2 * (uint64_t)spread) - spread;
        double x = ldexp(1 + random_unit(value.word[0]), exponent);
        s->value[i] = format_round(s->format, value.word[1] >> 63 ? -x : x);
        s->err_ulp[i] = fabs(s->value[i]) / 3;
        s->time_ns[i] = (double)random_below(run.word[1], 1000000);
    }
}

/* A run of a sum. */
static struct distinct *add_value(struct tally *t, enum format f, double value)
{
    struct distinct *d = tally_add(t, (struct hash128){{format_encode(f, value), 0}});
    if (d)
        d->value = known(value);
    return d;
}

static void fill(struct tally *t, const struct sample *s)
{
    for (size_t i = 0; i < s->runs; i++) {
        struct distinct *d = add_value(t, s->format, s->value[i]);
        cr_assert(d && tally_time(t, (uint64_t)s->time_ns[i]));
        d->err_ulp = known(s->err_ulp[i]);
        d->err_rel = known(s->err_ulp[i] / 2);
        d->err_backward = known(s->err_ulp[i] / 4);
        d->err_over_bound = known(s->err_ulp[i] / 8);
    }
}

static double nearest(const mpq_t exact)
{
    mpfr_t rounded;
    mpfr_init2(rounded, 53);
    mpfr_set_q(rounded, exact, MPFR_RNDN);
    double x = mpfr_get_d(rounded, MPFR_RNDN);
    mpfr_clear(rounded);
    return x;
}

static void mean_of(mpq_t mean, const struct sample *s, bool magnitudes)
{
    mpq_t term;
    mpq_init(term);
    mpq_set_ui(mean, 0, 1);
    for (size_t i = 0; i < s->runs; i++) {
        mpq_set_d(term, magnitudes ? fabs(s->value[i]) : s->value[i]);
        mpq_add(mean, mean, term);
    }
    mpq_set_ui(term, s->runs, 1);
    mpq_div(mean, mean, term);
    mpq_clear(term);
}

static void variance_of(mpq_t variance, const struct sample *s, bool magnitudes)
{
    mpq_t mean, term;
    mpq_inits(mean, term, (mpq_ptr)0);
    mean_of(mean, s, magnitudes);
    mpq_set_ui(variance, 0, 1);
    for (size_t i = 0; i < s->runs; i++) {
        mpq_set_d(term, magnitudes ? fabs(s->value[i]) : s->value[i]);
        mpq_sub(term, term, mean);
        mpq_mul(term, term, term);
        mpq_add(variance, variance, term);
    }
    mpq_set_ui(term, s->runs - 1, 1);
    mpq_div(variance, variance, term);
    mpq_clears(mean, term, (mpq_ptr)0);
}

/* Is x the double nearest to sqrt(exact)? The squares of the midpoints to its neighbours enclose
 * exact. */
static bool nearest_root(double x, const mpq_t exact)
{
    mpq_t edge, half;
    mpq_inits(edge, half, (mpq_ptr)0);
    bool good = true;
    for (int side = -1; side <= 1; side += 2) {
        double at = isinf(x) ? 0x1.fffffffffffffp+1023 : x;
        double beside = nextafter(at, side * INFINITY);
        mpq_set_d(edge, at);
        mpq_set_d(half, isinf(beside) ? at : beside);
        mpq_add(edge, edge, half);
        mpq_div_2exp(edge, edge, 1);
        int order = mpq_sgn(edge) < 0 ? -1 : 0;
        mpq_mul(edge, edge, edge);
        order = order ? order : mpq_cmp(edge, exact);
        good = good && (side < 0 ? order <= 0 : order >= 0 || isinf(x));
    }
    mpq_clears(edge, half, (mpq_ptr)0);
    return good;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *value, size_t count)
{
    double sorted[RUNS_MOST];
    memcpy(sorted, value, count * sizeof *value);
    qsort(sorted, count, sizeof *sorted, ascending);
    double low = sorted[(count - 1) / 2], high = sorted[count / 2];
    return low == high ? low : (low + high) / 2;
}

static size_t count_of(const struct sample *s, double value)
{
    size_t count = 0;
    for (size_t i = 0; i < s->runs; i++)
        count += double_bits(s->value[i]) == double_bits(value);
    return count;
}

static void check_counts(const struct summary *m, const struct sample *s, uint64_t seed)
{
    size_t distinct = 0, mode = 0;
    double least = INFINITY, most = -INFINITY, worst = 0;
    for (size_t i = 0; i < s->runs; i++) {
        size_t before = 0;
        for (size_t k = 0; k < i; k++)
            before += double_bits(s->value[k]) == double_bits(s->value[i]);
        distinct += before == 0;
        mode = count_of(s, s->value[i]) > mode ? count_of(s, s->value[i]) : mode;
        least = fmin(least, s->value[i]);
        most = fmax(most, s->value[i]);
        worst = fmax(worst, s->err_ulp[i]);
    }
    cr_expect(m->runs == s->runs && m->distinct == distinct, "seed %ju: distinct %ju, expected %zu",
              (uintmax_t)seed, (uintmax_t)m->distinct, distinct);
    cr_expect(m->mode_share.value == (double)mode / (double)s->runs, "seed %ju", (uintmax_t)seed);
    cr_expect(m->min.value == least && m->max.value == most, "seed %ju: extremes", (uintmax_t)seed);
    cr_expect(m->err_ulp_max.value == worst && m->err_over_bound_max.value == worst / 8,
              "seed %ju: err_ulp_max %g, expected %g", (uintmax_t)seed, m->err_ulp_max.value,
              worst);
    cr_expect(m->err_ulp_median.value == median(s->err_ulp, s->runs), "seed %ju: err_ulp_median",
              (uintmax_t)seed);
    cr_expect(m->time_ns_median.value == median(s->time_ns, s->runs), "seed %ju: time_ns_median",
              (uintmax_t)seed);
}

static void hold_moments(const struct summary *m, const struct sample *s, double fixed,
                         uint64_t seed)
{
    mpq_t exact, unit;
    mpq_inits(exact, unit, (mpq_ptr)0);
    mean_of(exact, s, false);
    cr_expect(m->mean.value == nearest(exact), "seed %ju: mean %a, expected %a", (uintmax_t)seed,
              m->mean.value, nearest(exact));
    cr_expect(m->stddev.known == (s->runs > 1) && m->vs_stddev.known == (s->runs > 1),
              "seed %ju: a deviation of %zu runs", (uintmax_t)seed, s->runs);
    if (s->runs > 1) {
        variance_of(exact, s, false);
        cr_expect(nearest_root(m->stddev.value, exact), "seed %ju: stddev %a", (uintmax_t)seed,
                  m->stddev.value);
        variance_of(exact, s, true);
        mpq_set_d(unit, fixed);
        mpq_div(exact, exact, unit);
        mpq_div(exact, exact, unit);
        cr_expect(nearest_root(m->vs_stddev.value, exact), "seed %ju: vs_stddev %a",
                  (uintmax_t)seed, m->vs_stddev.value);
    }
    mpq_clears(exact, unit, (mpq_ptr)0);
}

static void hold_distances(const struct summary *m, const struct sample *s, double fixed,
                           double ulp, uint64_t seed)
{
    mpq_t largest, vs, unit;
    mpq_inits(largest, vs, unit, (mpq_ptr)0);
    mpq_set_d(unit, fabs(fixed));
    for (size_t i = 0; i < s->runs; i++) {
        mpq_set_d(vs, fabs(s->value[i]));
        mpq_sub(vs, unit, vs);
        mpq_abs(vs, vs);
        if (mpq_cmp(vs, largest) > 0)
            mpq_set(largest, vs);
    }
    mpq_div(largest, largest, unit);
    cr_expect(m->vs_max.value == nearest(largest), "seed %ju: vs_max %a, expected %a",
              (uintmax_t)seed, m->vs_max.value, nearest(largest));
    mpq_set_d(largest, m->max.value);
    mpq_set_d(vs, m->min.value);
    mpq_sub(largest, largest, vs);
    mpq_set_d(unit, ulp);
    mpq_div(largest, largest, unit);
    cr_expect(m->spread_ulp.value == nearest(largest), "seed %ju: spread_ulp %a, expected %a",
              (uintmax_t)seed, m->spread_ulp.value, nearest(largest));
    mpq_clears(largest, vs, unit, (mpq_ptr)0);
}

Test(tally, statistics_are_those_of_rational_arithmetic)
{
    struct tally t = {0};
    for (uint64_t seed = 1; seed <= SETS; seed++) {
        struct sample s;
        struct summary m;
        draw(&s, seed);
        tally_clear(&t);
        fill(&t, &s);
        double fixed = seed % 2 ? s.value[0] : -1.1 * s.value[s.runs - 1], ulp = ldexp(1, -20);
        tally_summary(&m, &t, known(ulp), known(fixed));
        check_counts(&m, &s, seed);
        hold_moments(&m, &s, fixed, seed);
        hold_distances(&m, &s, fixed, ulp, seed);
        cr_expect(tally_err_rel_max(&t).value == m.err_ulp_max.value / 2 &&
                      tally_err_backward_max(&t).value == m.err_ulp_max.value / 4,
                  "seed %ju: largest errors", (uintmax_t)seed);
    }
    tally_free(&t);
}

/* 1 - p is the root: its power encloses 0.05 between the midpoints to p's neighbours. */
Test(tally, unseen_p95)
{
    const uint64_t runs[] = {1, 2, 3, 10, 100, 1000, 12345, 1000000};
    mpfr_t edge, limit;
    mpfr_inits2(PRECISION, edge, limit, (mpfr_ptr)0);
    mpfr_set_ui(limit, 1, MPFR_RNDN);
    mpfr_div_ui(limit, limit, 20, MPFR_RNDN);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct tally t = {0};
        struct summary m;
        struct distinct *d = add_value(&t, FP32, 1);
        cr_assert(d);
        d->count = t.runs = runs[i];
        tally_summary(&m, &t, unknown, unknown);
        for (int side = -1; side <= 1; side += 2) {
            mpfr_set_d(edge, m.unseen_p95.value, MPFR_RNDN);
            mpfr_add_d(edge, edge, nextafter(m.unseen_p95.value, side * INFINITY), MPFR_RNDN);
            mpfr_div_2ui(edge, edge, 1, MPFR_RNDN);
            mpfr_ui_sub(edge, 1, edge, MPFR_RNDN);
            mpfr_pow_ui(edge, edge, runs[i], MPFR_RNDN);
            int order = mpfr_cmp(edge, limit);
            cr_expect(side < 0 ? order >= 0 : order <= 0, "%ju runs: unseen_p95 %a",
                      (uintmax_t)runs[i], m.unseen_p95.value);
        }
        cr_expect(m.distinct == 1 && m.mode_share.value == 1 && !m.spread_ulp.known &&
                      !m.vs_max.known && !m.err_ulp_max.known && !m.err_over_bound_max.known &&
                      !m.time_ns_median.known,
                  "%ju runs: what is unknown", (uintmax_t)runs[i]);
        tally_free(&t);
    }
    mpfr_clears(edge, limit, (mpfr_ptr)0);
}

static struct summary of_values(const double *value, size_t count, double fixed)
{
    struct tally t = {0};
    struct summary m;
    for (size_t i = 0; i < count; i++) {
        struct distinct *d = add_value(&t, FP64, value[i]);
        cr_assert(d);
        d->err_ulp = known(isfinite(value[i]) ? fabs(value[i]) : isnan(value[i]) ? NAN : INFINITY);
        d->err_over_bound = isfinite(value[i]) ? known(0.5) : unknown;
    }
    tally_summary(&m, &t, known(1), known(fixed));
    tally_free(&t);
    return m;
}

Test(tally, results_that_are_no_number)
{
    struct summary m = of_values((const double[]){1, NAN, 2, -NAN}, 4, 1);
    cr_expect(m.distinct == 3, "every NaN is the same result: %ju", (uintmax_t)m.distinct);
    cr_expect(isnan(m.min.value) && isnan(m.max.value) && isnan(m.mean.value));
    cr_expect(isnan(m.stddev.value) && isnan(m.spread_ulp.value) && isnan(m.vs_max.value));
    cr_expect(isnan(m.err_ulp_max.value) && isnan(m.err_ulp_median.value), "NaN is the worst");
    cr_expect(m.err_over_bound_max.known && m.err_over_bound_max.value == 0.5);
    m = of_values((const double[]){1, INFINITY, 2}, 3, 1);
    cr_expect(m.min.value == 1 && m.max.value == INFINITY && m.mean.value == INFINITY);
    cr_expect(isnan(m.stddev.value) && m.spread_ulp.value == INFINITY);
    cr_expect(m.err_ulp_median.value == 2 && m.err_ulp_max.value == INFINITY);
    m = of_values((const double[]){INFINITY, -INFINITY}, 2, 1);
    cr_expect(m.min.value == -INFINITY && m.max.value == INFINITY && isnan(m.mean.value));
    m = of_values((const double[]){0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023}, 2, 1);
    cr_expect(m.mean.value == 0x1.fffffffffffffp+1023 && m.stddev.value == 0 &&
                  m.err_ulp_median.value == 0x1.fffffffffffffp+1023,
              "nothing overflows on the way");
    m = of_values((const double[]){0x1p+1000, 0x1.8p-1000, -0x1p+1000}, 3, 1);
    cr_expect(m.mean.value == 0x1p-1001, "nothing is lost on the way: %a", m.mean.value);
}

Test(tally, zeros_and_what_s_fixed_cannot_be)
{
    struct summary m = of_values((const double[]){0.0, -0.0, 0.0}, 3, 0);
    cr_expect(m.distinct == 2 && signbit(m.min.value) && !signbit(m.max.value),
              "-0 is another result than +0, and below it");
    cr_expect(m.stddev.known && m.stddev.value == 0 && m.spread_ulp.value == 0);
    cr_expect(!m.vs_max.known && !m.vs_stddev.known, "vs needs s_fixed to divide by");
    m = of_values((const double[]){-0.0, -0.0}, 2, INFINITY);
    cr_expect(signbit(m.mean.value) && !m.vs_max.known);
    m = of_values((const double[]){-3, 3}, 2, 3);
    cr_expect(m.vs_max.value == 0 && m.vs_stddev.value == 0, "vs is of magnitudes");
    m = of_values(NULL, 0, 1);
    cr_expect(m.runs == 0 && m.distinct == 0 && !m.mean.known && !m.unseen_p95.known);
}

/* Digests that differ in either word. */
Test(tally, many_distinct_results)
{
    enum { DISTINCT = 30000, ROUNDS = 3 };
    struct tally t = {0};
    for (int round = 0; round < ROUNDS; round++)
        for (uint64_t i = 0; i < DISTINCT; i++) {
            struct hash128 digest = {{i / 2 << 40 | i / 2, i % 2}};
            const struct distinct *d = tally_add(&t, digest);
            cr_assert(d && memcmp(&d->digest, &digest, sizeof digest) == 0 &&
                          d->count == (uint64_t)round + 1,
                      "round %d, %ju", round, (uintmax_t)i);
        }
    cr_expect(t.count == DISTINCT && t.runs == ROUNDS * DISTINCT);
    tally_clear(&t);
    cr_expect(t.count == 0 && t.runs == 0 && tally_add(&t, (struct hash128){{7, 0}})->count == 1);
    tally_free(&t);
}

Test(tally, ulp_of_the_exact_sum)
{
    const struct {
        const char *exact;
        enum format f;
        double ulp;
    } sample[] = {{"0", FP16, 0x1p-24},          {"0x1.fffffffffffffffp+0", FP32, 0x1p-23},
                  {"-0x1p+1", FP32, 0x1p-22},    {"0x1p-1074", FP64, 0x1p-1074},
                  {"0x1p-3000", BF16, 0x1p-133}, {"0x1p+3000", FP16, 0x1p+5},
                  {"65504", FP16, 0x1p+5}};
    mpfr_t exact;
    mpfr_init2(exact, 200);
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        mpfr_set_str(exact, sample[i].exact, 0, MPFR_RNDN);
        struct figure ulp = tally_ulp(exact, sample[i].f);
        cr_expect(ulp.known && ulp.value == sample[i].ulp, "%s in %s: %a", sample[i].exact,
                  format_facts[sample[i].f].name, ulp.value);
    }
    mpfr_set_inf(exact, -1);
    cr_expect(!tally_ulp(exact, FP64).known);
    mpfr_set_nan(exact);
    cr_expect(!tally_ulp(exact, FP64).known);
    mpfr_clear(exact);
}

/* The mean of the middle two is no overflow where both are large; where one run has no error there
 * is no median. */
Test(tally, medians_of_large_errors)
{
    struct summary m = of_values((const double[]){0x1.4p+1023, 0x1.8p+1023}, 2, 1);
    cr_expect(m.err_ulp_median.value == 0x1.6p+1023, "%a", m.err_ulp_median.value);
    struct tally t = {0};
    for (size_t i = 0; i < 2; i++) {
        struct distinct *d = add_value(&t, FP64, (double)i);
        cr_assert(d);
        d->err_ulp = i ? known(1) : unknown;
    }
    tally_summary(&m, &t, known(1), known(1));
    cr_expect(!m.err_ulp_median.known && !m.err_ulp_max.known);
    tally_free(&t);
}
