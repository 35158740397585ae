/* Scatter-adds that are right but for one thing. */
#include <stdlib.h>

#include "kernels/scatter/bins.h"
#include "tests/support/scatters.h"

static enum status run_as(const char *name, const struct task *t)
{
    return method_named(name)->cpu(t, NULL);
}

static enum status drops_last(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    (void)p;
    of.in.n -= t->of->in.n > 0;
    return run_as("scatter/sort", &other);
}

/* Each bin's elements go to the next one. */
static enum status misses(const struct task *t, struct problem *p)
{
    uint32_t *key = malloc((t->of->in.n + 1) * sizeof *key);
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    (void)p;
    for (size_t i = 0; i < t->of->in.n; i++)
        key[i] = (t->of->keys[i] + 1) % (uint32_t)t->of->bins;
    of.keys = key;
    enum status status = run_as("scatter/atomic", &other);
    free(key);
    return status;
}

static enum status lets_bins_meet(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("scatter/exact", t);
    for (size_t b = 1; b < t->of->bins; b++)
        if (array_bits(&t->out, b) != 0) {
            double sum = array_get(&t->out, b) + array_get(&t->out, b - 1);
            array_encode(&t->out, b, 1, &sum);
        }
    return status;
}

static enum status leaves_empty_alone(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("scatter/sort", t);
    double *seen = calloc(t->of->bins, sizeof *seen);
    for (size_t i = 0; i < t->of->in.n; i++)
        seen[t->of->keys[i]] = 1;
    for (size_t b = 0; b < t->of->bins; b++)
        if (!seen[b])
            array_encode(&t->out, b, 1, &(double){-0.0});
    free(seen);
    return status;
}

static enum status rounds_twice(const struct task *t, struct problem *p)
{
    struct task other = *t;
    double *sum = malloc(t->of->bins * sizeof *sum);
    (void)p;
    other.accumulator = FP64;
    other.out = (struct array){FP64, t->of->bins, sum};
    enum status status = run_as("scatter/exact", &other);
    array_encode(&t->out, 0, t->of->bins, sum);
    free(sum);
    return status;
}

static enum status starts_from_zero(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("scatter/ordered", t);
    for (size_t b = 0; b < t->of->bins; b++) {
        double sum = array_get(&t->out, b) + 0.0;
        array_encode(&t->out, b, 1, &sum);
    }
    return status;
}

/* With more than one thread the order is another. */
static enum status reads_threads(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as(t->shape.threads > 1 ? "scatter/sort" : "scatter/ordered", t);
}

static enum status sorts(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as("scatter/sort", t);
}

/* One thread: its order is that of the array. */
static enum status one_thread(const struct task *t, struct problem *p)
{
    struct task other = *t;
    (void)p;
    other.shape.threads = 1;
    return run_as("scatter/atomic", &other);
}

#define BREAK(function)                                                                            \
    static void break_##function(struct method *m)                                                 \
    {                                                                                              \
        m->cpu = function;                                                                         \
    }
BREAK(drops_last)
BREAK(misses)
BREAK(lets_bins_meet)
BREAK(leaves_empty_alone)
BREAK(rounds_twice)
BREAK(starts_from_zero)
BREAK(reads_threads)
BREAK(sorts)
BREAK(one_thread)

static size_t no_height(const size_t *element, size_t terms, size_t n, size_t bins)
{
    (void)element, (void)terms, (void)n, (void)bins;
    return 0;
}

static void break_height(struct method *m)
{
    m->bin_height = no_height;
}

static void break_bound(struct method *m)
{
    m->bound = THEOREM_CORRECTLY_ROUNDED;
}

const struct mutant scatter_mutants[] = {
    {"drops the last element", "scatter/sort", break_drops_last, holds_bound},
    {"drops the last element", "scatter/sort", break_drops_last, holds_scatter_bits},
    {"adds to the next bin", "scatter/atomic", break_misses, holds_bound},
    {"lets neighbours meet", "scatter/exact", break_lets_bins_meet, holds_bound},
    {"lets neighbours meet", "scatter/exact", break_lets_bins_meet, holds_edges},
    {"gives -0 for nothing", "scatter/sort", break_leaves_empty_alone, holds_edges},
    {"starts from +0", "scatter/ordered", break_starts_from_zero, holds_edges},
    {"starts from +0", "scatter/ordered", break_starts_from_zero, holds_scatter_bits},
    {"rounds twice", "scatter/exact", break_rounds_twice, holds_scatter_bits},
    {"adds in another order", "scatter/ordered", break_sorts, holds_scatter_bits},
    {"adds in another order", "scatter/sort", break_one_thread, holds_scatter_bits},
    {"lets threads into the order", "scatter/ordered", break_reads_threads, holds_promise},
    {"depends on the order", "scatter/exact", break_sorts, holds_promise},
    {"claims another theorem", "scatter/block_local", break_bound, holds_bound},
    {"claims trees of no height", "scatter/ordered", break_height, holds_bound},
};
const size_t scatter_mutant_count = sizeof scatter_mutants / sizeof *scatter_mutants;
