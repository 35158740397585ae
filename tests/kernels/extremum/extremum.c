/* Minima, maxima and their indices: every method against the definition, whatever the schedule; and
 * that the checks can fail. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/extremum/extremum.h"
#include "kernels/blocks/tiled.h"
#include "tests/support/holds.h"
#include "tests/support/extremes.h"
#include "tests/mutants/caught.h"
#include "tests/support/samples.h"

/* ---- ranks ---- */

/* Ranks and back, of every encoding of 16 bits; neighbours in value are neighbours in rank. */
Test(extremum, ranks_are_ordered_as_values_are)
{
    for (enum exact_value of = EXACT_MINIMUM; of <= EXACT_ARGMAX; of++)
        for (uint64_t bits = 0; bits < 1 << 16; bits++) {
            double x = format_decode(FP16, bits), up = format_next_up(FP16, x);
            int64_t rank = extremum_rank(of, x);
            double back = extremum_ranked(of, rank);
            cr_assert(isnan(x) ? isnan(back) : double_bits(back) == double_bits(x), "%a", x);
            bool down = of == EXACT_MAXIMUM || of == EXACT_MAXIMUM_NUMBER || of == EXACT_ARGMAX;
            if (x < up)
                cr_assert((rank < extremum_rank(of, up)) != down, "%a in %d", x, (int)of);
        }
}

/* ---- methods ---- */

static bool run_array(const struct method *m, const struct array *in, size_t step, double due,
                      const char *what, char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(m, in->n, shape);
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t k = f % (step < shapes ? step : shapes); k < shapes; k += step) {
            uint64_t got = 0;
            if (!method_supports(m, DEVICE_CPU, in->format, f))
                continue;
            if (run_method_once(m, in, f, shape[k], &got) != STATUS_OK)
                return not_held(why, m, in->format, f, in->n, shape[k], "it could not be run");
            if (got != format_encode(f, due))
                return not_held(why, m, in->format, f, in->n, shape[k], "%s: %#" PRIx64 ", not %a",
                                what, got, due);
        }
    return true;
}

/* Random arrays of all kinds, and of few different values, so that there are many ties. */
static bool holds_random(const struct method *m, char why[WHY])
{
    static const size_t lengths[] = {0, 1, 2, 3, 31, 100, 255, 257, 600};
    static const double few[] = {1, -1, 0.0, -0.0, INFINITY, -INFINITY, NAN, 2};
    double data[600];
    uint64_t seed = 17;
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (int kind = 0; kind <= SAMPLES + 2; kind++) {
                struct array in = {s, lengths[l], data};
                if (kind < SAMPLES)
                    sample_fill(&in, kind, s, sample_next(&seed));
                for (size_t i = 0; kind >= SAMPLES && i < in.n; i++) /* without NaN or inf too */
                    array_encode(&in, i, 1,
                                 &few[sample_next(&seed) % (kind == SAMPLES       ? 8
                                                            : kind == SAMPLES + 1 ? 6
                                                                                  : 4)]);
                double due = extreme_due(m->operation->of, &in);
                if (!run_array(m, &in, 3, due, kind < SAMPLES ? sample_name[kind] : "ties", why))
                    return false;
            }
    return true;
}

/* What is sought at two places among others, about where blocks, rows and tiles end; NaNs, where
 * they lose, everywhere else. */
static bool holds_places(const struct method *m, char why[WHY])
{
    static const size_t place[] = {0, 255, 256, 1023, 1024, 2047, 2048, 4999};
    static double data[5000];
    enum { PLACES = sizeof place / sizeof *place };
    enum exact_value of = m->operation->of;
    bool least = of == EXACT_MINIMUM || of == EXACT_MINIMUM_NUMBER || of == EXACT_ARGMIN;
    bool index = of == EXACT_ARGMIN || of == EXACT_ARGMAX;
    bool number = of == EXACT_MINIMUM_NUMBER || of == EXACT_MAXIMUM_NUMBER;
    for (size_t a = 0; a < PLACES; a++)
        for (size_t b = a; b < PLACES; b++)
            for (int what = 0; what < 3; what++) {
                struct array in = {(a + b) % ACCUMULATORS, 5000, data};
                double other = number ? NAN : what == 1 ? (least ? 0.0 : -0.0) : 1;
                double sought = what == 0   ? (least ? -3 : 3)
                                : what == 1 ? (least ? -0.0 : 0.0)
                                : number    ? 1
                                            : NAN;
                for (size_t i = 0; i < in.n; i++)
                    array_encode(&in, i, 1, &other);
                array_encode(&in, place[a], 1, &sought);
                array_encode(&in, place[b], 1, &sought);
                if (!run_array(m, &in, 4, index ? (double)place[a] : sought, "two places", why))
                    return false;
            }
    return true;
}

/* Ties among all elements, time and again: the first stays, whoever comes first. */
static bool holds_ties(const struct method *m, char why[WHY])
{
    static double data[20000];
    struct array in = {FP64, 20000, data};
    for (size_t i = 0; i < in.n; i++)
        data[i] = i < 7 ? 0 : i % 2 ? 5 : -5;
    bool least = m->operation->of == EXACT_ARGMIN;
    for (int run = 0; run < 20; run++)
        if (!run_array(m, &in, 1, least ? 8 : 7, "ties", why))
            return false;
    return true;
}

static void expect_each(bool elements, size_t values,
                        bool (*check)(const struct method *m, char why[WHY]))
{
    char why[WHY] = "";
    size_t checked = 0;
    for (size_t i = 0; i < method_count; i++) {
        enum exact_form form = exact_facts[method_registry[i]->operation->of].form;
        if (form != FORM_INDEX && !(elements && form == FORM_ELEMENT))
            continue;
        cr_expect(check(method_registry[i], why), "%s", why);
        checked++;
    }
    cr_expect(checked >= 4 * values, "%zu", checked);
}

