/* Scans that are right but for one thing. */
#include <stdlib.h>

#include "kernels/scan/tiled.h"
#include "tests/mutants/mutants.h"

static enum status run_as(const char *name, const struct task *t, struct problem *p)
{
    return method_named(name)->cpu(t, p);
}

/* --- what is covered --- */

static enum status repeats_last(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.in.n -= t->of->in.n > 40;
    enum status status = run_as("scan/tiled", &other, p);
    if (t->of->in.n > 40)
        array_set_bits(&t->out, t->of->in.n - 1, array_bits(&t->out, t->of->in.n - 2));
    return status;
}

static enum status always_inclusive(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.exclusive = false;
    return run_as("scan/blelloch", &other, p);
}

/* Not the exclusive scan's own tree. */
static enum status shifts_inclusive(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.exclusive = false;
    enum status status = run_as("scan/tiled", &other, p);
    for (size_t i = t->of->in.n; t->of->exclusive && i-- > 0;)
        array_set_bits(&t->out, i, i > 0 ? array_bits(&t->out, i - 1) : 0);
    return status;
}

static enum status negative_nothing(const struct task *t, struct problem *p)
{
    enum status status = run_as("scan/hillis_steele", t, p);
    if (t->of->exclusive && t->of->in.n > 0)
        array_encode(&t->out, 0, 1, &(double){-0.0});
    return status;
}

static enum status writes_one_more(const struct task *t, struct problem *p)
{
    enum status status = run_as("scan/serial", t, p);
    array_encode(&t->out, t->of->in.n, 1, &(double){0});
    return status;
}

static enum status forgets_heads(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.heads = NULL;
    return run_as("scan/segmented", &other, p);
}

/* Those on which a row begins. */
static enum status forgets_some_heads(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    uint8_t *heads = malloc(t->of->in.n + 1);
    for (size_t i = 0; t->of->heads && i < t->of->in.n; i++)
        heads[i] = i % SCAN_ROW > 0 ? t->of->heads[i] : 0;
    of.heads = t->of->heads ? heads : NULL;
    enum status status = run_as("scan/segmented", &other, p);
    free(heads);
    return status;
}

/* The element in the middle. */
static enum status loses_one(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    size_t bytes = array_bytes(t->of->in.format, t->of->in.n);
    of.in.data = malloc(bytes + 1);
    memcpy(of.in.data, t->of->in.data, bytes);
    if (t->of->in.n > 2)
        array_encode(&of.in, t->of->in.n / 2, 1, &(double){0});
    enum status status = run_as("scan/lookback", &other, p);
    free(of.in.data);
    return status;
}

/* --- how it is added and rounded --- */

static enum status serially(const struct task *t, struct problem *p)
{
    return run_as("scan/serial", t, p);
}

static enum status without_errors(const struct task *t, struct problem *p)
{
    return run_as("scan/tiled", t, p);
}

static enum status accumulates_in_output(const struct task *t, struct problem *p)
{
    struct task other = *t;
    other.accumulator = t->out.format;
    return run_as("scan/serial", &other, p);
}

static enum status rounds_outputs_twice(const struct task *t, struct problem *p)
{
    struct task other = *t;
    float *single = malloc((t->of->in.n + 1) * sizeof *single);
    other.out = (struct array){FP32, t->of->in.n, single};
    enum status status = run_as("scan/serial", t->out.format < FP32 ? &other : t, p);
    for (size_t i = 0; t->out.format < FP32 && i < t->of->in.n; i++)
        array_encode(&t->out, i, 1, &(double){single[i]});
    free(single);
    return status;
}

/* --- what is promised --- */

static enum status every_other_run(const struct task *t, struct problem *p)
{
    static unsigned run;
    return run_as(run++ % 2 ? "scan/tiled" : "scan/blelloch", t, p);
}

static enum status share_by_share(const struct task *t, struct problem *p)
{
    return run_as(t->shape.threads == 2 ? "scan/serial" : "scan/tiled", t, p);
}

/* --- what is declared --- */

static void order_of_another(struct order *o, struct shape shape)
{
    method_named("scan/hillis_steele")->order(o, shape);
}

static void order_with_one_twice(struct order *o, struct shape shape)
{
    method_named("scan/serial")->order(o, shape);
    if (o->leaves > 3)
        o->operand[1][1] = 1;
}

static void order_a_step_ahead(struct order *o, struct shape shape)
{
    method_named("scan/serial")->order(o, shape);
    for (size_t i = 0; i + 1 < o->leaves; i++)
        o->output[i] = o->output[i + 1];
}

