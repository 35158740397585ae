/* Dot products that are right but for one thing. */
#include <math.h>
#include <stdlib.h>

#include "kernels/dot/terms.h"
#include "kernels/blocks/tiled.h"
#include "tests/support/dots.h"

/* Runs another method, or the same otherwise. */
static enum status run_as(const char *name, const struct task *t, enum product_kind how)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.product = how;
    return method_named(name)->cpu(&other, NULL);
}

static enum status always_fuses(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as("dot/tiled", t, PRODUCT_FUSED);
}

static enum status never_fuses(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as("dot/serial", t, PRODUCT_ROUNDED);
}

static enum status adds_serially(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as("dot/serial", t, t->of->product);
}

static enum status squares(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.in2 = t->of->in;
    return method_named("dot/tiled")->cpu(&other, p);
}

/* Rounds the elements, not the product: fp64 elements in a narrower accumulator are two roundings
 * too many. */
static enum status rounds_elements(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    size_t n = t->of->in.n;
    double *x = malloc((n + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y);
    of.in = (struct array){FP64, n, x};
    of.in2 = (struct array){FP64, n, y};
    for (size_t i = 0; i < n; i++) {
        x[i] = format_round(t->accumulator, array_get(&t->of->in, i));
        y[i] = format_round(t->accumulator, array_get(&t->of->in2, i));
    }
    enum status status = method_named("dot/serial")->cpu(&other, p);
    free(x);
    free(y);
    return status;
}

static enum status forgets_products_errors(const struct task *t, struct problem *p)
{
    size_t n = t->of->in.n;
    double *x = malloc((n + 1) * sizeof *x);
    struct operands of = *t->of;
    struct task sum = *t;
    sum.of = &of;
    for (size_t i = 0; i < n; i++)
        x[i] = product_rounded(t->accumulator, array_get(&t->of->in, i), array_get(&t->of->in2, i));
    of.in = (struct array){FP64, n, x};
    of.in2.data = NULL;
    enum status status = method_named("sum/sum2")->cpu(&sum, p);
    free(x);
    return status;
}

/* Where a product is beyond the range of doubles, or below: what whole products are for. */
static enum status rounds_to_doubles(const struct task *t, struct problem *p)
{
    size_t n = t->of->in.n;
    double *x = malloc((2 * n + 1) * sizeof *x);
    struct operands of = *t->of;
    struct task sum = *t;
    sum.of = &of;
    for (size_t i = 0; i < n; i++) {
        double a = array_get(&t->of->in, i), b = array_get(&t->of->in2, i);
        x[2 * i] = a * b;
        x[2 * i + 1] = isfinite(a * b) ? fma(a, b, -(a * b)) : -0.0;
        x[2 * i + 1] = x[2 * i + 1] == 0 ? -0.0 : x[2 * i + 1];
    }
    of.in = (struct array){FP64, 2 * n, x};
    of.in2.data = NULL;
    enum status status = method_named("sum/exact")->cpu(&sum, p);
    free(x);
    return status;
}

static enum status rounds_twice(const struct task *t, struct problem *p)
{
    return mutant_rounds_twice("dot/exact", t, p);
}

static enum status drops_last(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.in.n -= t->of->in.n > TILE;
    return method_named("dot/tiled")->cpu(&other, p);
}

/* The last thread's share is summed in the order of who came, not of the tiles. */
static enum status reads_threads(const struct task *t, struct problem *p)
{
    struct task other = *t;
    other.shape.blocks = 1;
    return method_named("dot/two_kernel")->cpu(&other, p);
}

#define BREAK(function)                                                                            \
    static void break_##function(struct method *m)                                                 \
    {                                                                                              \
        m->cpu = function;                                                                         \
    }
BREAK(always_fuses)
BREAK(never_fuses)
BREAK(adds_serially)
BREAK(squares)
BREAK(rounds_elements)
BREAK(forgets_products_errors)
BREAK(rounds_to_doubles)
BREAK(rounds_twice)
BREAK(drops_last)

static void break_reads_threads(struct method *m)
{
    m->cpu = reads_threads;
    m->shape_read[DEVICE_CPU] = SHAPE_THREADS;
}

static void break_bound(struct method *m)
{
    m->bound = THEOREM_CORRECTLY_ROUNDED;
}

const struct mutant dot_mutants[] = {
    {"fuses where products are to be rounded", "dot/tiled", break_always_fuses, holds_dot_walk},
    {"rounds products where they are to be fused", "dot/serial", break_never_fuses, holds_dot_walk},
    {"adds in another order", "dot/tiled", break_adds_serially, holds_dot_walk},
    {"reads the first array twice", "dot/tiled", break_squares, holds_dot_walk},
    {"rounds the elements first", "dot/serial", break_rounds_elements, holds_dot_walk},
    {"drops the last product", "dot/tiled", break_drops_last, holds_dot_walk},
    {"loses what products lose", "dot/compensated", break_forgets_products_errors, holds_dot_walk},
    {"loses what products lose", "dot/compensated", break_forgets_products_errors, holds_dot_bound},
    {"drops the last product", "dot/tiled", break_drops_last, holds_dot_bound},
    {"takes products for doubles", "dot/exact", break_rounds_to_doubles, holds_dot_rounded},
    {"rounds twice", "dot/exact", break_rounds_twice, holds_dot_rounded},
    {"depends on the number of threads", "dot/tiled", break_reads_threads, holds_dot_promise},
    {"depends on the order", "dot/exact", break_adds_serially, holds_dot_promise},
    {"claims another theorem", "dot/tiled", break_bound, holds_dot_bound},
};
const size_t dot_mutant_count = sizeof dot_mutants / sizeof *dot_mutants;