Test(extremum, of_random_arrays)
{
    expect_each(true, 6, holds_random);
}

Test(extremum, wherever_it_stands)
{
    expect_each(true, 6, holds_places);
}

Test(extremum, the_first_of_equals)
{
    expect_each(false, 2, holds_ties);
}

/* An index beyond what fp32 holds. */
Test(extremum, an_index_that_fp32_does_not_hold)
{
    enum { FAR = (1 << 24) + 5 };
    struct array in = {FP16, FAR, calloc(FAR, 2)};
    cr_assert(in.data != NULL);
    array_encode(&in, (1 << 24) + 1, 1, &(double){-1});
    const char *const name[] = {"argmin/serial", "argmin/tree", "argmin/two_kernel",
                                "argmin/atomic"};
    for (size_t i = 0; i < 4; i++) {
        const struct method *m = method_named(name[i]);
        uint64_t got = 0;
        struct shape shape = method_shape(m, DEVICE_CPU, FAR, (struct shape){0, 0});
        cr_expect(run_method_once(m, &in, FP64, shape, &got) == STATUS_OK &&
                      double_from_bits(got) == (1 << 24) + 1,
                  "%s: %a", name[i], double_from_bits(got));
    }
    free(in.data);
}

/* ---- mutants ---- */

/* The loop of textbooks: a NaN is never less, and neither is -0. */
static enum status compares_values(const struct task *t, struct problem *p)
{
    (void)p;
    double best = INFINITY;
    for (size_t i = 0; i < t->of->in.n; i++)
        best = array_get(&t->of->in, i) < best ? array_get(&t->of->in, i) : best;
    array_encode(&t->out, 0, 1, &best);
    return STATUS_OK;
}

static enum status last_of_equals(const struct task *t, struct problem *p)
{
    (void)p;
    size_t at = 0;
    for (size_t i = 1; i < t->of->in.n; i++)
        if (extremum_rank(EXACT_ARGMIN, array_get(&t->of->in, i)) <=
            extremum_rank(EXACT_ARGMIN, array_get(&t->of->in, at)))
            at = i;
    array_encode(&t->out, 0, 1, &(double){t->of->in.n ? (double)at : -1});
    return STATUS_OK;
}

static enum status index_in_fp16(const struct task *t, struct problem *p)
{
    enum status status = method_named("argmin/tree")->cpu(t, p);
    array_encode(&t->out, 0, 1, &(double){format_round(FP16, array_get(&t->out, 0))});
    return status;
}

static enum status as_other(const char *name, const struct task *t)
{
    return method_named(name)->cpu(t, NULL);
}

static enum status nan_wins(const struct task *t, struct problem *p)
{
    (void)p;
    return as_other("minimum/serial", t);
}

static enum status nan_loses(const struct task *t, struct problem *p)
{
    (void)p;
    return as_other("maximum_number/tree", t);
}

static enum status drops_last(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    of.in.n -= t->of->in.n > TILE;
    return method_named("maximum/tree")->cpu(&other, p);
}

static enum status of_nothing_0(const struct task *t, struct problem *p)
{
    enum status status = method_named("argmax/serial")->cpu(t, p);
    if (t->of->in.n == 0)
        array_encode(&t->out, 0, 1, &(double){0});
    return status;
}

/* The first block's result: depends on the launch shape. */
static enum status reads_shape(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    if (t->shape.threads > 1 && t->of->in.n > 10)
        of.in.n -= 10;
    return method_named("minimum/tree")->cpu(&other, p);
}

static enum status depends_on_order(const struct task *t, struct problem *p)
{
    (void)p;
    array_encode(&t->out, 0, 1, &(double){t->of->in.n ? array_get(&t->of->in, 0) : INFINITY});
    return STATUS_OK;
}

#define BREAK(function)                                                                            \
    static void break_##function(struct method *m)                                                 \
    {                                                                                              \
        m->cpu = function;                                                                         \
    }
BREAK(compares_values)
BREAK(last_of_equals)
BREAK(index_in_fp16)
BREAK(nan_wins)
BREAK(nan_loses)
BREAK(drops_last)
BREAK(of_nothing_0)
BREAK(reads_shape)
BREAK(depends_on_order)

static const struct mutant mutant[] = {
    {"compares values alone", "minimum/serial", break_compares_values, holds_random},
    {"compares values alone", "minimum/serial", break_compares_values, holds_places},
    {"takes the last of equals", "argmin/atomic", break_last_of_equals, holds_random},
    {"takes the last of equals", "argmin/atomic", break_last_of_equals, holds_places},
    {"takes the last of equals", "argmin/atomic", break_last_of_equals, holds_ties},
    {"rounds the index", "argmin/tree", break_index_in_fp16, holds_places},
    {"lets a NaN win", "minimum_number/tree", break_nan_wins, holds_random},
    {"lets a NaN lose", "maximum/tree", break_nan_loses, holds_random},
    {"drops the last element", "maximum/tree", break_drops_last, holds_places},
    {"is 0 of nothing", "argmax/serial", break_of_nothing_0, holds_random},
    {"depends on the launch shape", "minimum/tree", break_reads_shape, holds_promise},
    {"depends on the order", "minimum/serial", break_depends_on_order, holds_permuted},
    {"is off", "minimum/serial", break_depends_on_order, holds_bound},
};

Test(extremum, every_mutant_is_caught)
{
    mutants_expect_caught(mutant, sizeof mutant / sizeof *mutant);
}
