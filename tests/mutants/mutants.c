#include "tests/mutants/mutants.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/method/fold.h"
#include "kernels/blocks/tiled.h"

/* Whole copies: mutants run on small inputs. The caller frees it. */
static double *decoded(const struct task *t, size_t room)
{
    double *x = calloc(room + 1, sizeof *x);
    array_decode(&t->of->in, 0, t->of->in.n, x);
    for (size_t i = 0; i < t->of->in.n; i++)
        x[i] = format_round(t->out.format, x[i]);
    return x;
}

static enum status run_on(const char *name, const struct task *t, const double *x, size_t n)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.in = (struct array){FP64, n, (void *)x};
    return method_named(name)->cpu(&other, NULL);
}

enum status mutant_rounds_twice(const char *name, const struct task *t, struct problem *p)
{
    const struct method *m = method_named(name);
    double wide = 0;
    struct task other = *t;
    other.shape = method_shape(m, DEVICE_CPU, t->of->in.n, t->shape);
    other.accumulator = FP64;
    other.out = (struct array){FP64, 1, &wide};
    enum status status = m->cpu(&other, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &wide);
    return status;
}

/* --- who is added --- */

static enum status drops_last(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    if (t->of->in.n > TILE && t->of->in.n % TILE)
        of.in.n--;
    return method_named("sum/tiled")->cpu(&other, p);
}

static enum status swaps_tiles(const struct task *t, struct problem *p)
{
    (void)p;
    double *x = decoded(t, t->of->in.n);
    for (size_t i = 0; t->of->in.n >= 3 * TILE && i < TILE; i++) {
        double other = x[i];
        x[i] = x[i + TILE];
        x[i + TILE] = other;
    }
    enum status status = run_on("sum/tiled", t, x, t->of->in.n);
    free(x);
    return status;
}

/* Fills up the last warp with +0. */
static enum status pads_with_zero(const struct task *t, struct problem *p)
{
    (void)p;
    size_t n = t->of->in.n, padded = (n + 31) / 32 * 32;
    double *x = decoded(t, padded);
    enum status status = run_on("sum/shuffle", t, x, padded);
    free(x);
    return status;
}

