#include "tests/support/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/inputs/input.h"
#include "kernels/method/matrix.h"
#include "reference/measure/scan.h"
#include "tests/support/samples.h"

static bool failed(const struct statistic_case *c, char why[WHY], size_t output, const char *what)
{
    return not_held(why, c->method, c->in.format, c->accumulator, c->in.n, c->shape,
                    "%zu rows, stride %zu, sample %s, output %zu: %s", c->rows, c->stride,
                    c->sample ? c->sample : "-", output, what);
}

size_t statistic_outputs(const struct statistic_case *c)
{
    return c->method->operation->outputs(c->in.n, c->rows);
}

bool statistic_run(const struct statistic_case *c, const struct array *out, char why[WHY])
{
    struct operands of = {.in = c->in, .bins = c->rows, .stride = c->stride};
    struct task task = {.of = &of,
                        .out = *out,
                        .method = c->method,
                        .accumulator = c->accumulator,
                        .shape = c->shape};
    memset(out->data, 0x55, array_bytes(out->format, out->n));
    return c->method->cpu(&task, NULL) == STATUS_OK || failed(c, why, 0, "it could not be run");
}

struct rows {
    const struct statistic_case *of;
    uint32_t place[STATISTIC_MOST];
    struct by_bin by_bin;
    struct row_values values;
};

static size_t height(const void *context, size_t output)
{
    const struct rows *r = context;
    size_t row = row_values_row(&r->values, output);
    return r->of->method->bin_height(NULL, by_bin_count(&r->by_bin, row), r->of->in.n, r->of->rows);
}

/* Which output has the bits of its exact value not. */
static size_t not_rounded(const struct rows *r, const struct array *out)
{
    for (size_t i = 0; i < out->n; i++) {
        double due = check_rounded_once(r->values.value[i].sum, r->of->accumulator);
        if (format_canonical(out->format, array_bits(out, i)) !=
            format_canonical(out->format, format_encode(out->format, due)))
            return i;
    }
    return out->n;
}

static void rows_free(struct rows *r)
{
    if (!r)
        return;
    row_values_free(&r->values);
    by_bin_free(&r->by_bin);
    free(r);
}

/* The exact values of a case: the method may be another one of the operation later. */
static struct rows *rows_new(const struct statistic_case *c)
{
    struct rows *r = calloc(1, sizeof *r);
    const struct operation *operation = c->method->operation;
    size_t length = matrix_length(c->in.n, c->rows);
    for (size_t i = 0; r && i < c->in.n; i++)
        r->place[i] = (uint32_t)matrix_row(i, length, c->stride);
    if (r && by_bin_make(&r->by_bin, r->place, c->in.n, c->rows, NULL) == STATUS_OK &&
        row_values_make(&r->values, operation->of, operation_of_each(operation), &c->in, &r->by_bin,
                        r->place, 1, NULL) == STATUS_OK)
        return r;
    free(r);
    return NULL;
}

static bool within(struct rows *r, const struct statistic_case *c, const struct array *out,
                   char why[WHY])
{
    struct scan scan = {.in = c->in, .by_bin = &r->by_bin, .values = &r->values};
    struct scan_output output = {.out = *out,
                                 .accumulator = c->accumulator,
                                 .bound = c->method->bound,
                                 .height = height,
                                 .context = r};
    struct scan_measure m;
    char what[64];
    r->of = c;
    if (measure_scatter(&m, &output, 1, &scan, 1, NULL) != STATUS_OK)
        return failed(c, why, 0, "it could not be measured");
    snprintf(what, sizeof what, "error over bound %.3g", m.err_over_bound.value);
    if (m.broken > 0)
        return failed(c, why, m.first_broken, what);
    size_t wrong = c->method->promise == PROMISE_CORRECTLY_ROUNDED ? not_rounded(r, out) : out->n;
    if (wrong == out->n)
        return true;
    snprintf(what, sizeof what, "found %a, not rounded once", array_get(out, wrong));
    return failed(c, why, wrong, what);
}

bool statistic_holds(const struct statistic_case *c, const struct array *out, char why[WHY])
{
    struct rows *r = rows_new(c);
    bool fine = r ? within(r, c, out, why) : failed(c, why, 0, "it has no exact values");
    rows_free(r);
    return fine;
}

