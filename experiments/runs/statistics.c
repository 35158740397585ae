/* The statistics of a tally: exact under every root and before every quotient. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "experiments/system/clock.h"
#include "experiments/runs/tally.h"

/* Doubles lie between 2^-1074 and 2^1024, so their squares, times two counts below 2^64 and summed,
 * span less than 2148 + 2048 + 192 bits. */
enum { EXACT_PRECISION = 4480, QUOTIENT_PRECISION = 256 };

static struct figure known(double value)
{
    return (struct figure){true, value};
}

static const struct figure unknown = {0};

static double result(const struct tally *t, size_t i)
{
    return t->item[i].value.value;
}

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
        double value = magnitudes ? fabs(result(t, i)) : result(t, i);
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
    double least = result(t, 0), most = least;
    bool nan = false;
    for (size_t i = 0; i < t->count; i++) {
        double value = result(t, i);
        nan |= isnan(value);
        least = below(value, least) ? value : least;
        most = below(most, value) ? value : most;
    }
    s->min = known(nan ? NAN : least);
    s->max = known(nan ? NAN : most);
}

/* 1 - 0.05^(1/runs) = -(exp(-log(20) / runs) - 1): of many cases the same, as they have as many
 * runs. */
static double unseen_of(uint64_t runs)
{
    static _Thread_local uint64_t of;
    static _Thread_local double last;
    mpfr_t unseen;
    if (runs == of)
        return last;
    mpfr_init2(unseen, QUOTIENT_PRECISION);
    mpfr_log_ui(unseen, 20, MPFR_RNDN);
    mpfr_div_ui(unseen, unseen, runs, MPFR_RNDN);
    mpfr_neg(unseen, unseen, MPFR_RNDN);
    mpfr_expm1(unseen, unseen, MPFR_RNDN);
    last = -mpfr_get_d(unseen, MPFR_RNDN);
    mpfr_clear(unseen);
    of = runs;
    return last;
}

static void shares(struct summary *s, const struct tally *t)
{
    uint64_t most = 0;
    for (size_t i = 0; i < t->count; i++)
        most = t->item[i].count > most ? t->item[i].count : most;
    s->mode_share = known((double)most / (double)t->runs);
    s->unseen_p95 = known(unseen_of(t->runs));
}

