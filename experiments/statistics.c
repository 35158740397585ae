/* The statistics of a tally: exact under every root and before every quotient. */
#include <math.h>
#include <stdlib.h>

#include "experiments/clock.h"
#include "experiments/tally.h"

/* Doubles lie between 2^-1074 and 2^1024, so their squares, times two counts below 2^64 and summed,
 * span less than 2148 + 2048 + 192 bits. */
enum { EXACT_PRECISION = 4480, QUOTIENT_PRECISION = 256 };

static struct figure known(double value)
{
    return (struct figure){true, value};
}

static const struct figure unknown = {0};

/* Sums over the runs of v and v^2, v being the results or their magnitudes. */
struct moments {
    mpfr_t sum, squares;
    uint64_t runs;
};

static void moments_of(struct moments *m, const struct tally *t, bool magnitudes)
{
    mpfr_t term;
    mpfr_init2(m->sum, EXACT_PRECISION);
    mpfr_init2(m->squares, EXACT_PRECISION);
    mpfr_init2(term, 192);
    mpfr_set_zero(m->sum, 1);
    mpfr_set_zero(m->squares, 1);
    m->runs = t->runs;
    for (size_t i = 0; i < t->count; i++) {
        double value = magnitudes ? fabs(t->item[i].value) : t->item[i].value;
        mpfr_set_d(term, value, MPFR_RNDN);
        mpfr_mul_ui(term, term, t->item[i].count, MPFR_RNDN);
        mpfr_add(m->sum, m->sum, term, MPFR_RNDN);
        mpfr_mul_d(term, term, value, MPFR_RNDN);
        mpfr_add(m->squares, m->squares, term, MPFR_RNDN);
    }
    mpfr_clear(term);
}

static void moments_free(struct moments *m)
{
    mpfr_clears(m->sum, m->squares, (mpfr_ptr)0);
}

static double mean(const struct moments *m)
{
    mpfr_t quotient;
    mpfr_init2(quotient, QUOTIENT_PRECISION);
    mpfr_div_ui(quotient, m->sum, m->runs, MPFR_RNDN);
    double rounded = mpfr_get_d(quotient, MPFR_RNDN);
    mpfr_clear(quotient);
    return rounded;
}

/* sqrt((runs sum v^2 - (sum v)^2) / (runs (runs - 1))) over `unit`. */
static double deviation(const struct moments *m, double unit)
{
    mpfr_t exact, square, quotient;
    mpfr_init2(exact, EXACT_PRECISION);
    mpfr_init2(square, EXACT_PRECISION);
    mpfr_init2(quotient, QUOTIENT_PRECISION);
    mpfr_mul_ui(exact, m->squares, m->runs, MPFR_RNDN);
    mpfr_sqr(square, m->sum, MPFR_RNDN);
    mpfr_sub(exact, exact, square, MPFR_RNDN);
    mpfr_div_ui(quotient, exact, m->runs, MPFR_RNDN);
    mpfr_div_ui(quotient, quotient, m->runs - 1, MPFR_RNDN);
    mpfr_sqrt(quotient, quotient, MPFR_RNDN);
    mpfr_div_d(quotient, quotient, unit, MPFR_RNDN);
    double rounded = mpfr_get_d(quotient, MPFR_RNDN);
    mpfr_clears(exact, square, quotient, (mpfr_ptr)0);
    return rounded;
}

/* |a - b| / unit, rounded once. */
static double distance(double a, double b, double unit)
{
    mpfr_t exact, quotient;
    mpfr_init2(exact, EXACT_PRECISION);
    mpfr_init2(quotient, QUOTIENT_PRECISION);
    mpfr_set_d(exact, a, MPFR_RNDN);
    mpfr_sub_d(exact, exact, b, MPFR_RNDN);
    mpfr_abs(exact, exact, MPFR_RNDN);
    mpfr_div_d(quotient, exact, unit, MPFR_RNDN);
    double rounded = mpfr_get_d(quotient, MPFR_RNDN);
    mpfr_clears(exact, quotient, (mpfr_ptr)0);
    return rounded;
}

