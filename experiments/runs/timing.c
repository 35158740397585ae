#include "experiments/runs/timing.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/system/clock.h"

static const double repetition_ns = 1e6, warm_up_ns = 2e7, budget_ns = 3e9;

/* A run as short as this is worth one more before each repetition, which is not timed: the subject
 * before has filled the caches with what is its own. */
static const double settle_ns = 1e7;

/* To ask for a run may take much longer than the run itself is said to take. Where by our clock a
 * repetition would take as long as `suspect_ns`, it has fewer runs, which take `asked_ns`; all
 * repetitions of a subject take `asked_budget_ns` at most. */
static const double suspect_ns = 5e8, asked_ns = 2e8, asked_budget_ns = 6e9;

struct series {
    bool settle;
    size_t repetitions, done;
    double *time_ns;
};

/* Of a run: as it is said to take, and as it takes by our clock to ask for it. */
struct cost {
    double run_ns, asked_ns;
};

static enum status ask(struct cost *cost, const struct timing_subject *s, size_t runs,
                       struct problem *p)
{
    uint64_t begin = clock_ns();
    enum status status = s->batch(s->context, runs, &cost->run_ns, p);
    cost->asked_ns = (double)(clock_ns() - begin) / (double)runs;
    return status;
}

/* Runs until clocks and caches have settled; *cost is that of one run, then. */
static enum status warm_up(struct cost *cost, const struct timing_subject *s, struct problem *p)
{
    uint64_t begin = clock_ns();
    size_t runs = 1;
    double *run_ns = &cost->run_ns;
    enum status status;
    do {
        status = ask(cost, s, runs, p);
        if (*run_ns * (double)runs < repetition_ns && runs < s->most_runs)
            runs = 2 * runs < s->most_runs ? 2 * runs : s->most_runs;
    } while (status == STATUS_OK && (double)(clock_ns() - begin) < warm_up_ns);
    return status;
}

static size_t clamped(double x, size_t least, size_t most)
{
    return x < (double)least ? least : x > (double)most ? most : (size_t)x;
}

/* The runs of a repetition. The call that warmed up may have had to begin: it is not believed. */
static enum status count_runs(struct timing_subject *s, struct cost *cost, struct problem *p)
{
    enum status status = STATUS_OK;
    struct cost again = *cost;
    cost->run_ns = fmax(cost->run_ns, 1);
    s->time.runs = clamped(repetition_ns / cost->run_ns + 0.999, 1, s->most_runs);
    if (cost->asked_ns * (double)s->time.runs <= suspect_ns)
        return STATUS_OK;
    status = ask(&again, s, 1, p);
    cost->asked_ns = fmax(1, fmin(again.asked_ns, cost->asked_ns));
    s->time.runs = clamped(asked_ns / cost->asked_ns, 1, s->time.runs);
    return status;
}

static enum status prepare(struct series *series, struct timing_subject *s, size_t repeats,
                           struct problem *p)
{
    struct cost cost = {0};
    s->time = (struct timing){0};
    s->problem = (struct problem){0};
    if (warm_up(&cost, s, &s->problem) != STATUS_OK ||
        count_runs(s, &cost, &s->problem) != STATUS_OK)
        return STATUS_OK;
    double runs = (double)s->time.runs;
    double most =
        fmin(budget_ns / (cost.run_ns * runs), asked_budget_ns / (fmax(cost.asked_ns, 1) * runs));
    series->settle = cost.run_ns <= settle_ns;
    series->repetitions = clamped(most, 2, repeats);
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