static void against_fixed(struct summary *s, const struct tally *t, double fixed)
{
    double largest = 0;
    bool nan = false;
    for (size_t i = 0; i < t->count; i++) {
        double vs = distance(fabs(result(t, i)), fabs(fixed), fabs(fixed));
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

/* The larger; NaN is larger than all. */
static struct figure worse(struct figure a, struct figure b)
{
    if (!a.known || !b.known)
        return a.known ? a : b;
    return isnan(a.value) || a.value >= b.value ? a : b;
}

/* A figure of each distinct result is named by its place in struct distinct. */
#define PLACE(member) offsetof(struct distinct, member)

static struct figure figure_at(const struct tally *t, size_t i, size_t place)
{
    struct figure f;
    memcpy(&f, (const char *)&t->item[i] + place, sizeof f);
    return f;
}

/* Over the runs that have it. */
static struct figure largest(const struct tally *t, size_t place)
{
    struct figure most = unknown;
    for (size_t i = 0; i < t->count; i++)
        most = worse(most, figure_at(t, i, place));
    return most;
}

static struct figure smallest(const struct tally *t, size_t place)
{
    struct figure least = unknown;
    for (size_t i = 0; i < t->count; i++) {
        struct figure f = figure_at(t, i, place);
        if (f.known && !(least.known && least.value <= f.value))
            least = f;
    }
    return least;
}

struct counted {
    double value;
    uint64_t count;
};

/* Ascending, NaN last. */
static int by_value(const void *a, const void *b)
{
    double x = ((const struct counted *)a)->value, y = ((const struct counted *)b)->value;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* The value of this rank. */
static double ranked(const struct counted *ascending, uint64_t rank)
{
    while (rank >= ascending->count)
        rank -= ascending++->count;
    return ascending->value;
}

static double middle(double a, double b)
{
    double sum = a + b;
    return a == b ? a : isinf(sum) && isfinite(a) && isfinite(b) ? a / 2 + b / 2 : sum / 2;
}

/* Over the runs that have it. */
static struct figure median(const struct tally *t, size_t place)
{
    struct counted *ascending = calloc(t->count, sizeof *ascending);
    struct figure f = unknown;
    uint64_t runs = 0;
    size_t count = 0;
    for (size_t i = 0; ascending && i < t->count; i++)
        if (figure_at(t, i, place).known) {
            runs += t->item[i].count;
            ascending[count++] = (struct counted){figure_at(t, i, place).value, t->item[i].count};
        }
    if (runs > 0) {
        qsort(ascending, count, sizeof *ascending, by_value);
        f = known(middle(ranked(ascending, (runs - 1) / 2), ranked(ascending, runs / 2)));
    }
    free(ascending);
    return f;
}

static void errors(struct summary *s, const struct tally *t)
{
    bool all = true;
    for (size_t i = 0; i < t->count; i++)
        all = all && t->item[i].err_ulp.known;
    s->err_over_bound_max = largest(t, PLACE(err_over_bound));
    if (!all)
        return;
    s->err_ulp_median = median(t, PLACE(err_ulp));
    s->err_ulp_max = largest(t, PLACE(err_ulp));
}

static struct figure index_of_worst(const struct tally *t)
{
    const struct distinct *worst = t->item;
    for (size_t i = 1; i < t->count; i++) {
        struct figure f = t->item[i].err_ulp, most = worst->err_ulp;
        if (f.known && (!most.known || f.value > most.value || isnan(f.value) > isnan(most.value)))
            worst = &t->item[i];
    }
    return worst->scan.worst_index;
}

static void scans(struct scan_summary *s, const struct tally *t)
{
    s->err_ulp_rms_max = largest(t, PLACE(scan.err_ulp_rms));
    s->worst_index = index_of_worst(t);
    s->decreases_max = largest(t, PLACE(scan.decreases));
    s->differing_median = median(t, PLACE(scan.differing));
    s->differing_max = largest(t, PLACE(scan.differing));
    s->mean_rel_diff_max = largest(t, PLACE(scan.mean_rel_diff));
    s->first_diff_min = smallest(t, PLACE(scan.first_diff));
    s->run_differing_median = median(t, PLACE(scan.run_differing));
    s->run_differing_max = largest(t, PLACE(scan.run_differing));
    s->run_mean_rel_diff_max = largest(t, PLACE(scan.run_mean_rel_diff));
    s->run_first_diff_min = smallest(t, PLACE(scan.run_first_diff));
    s->run_first_diff_median = median(t, PLACE(scan.run_first_diff));
}

/* What is said of the results themselves, which a scan of no elements has not. */
static void values(struct summary *s, const struct tally *t, struct figure ulp, struct figure fixed)
{
    struct moments moments;
    moments_of(&moments, t, false);
    s->mean = known(t->count == 1 ? result(t, 0) : mean(&moments)); /* -0 stays -0 */
    s->stddev = t->runs > 1 ? known(deviation(&moments, 1)) : unknown;
    moments_free(&moments);
    extremes(s, t);
    s->spread_ulp = ulp.known ? known(distance(s->max.value, s->min.value, ulp.value)) : unknown;
    if (fixed.known && fixed.value != 0 && isfinite(fixed.value))
        against_fixed(s, t, fixed.value);
}

void tally_summary(struct summary *s, struct tally *t, struct figure ulp, struct figure fixed)
{
    *s = (struct summary){.runs = t->runs, .distinct = t->count};
    if (t->times > 0)
        s->time_ns_median = known(clock_median(t->time_ns, t->times));
    if (t->runs == 0)
        return;
    if (t->item[0].value.known)
        values(s, t, ulp, fixed);
    shares(s, t);
    errors(s, t);
    scans(&s->scan, t);
}

struct figure tally_err_rel_max(const struct tally *t)
{
    return largest(t, PLACE(err_rel));
}

struct figure tally_err_backward_max(const struct tally *t)
{
    return largest(t, PLACE(err_backward));
}

struct figure tally_ulp(const mpfr_t exact, enum format f)
{
    /* Towards zero, so that the sum stays in its binade. */
    return mpfr_number_p(exact) ? known(format_ulp(f, mpfr_get_d(exact, MPFR_RNDZ))) : unknown;
}
