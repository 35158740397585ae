/* The statistics of scans, held to what the runs say one by one. */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/inputs/philox.h"
#include "experiments/runs/tally.h"

enum { SETS = 300, RUNS_MOST = 60, DISTINCT_MOST = 12, FACTS = 9 };

static const struct figure unknown = {0};

/* The facts of some distinct results, and which of them each run gave. */
struct sample {
    size_t distinct, runs, run[RUNS_MOST];
    struct figure err_ulp[DISTINCT_MOST];
    struct scan_facts facts[DISTINCT_MOST];
};

/* Small whole numbers, so that many are equal; some NaN, some not known. */
static struct figure draw_figure(uint64_t word, bool nan)
{
    struct figure f = {word % 5 != 0, (double)(word >> 8 & 7)};
    if (!f.known)
        f.value = 1e9; /* never to be seen */
    else if (nan && word % 7 == 0)
        f.value = NAN;
    return f;
}

static void draw(struct sample *s, uint64_t seed)
{
    struct draw d = random_draw(seed, RANDOM_VALUES, 0);
    s->distinct = 1 + (size_t)random_below(d.word[0], DISTINCT_MOST);
    s->runs = 1 + (size_t)random_below(d.word[1], RUNS_MOST);
    for (size_t i = 0; i < s->distinct; i++) {
        struct figure *fact = (struct figure *)&s->facts[i];
        for (size_t k = 0; k <= FACTS; k++) {
            struct draw f = random_draw(seed, RANDOM_MIXING, i * (FACTS + 1) + k);
            bool index = k == 1 || k == 4 || k == 8; /* of an output: never NaN */
            struct figure drawn = draw_figure(f.word[0], seed % 3 == 0 && !index);
            *(k < FACTS ? &fact[k] : &s->err_ulp[i]) = drawn;
        }
    }
    for (size_t i = 0; i < s->runs; i++)
        s->run[i] =
            (size_t)random_below(random_draw(seed, RANDOM_VALUES, 1 + i).word[0], s->distinct);
}

static void fill(struct tally *t, const struct sample *s)
{
    for (size_t i = 0; i < s->runs; i++) {
        struct distinct *d = tally_add(t, (struct hash128){{s->run[i], 1}});
        cr_assert(d);
        d->value = (struct figure){true, 1};
        d->err_ulp = s->err_ulp[s->run[i]];
        d->scan = s->facts[s->run[i]];
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

enum statistic { LEAST, MIDDLE, MOST };

/* Of fact k over the runs that have it. */
static struct figure due(const struct sample *s, size_t k, enum statistic which)
{
    double value[RUNS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < s->runs; i++) {
        struct figure f = ((const struct figure *)&s->facts[s->run[i]])[k];
        if (f.known)
            value[count++] = f.value;
    }
    if (count == 0)
        return unknown;
    qsort(value, count, sizeof *value, ascending);
    double middle = (value[(count - 1) / 2] + value[count / 2]) / 2;
    return (struct figure){true, which == LEAST    ? value[0]
                                 : which == MIDDLE ? middle
                                                   : value[count - 1]};
}

static void expect(struct figure got, struct figure due, const char *name, uint64_t seed)
{
    cr_expect(got.known == due.known &&
                  (!due.known || got.value == due.value || (isnan(got.value) && isnan(due.value))),
              "seed %ju: %s %d %g, expected %d %g", (uintmax_t)seed, name, got.known, got.value,
              due.known, due.value);
}

/* The facts' numbers are those of the order in struct scan_facts. */
static void check(const struct scan_summary *m, const struct sample *s, uint64_t seed)
{
    expect(m->err_ulp_rms_max, due(s, 0, MOST), "err_ulp_rms_max", seed);
    expect(m->differing_median, due(s, 2, MIDDLE), "differing_median", seed);
    expect(m->differing_max, due(s, 2, MOST), "differing_max", seed);
    expect(m->mean_rel_diff_max, due(s, 3, MOST), "mean_rel_diff_max", seed);
    expect(m->first_diff_min, due(s, 4, LEAST), "first_diff_min", seed);
    expect(m->decreases_max, due(s, 5, MOST), "decreases_max", seed);
    expect(m->run_differing_median, due(s, 6, MIDDLE), "run_differing_median", seed);
    expect(m->run_differing_max, due(s, 6, MOST), "run_differing_max", seed);
    expect(m->run_mean_rel_diff_max, due(s, 7, MOST), "run_mean_rel_diff_max", seed);
    expect(m->run_first_diff_min, due(s, 8, LEAST), "run_first_diff_min", seed);
    expect(m->run_first_diff_median, due(s, 8, MIDDLE), "run_first_diff_median", seed);
}

/* That of the first run of those with the largest err_ulp. */
static void hold_worst(const struct scan_summary *m, const struct sample *s, uint64_t seed)
{
    size_t worst = s->run[0];
    for (size_t i = 1; i < s->runs; i++) {
        struct figure f = s->err_ulp[s->run[i]], most = s->err_ulp[worst];
        if (f.known && (!most.known || (!isnan(most.value) && !(f.value <= most.value))))
            worst = s->run[i];
    }
    expect(m->worst_index, s->facts[worst].worst_index, "worst_index", seed);
}

Test(tally_scan, statistics_are_those_of_the_runs)
{
    struct tally t = {0};
    for (uint64_t seed = 1; seed <= SETS; seed++) {
        struct sample s;
        struct summary m;
        draw(&s, seed);
        tally_clear(&t);
        fill(&t, &s);
        tally_summary(&m, &t, unknown, unknown);
        check(&m.scan, &s, seed);
        hold_worst(&m.scan, &s, seed);
    }
    tally_free(&t);
}

Test(tally_scan, scans_of_nothing_have_no_values)
{
    struct tally t = {0};
    struct summary m;
    cr_assert(tally_add(&t, (struct hash128){{0, 0}}) && tally_add(&t, (struct hash128){{0, 0}}));
    tally_summary(&m, &t, (struct figure){true, 1}, (struct figure){true, 1});
    cr_expect(m.runs == 2 && m.distinct == 1 && m.mode_share.value == 1 && m.unseen_p95.known);
    cr_expect(!m.min.known && !m.max.known && !m.mean.known && !m.stddev.known &&
              !m.spread_ulp.known && !m.vs_max.known && !m.err_ulp_median.known);
    cr_expect(!m.scan.err_ulp_rms_max.known && !m.scan.worst_index.known);
    tally_free(&t);
}