/* Rows, their length, and the stride. */
static const size_t shapes[][3] = {{1, 1, 1},   {1, 300, 1},  {6, 50, 3},   {7, 33, 7},
                                   {2, 257, 2}, {1, 2100, 1}, {40, 12, 40}, {3, 129, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct work {
    struct statistic_case c;
    struct array out;
    double in[STATISTIC_MOST], out_data[STATISTIC_MOST], other[STATISTIC_MOST];
};

static struct work *work_new(const struct method *m, size_t shape)
{
    struct work *w = calloc(1, sizeof *w);
    const size_t *s = shapes[shape % SHAPES];
    w->c = (struct statistic_case){.method = m, .rows = s[0], .stride = s[2]};
    w->c.in = (struct array){FP32, s[0] * s[1], w->in};
    return w;
}

/* Methods of one operation. */
struct methods {
    const struct method *const *method;
    size_t count;
};

static bool supports(const struct method *m, enum format s, enum format f)
{
    return method_supports(m, DEVICE_CPU, s, f);
}

/* Each method on one input, of which the exact values are computed once. */
static bool held(struct work *w, const struct methods *all, char why[WHY])
{
    struct rows *r = rows_new(&w->c);
    bool fine = r || failed(&w->c, why, 0, "it has no exact values");
    for (size_t i = 0; i < all->count && fine; i++) {
        w->c.method = all->method[i];
        if (!supports(w->c.method, w->c.in.format, w->c.accumulator))
            continue;
        w->c.shape = method_shape(w->c.method, DEVICE_CPU, w->c.in.n, (struct shape){0});
        w->out = (struct array){w->c.accumulator, statistic_outputs(&w->c), w->out_data};
        fine = statistic_run(&w->c, &w->out, why) && within(r, &w->c, &w->out, why);
    }
    rows_free(r);
    return fine;
}

/* Exponentials, and elements that are divided by a root, take long: a seventh of their cases. */
static bool left_out(const struct method *m, size_t at)
{
    return exact_facts[m->operation->of].form == FORM_ROW && at % 7 != 0;
}

static bool on_inputs(const struct methods *all, size_t shape, enum format s, enum format f,
                      char why[WHY])
{
    bool fine = true;
    const struct method *m = *all->method;
    struct work *w = work_new(m, shape);
    struct input input;
    size_t some = exact_facts[m->operation->of].form == FORM_ROW ? 5 : 3;
    w->c.in.format = s;
    w->c.accumulator = f;
    for (size_t i = 0; i < input_family_count && fine; i++) {
        if ((i + shape + s + f) % some != 0 || /* others in each shape and pair */
            input_parse(&input, input_families[i]->name, NULL) != STATUS_OK ||
            input_generate(&input, &w->c.in, i + 1, 0, NULL) != STATUS_OK)
            continue; /* the family may not have a member of this size in this format */
        w->c.sample = input_families[i]->name;
        fine = held(w, all, why);
    }
    /* A bound for each element takes long too: a third, others in each shape and pair. */
    size_t samples = operation_of_each(m->operation) ? 3 : 1;
    for (enum sample k = (shape + s + f) / 7 % samples; k < SAMPLES && fine; k += samples) {
        w->c.sample = sample_name[k];
        sample_fill(&w->c.in, k, f, shape + 7 * s + f);
        fine = held(w, all, why);
    }
    free(w);
    return fine;
}

static bool any_supports(const struct methods *all, enum format s, enum format f)
{
    for (size_t i = 0; i < all->count; i++)
        if (supports(all->method[i], s, f))
            return true;
    return false;
}

bool holds_statistic_bounds(const struct method *const *m, size_t count, char why[WHY])
{
    const struct methods all = {m, count};
    bool fine = true;
    for (size_t shape = 0; shape < SHAPES && fine; shape++)
        for (enum format s = 0; s < FORMATS && fine; s++)
            for (enum format f = 0; f < ACCUMULATORS && fine; f++)
                if (any_supports(&all, s, f) && !left_out(*m, shape + s + f))
                    fine = on_inputs(&all, shape, s, f, why);
    return fine;
}

/* The outputs of a row: one, or as many as it has elements. */
static bool same_row(const struct work *w, const struct array *other, size_t row, size_t stride,
                     size_t other_row)
{
    size_t length = matrix_length(w->c.in.n, w->c.rows);
    if (!operation_of_each(w->c.method->operation))
        return format_canonical(w->out.format, array_bits(&w->out, row)) ==
               format_canonical(other->format, array_bits(other, other_row));
    for (size_t k = 0; k < length; k++)
        if (format_canonical(w->out.format,
                             array_bits(&w->out, matrix_at(row, k, length, w->c.stride))) !=
            format_canonical(other->format,
                             array_bits(other, matrix_at(other_row, k, length, stride))))
            return false;
    return true;
}

/* Each row alone, in one row of a matrix of its own. */
static bool alone(struct work *w, char why[WHY])
{
    size_t length = matrix_length(w->c.in.n, w->c.rows);
    double row[STATISTIC_MOST];
    struct statistic_case one = w->c;
    struct array out = {w->out.format, one.method->operation->outputs(length, 1), w->other};
    one.rows = one.stride = 1;
    one.in = (struct array){w->c.in.format, length, row};
    for (size_t r = 0; r < w->c.rows; r++) {
        for (size_t k = 0; k < length; k++)
            array_set_bits(&one.in, k, array_bits(&w->c.in, matrix_at(r, k, length, w->c.stride)));
        if (!statistic_run(&one, &out, why))
            return false;
        if (!same_row(w, &out, r, 1, 0))
            return failed(&w->c, why, r, "another result than of the row alone");
    }
    return true;
}

bool holds_statistic_promise(const struct method *m, char why[WHY])
{
    bool fine = true;
    if (m->promise < PROMISE_GPU_TO_GPU)
        return true;
    for (size_t shape = 0; shape < SHAPES && fine; shape++)
        for (enum format f = 0; f < ACCUMULATORS && fine; f++)
            for (enum sample k = 0; k < SAMPLES && fine; k++) {
                if (left_out(m, shape + k))
                    continue;
                struct work *w = work_new(m, shape);
                w->c.in.format = w->c.accumulator = f;
                w->c.sample = sample_name[k];
                sample_fill(&w->c.in, k, f, 3 * shape + f);
                w->out = (struct array){f, statistic_outputs(&w->c), w->out_data};
                w->c.shape.threads = 1;
                fine = statistic_run(&w->c, &w->out, why);
                struct array other = {f, w->out.n, w->other};
                for (unsigned threads = 2; threads <= 5 && fine; threads += 3) {
                    w->c.shape.threads = threads;
                    fine = statistic_run(&w->c, &other, why);
                    for (size_t r = 0; r < w->c.rows && fine; r++)
                        fine = same_row(w, &other, r, w->c.stride, r) ||
                               failed(&w->c, why, r, "another result than on one thread");
                }
                w->c.shape.threads = 1;
                fine = fine && alone(w, why);
                free(w);
            }
    return fine;
}