static void order_of_something(struct order *o, struct shape shape)
{
    method_named("scan/serial")->order(o, shape);
    if (o->exclusive)
        o->output[0] = 0;
}

static size_t height_as_inclusive(size_t i, size_t n, struct shape shape, bool exclusive)
{
    (void)exclusive;
    return scan_tiled_prefix_height(i, n, shape, false);
}

static size_t height_balanced(size_t i, size_t n, struct shape shape, bool exclusive)
{
    (void)n, (void)shape, (void)exclusive;
    return order_balanced_height(i + 1);
}

static size_t height_of_last(size_t n, struct shape shape)
{
    return scan_tiled_prefix_height(n - 1, n, shape, false);
}

#define BREAK(name, member, value)                                                                 \
    static void name(struct method *m)                                                             \
    {                                                                                              \
        m->member = value;                                                                         \
    }
BREAK(break_last, cpu, repeats_last)
BREAK(break_exclusive, cpu, always_inclusive)
BREAK(break_shift, cpu, shifts_inclusive)
BREAK(break_nothing, cpu, negative_nothing)
BREAK(break_end, cpu, writes_one_more)
BREAK(break_heads, cpu, forgets_heads)
BREAK(break_some_heads, cpu, forgets_some_heads)
BREAK(break_loses, cpu, loses_one)
BREAK(break_serial, cpu, serially)
BREAK(break_errors, cpu, without_errors)
BREAK(break_accumulator, cpu, accumulates_in_output)
BREAK(break_output, cpu, rounds_outputs_twice)
BREAK(break_runs, cpu, every_other_run)
BREAK(break_shares, cpu, share_by_share)
BREAK(break_exaggerate, promise, PROMISE_GPU_TO_GPU)
BREAK(break_order, order, order_of_another)
BREAK(break_twice, order, order_with_one_twice)
BREAK(break_ahead, order, order_a_step_ahead)
BREAK(break_something, order, order_of_something)
BREAK(break_prefix_height, prefix_height, height_as_inclusive)
BREAK(break_balanced, prefix_height, height_balanced)
BREAK(break_height, height, height_of_last)

const struct mutant scan_mutants[] = {
    {"leaves out the last element", "scan/tiled", break_last, holds_walk},
    {"is inclusive always", "scan/blelloch", break_exclusive, holds_walk},
    {"is inclusive always", "scan/blelloch", break_exclusive, holds_edges},
    {"shifts the inclusive scan", "scan/tiled", break_shift, holds_walk},
    {"gives -0 for nothing", "scan/hillis_steele", break_nothing, holds_edges},
    {"writes beyond its outputs", "scan/serial", break_end, holds_edges},
    {"forgets heads", "scan/segmented", break_heads, holds_walk},
    {"forgets heads on which a row begins", "scan/segmented", break_some_heads, holds_walk},
    {"loses an element", "scan/lookback", break_loses, holds_bound},
    {"adds serially", "scan/tiled", break_serial, holds_walk},
    {"adds serially", "scan/three_kernel", break_serial, holds_walk},
    {"leaves the errors out", "scan/compensated", break_errors, holds_walk},
    {"leaves the errors out", "scan/compensated", break_errors, holds_bound},
    {"accumulates in the output's format", "scan/serial", break_accumulator, holds_walk},
    {"rounds outputs by way of fp32", "scan/serial", break_output, holds_edges},
    {"gives other bits every other run", "scan/tiled", break_runs, holds_promise},
    {"lets the threads' shares into the order", "scan/tiled", break_shares, holds_promise},
    {"promises more than it keeps", "scan/three_kernel", break_exaggerate, holds_promise},
    {"declares the order of another method", "scan/blelloch", break_order, holds_walk},
    {"declares an order with one element twice", "scan/serial", break_twice, holds_order},
    {"declares an order a step ahead", "scan/serial", break_ahead, holds_order},
    {"declares the sum of nothing to be something", "scan/serial", break_something, holds_order},
    {"declares inclusive heights", "scan/tiled", break_prefix_height, holds_order},
    {"declares the heights of another order", "scan/serial", break_balanced, holds_order},
    {"declares the heights of another order", "scan/serial", break_balanced, holds_bound},
    {"declares the height of the last tree", "scan/tiled", break_height, holds_order},
};
const size_t scan_mutant_count = sizeof scan_mutants / sizeof *scan_mutants;