/* -0 is below +0, as a total order has it. */
static bool below(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

static void extremes(struct summary *s, const struct tally *t)
{
    double least = t->item[0].value, most = least;
    bool nan = false;
    for (size_t i = 0; i < t->count; i++) {
        double value = t->item[i].value;
        nan |= isnan(value);
        least = below(value, least) ? value : least;
        most = below(most, value) ? value : most;
    }
    s->min = known(nan ? NAN : least);
    s->max = known(nan ? NAN : most);
}

static void shares(struct summary *s, const struct tally *t)
{
    uint64_t most = 0;
    mpfr_t unseen;
    for (size_t i = 0; i < t->count; i++)
        most = t->item[i].count > most ? t->item[i].count : most;
    s->mode_share = known((double)most / (double)t->runs);
    /* 1 - 0.05^(1/runs) = -(exp(-log(20) / runs) - 1) */
    mpfr_init2(unseen, QUOTIENT_PRECISION);
    mpfr_log_ui(unseen, 20, MPFR_RNDN);
    mpfr_div_ui(unseen, unseen, t->runs, MPFR_RNDN);
    mpfr_neg(unseen, unseen, MPFR_RNDN);
    mpfr_expm1(unseen, unseen, MPFR_RNDN);
    s->unseen_p95 = known(-mpfr_get_d(unseen, MPFR_RNDN));
    mpfr_clear(unseen);
}

static void against_fixed(struct summary *s, const struct tally *t, double fixed)
{
    double largest = 0;
    bool nan = false;
    for (size_t i = 0; i < t->count; i++) {
        double vs = distance(fabs(t->item[i].value), fabs(fixed), fabs(fixed));
        nan |= isnan(vs);
        largest = vs > largest ? vs : largest;
    }
    s->vs_max = known(nan ? NAN : largest);
    if (t->runs < 2)
        return;
    struct moments magnitudes;
    moments_of(&magnitudes, t, true);
    s->vs_stddev = known(deviation(&magnitudes, fabs(fixed)));
    moments_free(&magnitudes);
}

/* Ascending err_ulp, NaN last. */
static int by_error(const void *a, const void *b)
{
    double x = (*(const struct distinct *const *)a)->err_ulp.value;
    double y = (*(const struct distinct *const *)b)->err_ulp.value;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* err_ulp of the run of this rank. */
static double ranked(struct distinct *const *ascending, uint64_t rank)
{
    while (rank >= (*ascending)->count)
        rank -= (*ascending++)->count;
    return (*ascending)->err_ulp.value;
}

static double middle(double a, double b)
{
    double sum = a + b;
    return a == b ? a : isinf(sum) && isfinite(a) && isfinite(b) ? a / 2 + b / 2 : sum / 2;
}

/* The larger; NaN is larger than all. */
static struct figure worse(struct figure a, struct figure b)
{
    if (!a.known || !b.known)
        return a.known ? a : b;
    return isnan(a.value) || a.value >= b.value ? a : b;
}

static void errors(struct summary *s, const struct tally *t)
{
    struct distinct **ascending = calloc(t->count, sizeof *ascending);
    bool all = ascending != NULL;
    for (size_t i = 0; i < t->count; i++) {
        all = all && t->item[i].err_ulp.known;
        if (ascending)
            ascending[i] = &t->item[i];
        s->err_over_bound_max = worse(s->err_over_bound_max, t->item[i].err_over_bound);
    }
    if (all) {
        qsort(ascending, t->count, sizeof *ascending, by_error);
        s->err_ulp_median =
            known(middle(ranked(ascending, (t->runs - 1) / 2), ranked(ascending, t->runs / 2)));
        s->err_ulp_max = ascending[t->count - 1]->err_ulp;
    }
    free(ascending);
}

void tally_summary(struct summary *s, struct tally *t, struct figure ulp, struct figure fixed)
{
    *s = (struct summary){.runs = t->runs, .distinct = t->count};
    if (t->times > 0)
        s->time_ns_median = known(clock_median(t->time_ns, t->times));
    if (t->runs == 0)
        return;
    struct moments moments;
    moments_of(&moments, t, false);
    s->mean = known(t->count == 1 ? t->item[0].value : mean(&moments)); /* -0 stays -0 */
    s->stddev = t->runs > 1 ? known(deviation(&moments, 1)) : unknown;
    moments_free(&moments);
    extremes(s, t);
    shares(s, t);
    s->spread_ulp = ulp.known ? known(distance(s->max.value, s->min.value, ulp.value)) : unknown;
    if (fixed.known && fixed.value != 0 && isfinite(fixed.value))
        against_fixed(s, t, fixed.value);
    errors(s, t);
}

struct figure tally_err_rel_max(const struct tally *t)
{
    struct figure worst = unknown;
    for (size_t i = 0; i < t->count; i++)
        worst = worse(worst, t->item[i].err_rel);
    return worst;
}

struct figure tally_err_backward_max(const struct tally *t)
{
    struct figure worst = unknown;
    for (size_t i = 0; i < t->count; i++)
        worst = worse(worst, t->item[i].err_backward);
    return worst;
}

struct figure tally_ulp(const mpfr_t exact, enum format accumulator)
{
    /* Towards zero, so that the sum stays in its binade. */
    return mpfr_number_p(exact) ? known(format_ulp(accumulator, mpfr_get_d(exact, MPFR_RNDZ)))
                                : unknown;
}
