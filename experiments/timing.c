#include "experiments/timing.h"

#include <stdlib.h>

#include "experiments/clock.h"

static const double repetition_ns = 1e6, warm_up_ns = 2e7, budget_ns = 3e9;

/* Runs until clocks and caches have settled; *run_ns is the time of one run, then. */
static enum status warm_up(double *run_ns, timed batch, void *context, size_t most_runs,
                           struct problem *p)
{
    uint64_t begin = clock_ns();
    size_t runs = 1;
    enum status status;
    do {
        status = batch(context, runs, run_ns, p);
        if (*run_ns * (double)runs < repetition_ns && runs < most_runs)
            runs = 2 * runs < most_runs ? 2 * runs : most_runs;
    } while (status == STATUS_OK && (double)(clock_ns() - begin) < warm_up_ns);
    return status;
}

static size_t clamped(double x, size_t least, size_t most)
{
    return x < (double)least ? least : x > (double)most ? most : (size_t)x;
}

enum status timing_measure(struct timing *t, timed batch, void *context, size_t most_runs,
                           size_t repeats, struct problem *p)
{
    double run_ns = 0;
    *t = (struct timing){0};
    enum status status = warm_up(&run_ns, batch, context, most_runs, p);
    if (status != STATUS_OK)
        return status;
    run_ns = run_ns > 1 ? run_ns : 1;
    t->runs = clamped(repetition_ns / run_ns + 0.999, 1, most_runs);
    size_t repetitions = clamped(budget_ns / (run_ns * (double)t->runs), 2, repeats);
    double *time_ns = malloc(repetitions * sizeof *time_ns);
    if (!time_ns)
        return problem(p, STATUS_DEVICE, "out of memory for %zu times", repetitions);
    for (size_t i = 0; status == STATUS_OK && i < repetitions; i++)
        status = batch(context, t->runs, &time_ns[i], p);
    if (status == STATUS_OK) {
        t->repetitions = repetitions;
        t->median_ns = clock_median(time_ns, repetitions);
        t->least_ns = time_ns[0]; /* sorted by then */
    }
    free(time_ns);
    return status;
}
