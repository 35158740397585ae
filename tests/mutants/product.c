/* Products that are right but for one thing. */
#include <math.h>

#include "kernels/product/scaled.h"
#include "kernels/blocks/tiled.h"
#include "tests/support/factors.h"

static enum status run_as(const char *name, const struct task *t)
{
    struct task other = *t;
    return method_named(name)->cpu(&other, NULL);
}

static enum status serial(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as("product/serial", t);
}

/* In the accumulator as it is, exponents and all. */
static enum status plain_loop(const struct task *t, struct problem *p)
{
    (void)p;
    double product = 1;
    for (size_t i = 0; i < t->of->in.n; i++)
        product = format_round(t->accumulator,
                               product * format_round(t->accumulator, array_get(&t->of->in, i)));
    array_encode(&t->out, 0, 1, &product);
    return STATUS_OK;
}

/* Significands in double, rounded at the end: once for many times. */
static enum status wide(const struct task *t, struct problem *p)
{
    (void)p;
    struct partial product = scaled(1, 0);
    for (size_t i = 0; i < t->of->in.n; i++)
        product = scaled_join(FP64, product, scaled_element(FP64, array_get(&t->of->in, i)));
    array_encode(&t->out, 0, 1, &(double){scaled_value(t->accumulator, product)});
    return STATUS_OK;
}

static enum status unsigned_result(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("product/serial", t);
    array_encode(&t->out, 0, 1, &(double){fabs(array_get(&t->out, 0))});
    return status;
}

static enum status of_nothing_0(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("product/atomic", t);
    if (t->of->in.n == 0)
        array_encode(&t->out, 0, 1, &(double){0});
    return status;
}

static enum status rounds_twice(const struct task *t, struct problem *p)
{
    return mutant_rounds_twice("product/exact", t, p);
}

static enum status flushes(const struct task *t, struct problem *p)
{
    enum status status = method_named("product/exact")->cpu(t, p);
    if (fabs(array_get(&t->out, 0)) < format_facts[t->accumulator].smallest_normal)
        array_encode(&t->out, 0, 1, &(double){0});
    return status;
}

static enum status drops_last(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.in.n -= t->of->in.n > TILE;
    return method_named("product/tree")->cpu(&other, p);
}

#define BREAK(function)                                                                            \
    static void break_##function(struct method *m)                                                 \
    {                                                                                              \
        m->cpu = function;                                                                         \
    }
BREAK(serial)
BREAK(plain_loop)
BREAK(wide)
BREAK(unsigned_result)
BREAK(of_nothing_0)
BREAK(rounds_twice)
BREAK(flushes)
BREAK(drops_last)

static void break_bound(struct method *m)
{
    m->bound = THEOREM_CORRECTLY_ROUNDED;
}

const struct mutant product_mutants[] = {
    {"multiplies in another order", "product/tree", break_serial, holds_product_walk},
    {"does not keep exponents apart", "product/serial", break_plain_loop, holds_product_walk},
    {"does not keep exponents apart", "product/serial", break_plain_loop, holds_product_range},
    {"rounds at the end alone", "product/serial", break_wide, holds_product_walk},
    {"drops the last factor", "product/tree", break_drops_last, holds_product_walk},
    {"forgets the sign", "product/serial", break_unsigned_result, holds_product_specials},
    {"is 0 of nothing", "product/atomic", break_of_nothing_0, holds_product_specials},
    {"rounds twice", "product/exact", break_rounds_twice, holds_product_halfway},
    {"flushes subnormal results", "product/exact", break_flushes, holds_product_ends},
    {"rounds each product", "product/exact", break_serial, holds_promise},
    {"depends on the order", "product/exact", break_serial, holds_permuted},
    {"claims another theorem", "product/tree", break_bound, holds_bound},
};
const size_t product_mutant_count = sizeof product_mutants / sizeof *product_mutants;
