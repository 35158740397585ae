#include "experiments/runs/timing.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/system/clock.h"

static const double repetition_ns = 1e6, warm_up_ns = 2e7, budget_ns = 3e9;

/* A run as short as this is worth one more before each repetition, which is not timed: the subject
 * before has filled the caches with what is its own. */
static const double settle_ns = 1e7;

struct series {
    bool settle;
    size_t repetitions, done;
    double *time_ns;
};

/* Runs until clocks and caches have settled; *run_ns is the time of one run, then. */
static enum status warm_up(double *run_ns, const struct timing_subject *s, struct problem *p)
{
    uint64_t begin = clock_ns();
    size_t runs = 1;
    enum status status;
    do {
        status = s->batch(s->context, runs, run_ns, p);
        if (*run_ns * (double)runs < repetition_ns && runs < s->most_runs)
            runs = 2 * runs < s->most_runs ? 2 * runs : s->most_runs;
    } while (status == STATUS_OK && (double)(clock_ns() - begin) < warm_up_ns);
    return status;
}

static size_t clamped(double x, size_t least, size_t most)
{
    return x < (double)least ? least : x > (double)most ? most : (size_t)x;
}

static enum status prepare(struct series *series, struct timing_subject *s, size_t repeats,
                           struct problem *p)
{
    double run_ns = 0;
    s->time = (struct timing){0};
    s->problem = (struct problem){0};
    if (warm_up(&run_ns, s, &s->problem) != STATUS_OK)
        return STATUS_OK;
    run_ns = run_ns > 1 ? run_ns : 1;
    s->time.runs = clamped(repetition_ns / run_ns + 0.999, 1, s->most_runs);
    series->settle = run_ns <= settle_ns;
    series->repetitions = clamped(budget_ns / (run_ns * (double)s->time.runs), 2, repeats);
    series->time_ns = malloc(series->repetitions * sizeof *series->time_ns);
    return series->time_ns
               ? STATUS_OK
               : problem(p, STATUS_MEMORY, "out of memory for %zu times", series->repetitions);
}

static void repeat(struct series *series, struct timing_subject *s)
{
    double time_ns;
    enum status status = STATUS_OK;
    if (series->settle)
        status = s->batch(s->context, 1, &time_ns, &s->problem);
    if (status == STATUS_OK)
        status = s->batch(s->context, s->time.runs, &series->time_ns[series->done], &s->problem);
    if (status == STATUS_OK)
        series->done++;
}

/* The number of values below the median is binomial: more than i of them, and more than i above,
 * but for a probability of 2 P(at most i of count). */
bool timing_bounds(size_t *i, size_t count)
{
    double outside = 0, n = (double)count;
    size_t inside = 0;
    for (; 2 * inside < count; inside++) {
        double k = (double)inside;
        outside += 2 * exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2));
        if (outside > 0.05)
            break;
    }
    *i = inside > 0 ? inside - 1 : 0;
    return inside > 0;
}

static void conclude(const struct series *series, struct timing_subject *s)
{
    if (s->problem.status != STATUS_OK || series->done == 0) {
        s->time = (struct timing){0};
        return;
    }
    s->time.repetitions = series->done;
    s->time.median_ns = clock_median(series->time_ns, series->done);
    s->time.least_ns = series->time_ns[0]; /* sorted by then */
    size_t from;
    if (timing_bounds(&from, series->done)) {
        s->time.low_ns = series->time_ns[from];
        s->time.high_ns = series->time_ns[series->done - 1 - from];
    }
}

enum status timing_measure(struct timing_subject *subject, size_t count, size_t repeats,
                           struct problem *p)
{
    enum status status = STATUS_OK;
    struct series *series = calloc(count + 1, sizeof *series);
    if (!series)
        return problem(p, STATUS_MEMORY, "out of memory for the times of %zu subjects", count);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = prepare(&series[i], &subject[i], repeats, p);
    for (size_t turn = 0; turn < repeats && status == STATUS_OK; turn++)
        for (size_t i = 0; i < count; i++) {
            size_t share = series[i].repetitions;
            if (subject[i].problem.status == STATUS_OK &&
                (turn + 1) * share / repeats > turn * share / repeats)
                repeat(&series[i], &subject[i]);
        }
    for (size_t i = 0; i < count; i++) {
        conclude(&series[i], &subject[i]);
        free(series[i].time_ns);
    }
    free(series);
    return status;
}