static enum status starts_from_zero(const struct task *t, struct problem *p)
{
    (void)p;
    enum format f = t->out.format;
    double sum = 0;
    for (size_t i = 0; i < t->of->in.n; i++)
        sum = format_add(f, sum, format_round(f, array_get(&t->of->in, i)));
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

static enum status loses_an_update(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.in.n -= t->of->in.n > 2;
    return method_named("sum/atomic")->cpu(&other, p);
}

/* --- what is added to what --- */

static void order_adjacent_groups(struct order *o, struct shape shape)
{
    method_named("sum/interleaved")->order(o, shape);
}

static void order_one_twice(struct order *o, struct shape shape)
{
    method_named("sum/serial")->order(o, shape);
    if (o->leaves > 2)
        o->operand[o->leaves - 2][1] = (uint32_t)o->leaves - 2;
}

static void order_without_last(struct order *o, struct shape shape)
{
    method_named("sum/serial")->order(o, shape);
    if (o->leaves > 1)
        o->output[0] = o->operand[o->leaves - 2][0];
}

static size_t height_one_more(size_t n, struct shape shape)
{
    return method_named("sum/two_kernel")->height(n, shape) + (n > 1);
}

static size_t height_balanced(size_t n, struct shape shape)
{
    (void)shape;
    return order_balanced_height(n);
}

/* --- how a sum is rounded --- */

/* Adds serially, with a rounding of elements and one of sums. */
static enum status serial(const struct task *t, double (*element)(enum format f, double x),
                          double (*sum_of)(enum format f, double x))
{
    enum format f = t->out.format;
    double sum = 0;
    for (size_t i = 0; i < t->of->in.n; i++) {
        double x = element(f, array_get(&t->of->in, i));
        sum = i == 0 ? x : sum_of(f, sum + x);
    }
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

static double ties_away(enum format f, double x)
{
    double even = format_round(f, x),
           other = x > even ? format_next_up(f, even) : format_next_down(f, even);
    bool tie = isfinite(even) && even != x && fabs(other - x) == fabs(x - even);
    return tie && fabs(other) > fabs(even) ? other : even;
}

static double through_single(enum format f, double x)
{
    return f == FP64 ? x : format_round(f, (float)x);
}

static double flushed(enum format f, double x)
{
    double rounded = format_round(f, x);
    return fabs(rounded) < format_facts[f].smallest_normal ? copysign(0, rounded) : rounded;
}

static double towards_zero(enum format f, double x)
{
    double nearest = format_round(f, x);
    if (!isfinite(x) || !(fabs(nearest) > fabs(x)))
        return nearest;
    return nearest > 0 ? format_next_down(f, nearest) : format_next_up(f, nearest);
}

static double unrounded(enum format f, double x)
{
    (void)f;
    return x;
}

static enum status serial_ties_away(const struct task *t, struct problem *p)
{
    (void)p;
    return serial(t, format_round, ties_away);
}

/* Sums of two narrow numbers survive the way through fp32; elements do not. */
static enum status serial_through_single(const struct task *t, struct problem *p)
{
    (void)p;
    return serial(t, through_single, format_round);
}

static enum status serial_flushed(const struct task *t, struct problem *p)
{
    (void)p;
    return serial(t, format_round, flushed);
}

static enum status serial_towards_zero(const struct task *t, struct problem *p)
{
    (void)p;
    return serial(t, format_round, towards_zero);
}

static enum status serial_unrounded(const struct task *t, struct problem *p)
{
    (void)p;
    return serial(t, unrounded, format_round);
}

/* --- what is promised --- */

static enum status every_other_run(const struct task *t, struct problem *p)
{
    static unsigned run;
    return method_named(run++ % 2 ? "sum/sequential" : "sum/interleaved")->cpu(t, p);
}

/* The threads' shares become part of the order. */
static enum status share_by_share(const struct task *t, struct problem *p)
{
    enum format f = t->out.format;
    size_t share = t->of->in.n / t->shape.threads;
    double sum = 0;
    for (size_t k = 0, begin = 0; k < t->shape.threads; k++, begin += share) {
        size_t end = k + 1 == t->shape.threads ? t->of->in.n : begin + share;
        uint64_t bits = 0;
        char *data = (char *)t->of->in.data + array_bytes(t->of->in.format, begin);
        struct task part = {.of = &(struct operands){.in = {t->of->in.format, end - begin, data}},
                            .out = {f, 1, &bits},
                            .accumulator = f,
                            .shape = {1, 0}};
        enum status status = method_named("sum/tiled")->cpu(&part, p);
        if (status != STATUS_OK)
            return status;
        sum = k == 0 ? format_decode(f, bits) : format_add(f, sum, format_decode(f, bits));
    }
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

static enum status negative_nothing(const struct task *t, struct problem *p)
{
    if (t->of->in.n > 0)
        return method_named("sum/pairwise")->cpu(t, p);
    array_encode(&t->out, 0, 1, &(double){-0.0});
    return STATUS_OK;
}

#define BREAK(name, member, value)                                                                 \
    static void name(struct method *m)                                                             \
    {                                                                                              \
        m->member = value;                                                                         \
    }
BREAK(break_drops_last, cpu, drops_last)
BREAK(break_swaps_tiles, cpu, swaps_tiles)
BREAK(break_pads, cpu, pads_with_zero)
BREAK(break_starts, cpu, starts_from_zero)
BREAK(break_loses, cpu, loses_an_update)
BREAK(break_adjacent, order, order_adjacent_groups)
BREAK(break_twice, order, order_one_twice)
BREAK(break_without_last, order, order_without_last)
BREAK(break_height_more, height, height_one_more)
BREAK(break_height_balanced, height, height_balanced)
BREAK(break_unrounded, cpu, serial_unrounded)
BREAK(break_ties, cpu, serial_ties_away)
BREAK(break_single, cpu, serial_through_single)
BREAK(break_flush, cpu, serial_flushed)
BREAK(break_truncate, cpu, serial_towards_zero)
BREAK(break_runs, cpu, every_other_run)
BREAK(break_shares, cpu, share_by_share)
BREAK(break_nothing, cpu, negative_nothing)
BREAK(break_exaggerate, promise, PROMISE_GPU_TO_GPU)

const struct mutant mutants[] = {
    {"drops the last element of a tile that is not full", "sum/tiled", break_drops_last,
     holds_walk},
    {"swaps two tiles", "sum/tiled", break_swaps_tiles, holds_walk},
    {"replaces missing elements by +0", "sum/shuffle", break_pads, holds_walk},
    {"replaces missing elements by +0", "sum/shuffle", break_pads, holds_edges},
    {"starts from +0", "sum/serial", break_starts, holds_walk},
    {"starts from +0", "sum/serial", break_starts, holds_edges},
    {"gives -0 for nothing", "sum/pairwise", break_nothing, holds_edges},
    {"loses an update", "sum/atomic", break_loses, holds_bound},
    {"declares the order of another method", "sum/sequential", break_adjacent, holds_walk},
    {"declares an order with one element twice", "sum/serial", break_twice, holds_order},
    {"declares an order without the last element", "sum/serial", break_without_last, holds_order},
    {"declares an order with one element twice", "sum/serial", break_twice, holds_walk},
    {"declares a height of one more", "sum/two_kernel", break_height_more, holds_order},
    {"declares the height of another order", "sum/serial", break_height_balanced, holds_order},
    {"declares the height of another order", "sum/serial", break_height_balanced, holds_bound},
    {"adds elements unrounded", "sum/serial", break_unrounded, holds_walk},
    {"rounds ties of sums away from zero", "sum/serial", break_ties, holds_walk},
    {"rounds elements to fp32 first", "sum/serial", break_single, holds_walk},
    {"flushes subnormal sums", "sum/serial", break_flush, holds_walk},
    {"rounds sums towards zero", "sum/serial", break_truncate, holds_walk},
    {"gives other bits every other run", "sum/sequential", break_runs, holds_promise},
    {"lets the threads' shares into the order", "sum/tiled", break_shares, holds_promise},
    {"promises more than it keeps", "sum/sequential", break_exaggerate, holds_promise},
};
const size_t mutant_count = sizeof mutants / sizeof *mutants;
