#include <math.h>

#include "kernels/mean/quotient.h"
#include "kernels/blocks/tiled.h"
#include "tests/support/values.h"

static enum status run(const char *name, const struct task *t, struct problem *p)
{
    const struct method *m = method_named(name);
    struct task other = *t;
    other.shape = method_shape(m, DEVICE_CPU, t->of->in.n, t->shape);
    return m->cpu(&other, p);
}

static enum status give(const struct task *t, double result)
{
    array_encode(&t->out, 0, 1, &result);
    return STATUS_OK;
}

static double result_of(const struct task *t)
{
    return array_get(&t->out, 0);
}

static enum status norm_twice(const struct task *t, struct problem *p)
{
    return mutant_rounds_twice("norm/exact", t, p);
}

static enum status mean_twice(const struct task *t, struct problem *p)
{
    return mutant_rounds_twice("mean/exact", t, p);
}

static enum status variance_twice(const struct task *t, struct problem *p)
{
    return mutant_rounds_twice("variance/exact", t, p);
}

static enum status never_scales(const struct task *t, struct problem *p)
{
    return run("norm/tiled", t, p);
}

static enum status other_tree(const struct task *t, struct problem *p)
{
    return run("norm/serial", t, p);
}

static enum status forgets_the_root(const struct task *t, struct problem *p)
{
    enum status status = run("norm/tiled", t, p);
    double norm = result_of(t);
    return status == STATUS_OK ? give(t, norm * norm) : status;
}

/* n rounded to the accumulator first. */
static enum status rounds_n(const struct task *t, struct problem *p)
{
    enum format f = t->accumulator;
    enum status status = run("sum/tiled", t, p);
    double n = format_round(f, (double)t->of->in.n);
    return status == STATUS_OK ? give(t, format_round(f, result_of(t) / n)) : status;
}

static enum status mean_of_others(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.in.n -= t->of->in.n > 1;
    return run("mean/running", &other, p);
}

static enum status textbook(const struct task *t, struct problem *p)
{
    return run("variance/textbook", t, p);
}

static enum status two_pass(const struct task *t, struct problem *p)
{
    return run("variance/two_pass", t, p);
}

/* Divides by n - 1: that of a sample. */
static enum status of_a_sample(const char *name, const struct task *t, struct problem *p)
{
    enum status status = run(name, t, p);
    double n = (double)t->of->in.n;
    return status == STATUS_OK ? give(t, result_of(t) * n / (n - 1)) : status;
}

static enum status sample_two_pass(const struct task *t, struct problem *p)
{
    return of_a_sample("variance/two_pass", t, p);
}

static enum status sample_exact(const struct task *t, struct problem *p)
{
    return of_a_sample("variance/exact", t, p);
}

/* NaN of nothing where +0 is due, and the other way round. */
static enum status norm_of_nothing(const struct task *t, struct problem *p)
{
    return t->of->in.n > 0 ? run("norm/tiled", t, p) : give(t, NAN);
}

static enum status mean_of_nothing(const struct task *t, struct problem *p)
{
    return t->of->in.n > 0 ? run("mean/serial", t, p) : give(t, 0);
}

#define BREAK(function)                                                                            \
    static void break_##function(struct method *m)                                                 \
    {                                                                                              \
        m->cpu = function;                                                                         \
    }
BREAK(norm_twice)
BREAK(mean_twice)
BREAK(variance_twice)
BREAK(never_scales)
BREAK(other_tree)
BREAK(forgets_the_root)
BREAK(rounds_n)
BREAK(mean_of_others)
BREAK(textbook)
BREAK(two_pass)
BREAK(sample_two_pass)
BREAK(sample_exact)
BREAK(norm_of_nothing)
BREAK(mean_of_nothing)

static void break_name(struct method *m)
{
    m->name = "norm/unheard_of";
}

static void break_bound(struct method *m)
{
    m->bound = THEOREM_CORRECTLY_ROUNDED;
}

const struct mutant value_mutants[] = {
    {"rounds to fp64 first", "norm/exact", break_norm_twice, holds_ties},
    {"rounds to fp64 first", "mean/exact", break_mean_twice, holds_ties},
    {"rounds to fp64 first", "variance/exact", break_variance_twice, holds_ties},
    {"is that of a tree", "norm/exact", break_never_scales, holds_rounded},
    {"is that of two passes", "variance/exact", break_two_pass, holds_rounded},
    {"divides by n - 1", "variance/exact", break_sample_exact, holds_rounded},
    {"never scales", "norm/scaled", break_never_scales, holds_steps},
    {"never scales", "norm/scaled", break_never_scales, holds_bound},
    {"adds in another order", "norm/tiled", break_other_tree, holds_steps},
    {"forgets the root", "norm/tiled", break_forgets_the_root, holds_bound},
    {"rounds n", "mean/tiled", break_rounds_n, holds_steps},
    {"drops the last element", "mean/running", break_mean_of_others, holds_steps},
    {"drops the last element", "mean/running", break_mean_of_others, holds_bound},
    {"is the textbook's", "variance/two_pass", break_textbook, holds_steps},
    {"is the textbook's", "variance/two_pass", break_textbook, holds_bound},
    {"is the textbook's", "variance/chan", break_textbook, holds_bound},
    {"is the textbook's", "variance/welford", break_textbook, holds_bound},
    {"divides by n - 1", "variance/two_pass", break_sample_two_pass, holds_steps},
    {"divides by n - 1", "variance/two_pass", break_sample_two_pass, holds_bound},
    {"gives NaN for nothing", "norm/tiled", break_norm_of_nothing, holds_steps},
    {"gives +0 for nothing", "mean/serial", break_mean_of_nothing, holds_steps},
    {"has steps that nobody wrote down", "norm/tiled", break_name, holds_steps},
    {"claims another theorem", "norm/tiled", break_bound, holds_bound},
    {"claims another theorem", "mean/running", break_bound, holds_bound},
    {"claims another theorem", "variance/textbook", break_bound, holds_bound},
};
const size_t value_mutant_count = sizeof value_mutants / sizeof *value_mutants;
