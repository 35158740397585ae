#include "tests/support/matrices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "reference/measure/measure.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

bool matrix_takes(const struct method *m)
{
    return (m->operation->matrix || m->operation->mask) && !m->operation->of_rows;
}

static bool failed(const struct matrix_case *c, char why[WHY], size_t output, const char *what)
{
    return not_held(why, c->method, c->in.format, c->accumulator, c->in.n, c->shape,
                    "%zu rows, stride %zu, sample %s, output %zu: %s", c->bins, c->stride,
                    c->sample ? c->sample : "-", output, what);
}

/* Rows, their length, and the stride. */
static const size_t shapes[][3] = {
    {1, 1, 1},     {7, 1, 1},     {1, 7, 1},       {5, 0, 5},    {3, 7, 1},     {3, 7, 3},
    {6, 50, 2},    {6, 50, 3},    {31, 33, 1},     {33, 31, 33}, {64, 64, 64},  {65, 63, 1},
    {63, 65, 63},  {64, 129, 8},  {2, 255, 1},     {2, 257, 2},  {300, 2, 300}, {4, 2047, 1},
    {4, 2048, 2},  {3, 2049, 3},  {2, 4100, 1},    {2, 4352, 2}, {40, 256, 40}, {12, 1025, 4},
    {128, 128, 1}, {1, 19001, 1}, {9000, 1, 9000}, {4000, 3, 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

bool matrix_sample(struct matrix_case *c, size_t k)
{
    const size_t *s = shapes[k % SHAPES];
    uint64_t state = k;
    bool moved = c->method->operation != &operation_rows;
    c->in.format = (enum format)(k / SHAPES % ACCUMULATORS);
    c->accumulator = moved ? c->in.format : (enum format)((k / SHAPES + k) % ACCUMULATORS);
    c->in.n = s[0] * s[1];
    c->bins = s[0];
    c->stride = s[2];
    enum sample kind = moved ? SAMPLE_BITS : (enum sample)((k + k / SHAPES) % SAMPLES);
    c->sample = sample_name[kind];
    sample_fill(&c->in, kind, c->accumulator, k);
    if (c->method->operation->mask) {
        c->bins = 0;
        for (size_t i = 0; i < c->in.n; i++) {
            uint64_t x = sample_next(&state) >> 7;
            bool kept = k % 5 == 0 || (k % 5 == 1 ? x % 100 == 0 : k % 5 == 2 ? i > 5000 : x & 1);
            c->mask[i] = kept ? (uint8_t)(1 + x % 255) : 0;
            c->bins += c->mask[i] != 0;
        }
    }
    return !c->method->cpu || method_supports(c->method, DEVICE_CPU, c->in.format, c->accumulator);
}

size_t matrix_outputs(const struct matrix_case *c)
{
    return c->method->operation->outputs(c->in.n, c->bins);
}

enum status matrix_run(const struct matrix_case *c, const struct array *out)
{
    struct task task = {.of =
                            &(struct operands){.in = c->in,
                                               .mask = c->method->operation->mask ? c->mask : NULL,
                                               .bins = c->bins,
                                               .stride = c->stride},
                        .out = *out,
                        .accumulator = c->accumulator,
                        .shape = c->shape};
    memset(out->data, 0x55, array_bytes(out->format, out->n));
    return c->method->cpu(&task, NULL);
}

/* ---- what is due ---- */

/* The elements of a row, as doubles, found by counting through the array. */
static size_t gather(const struct matrix_case *c, size_t row, double *x)
{
    size_t count = 0, length = c->in.n / c->bins, at = 0;
    for (size_t batch = 0; batch < c->bins / c->stride; batch++)
        for (size_t k = 0; k < length; k++)
            for (size_t i = 0; i < c->stride; i++, at++)
                if (batch * c->stride + i == row)
                    x[count++] = array_get(&c->in, at);
    return count;
}

static bool is_sum(const struct matrix_case *c, size_t row, double got, char why[WHY])
{
    static double x[MATRIX_MOST];
    char what[128];
    struct array a = {FP64, gather(c, row, x), x};
    bool exact = c->method->promise == PROMISE_CORRECTLY_ROUNDED;
    double due = 0;
    if (exact) {
        mpfr_t sum;
        mpfr_init2(sum, MPFR_PREC_MIN);
        oracle_sum(sum, &a, false);
        due = a.n > 0 ? oracle_round(c->accumulator, sum) : 0;
        mpfr_clear(sum);
    } else {
        uint64_t bits = 0;
        struct task task = {.of = &(struct operands){.in = a},
                            .out = {c->accumulator, 1, &bits},
                            .accumulator = c->accumulator,
                            .shape = {1, 0}};
        bool serial = strcmp(c->method->name, "rows/serial") == 0;
        if (method_named(serial ? "sum/serial" : "sum/tiled")->cpu(&task, NULL) != STATUS_OK)
            return failed(c, why, row, "no sum of it alone");
        due = format_decode(c->accumulator, bits);
    }
    snprintf(what, sizeof what, "found %a, expected %a", got, due);
    return same_double(got, due) || failed(c, why, row, what);
}

static bool within_bound(const struct matrix_case *c, size_t row, double got, char why[WHY])
{
    static double x[MATRIX_MOST];
    struct array a = {FP64, gather(c, row, x), x};
    struct reference r;
    struct measure m;
    const struct method *method = c->method;
    bool flushes = c->there && method->atomic && c->accumulator == FP32;
    struct theorem theorem = {.kind = method->bound,
                              .flushing = flushes ? c->in.n : 0,
                              .height = method->bin_height && a.n > 0
                                            ? method->bin_height(NULL, a.n, c->in.n, c->bins)
                                            : 0};
    if (reference_compute(&r, &a, REFERENCE_MPFR, NULL) != STATUS_OK)
        return failed(c, why, row, "no reference");
    measure(&m, &r, c->in.format, c->accumulator, got, &theorem);
    reference_free(&r);
    return !m.broken || failed(c, why, row, "its theorem is broken");
}

/* Moved elements: bit by bit, in an order of their own. */
static bool moved(const struct matrix_case *c, const struct array *out, char why[WHY])
{
    char what[128];
    size_t at = 0, columns = c->bins > 0 ? c->in.n / c->bins : 0;
    bool fine = true;
    for (size_t i = 0; i < c->in.n && fine; i++) {
        if (c->method->operation->mask && !c->mask[i])
            continue;
        size_t to = c->method->operation->mask ? at++ : i % columns * c->bins + i / columns;
        uint64_t got = array_bits(out, to), due = array_bits(&c->in, i);
        snprintf(what, sizeof what, "found %#llx, expected %#llx", (unsigned long long)got,
                 (unsigned long long)due);
        fine = got == due || failed(c, why, to, what);
    }
    return fine;
}

bool matrix_holds(const struct matrix_case *c, const struct array *out, char why[WHY])
{
    if (c->method->operation != &operation_rows)
        return moved(c, out, why);
    /* A library may keep its bits from run to run in an order that it does not tell. */
    bool fixed = c->method->promise > PROMISE_NONE && c->method->bound != THEOREM_ANY_ORDER;
    bool fine = true;
    /* A row is looked for in the whole array: of many rows some. */
    size_t step = c->bins > 400 ? 97 : 1;
    for (size_t r = 0; r < c->bins && fine; r += step)
        fine = (fixed ? is_sum : within_bound)(c, r, array_get(out, r), why);
    return fine;
}

/* ---- checks ---- */

struct work {
    struct matrix_case c;
    struct array out;
    double in_data[MATRIX_MOST], out_data[MATRIX_MOST];
};

static struct work *work_new(const struct method *m)
{
    struct work *w = calloc(1, sizeof *w);
    w->c.method = m;
    w->c.in.data = w->in_data;
    return w;
}

static bool run(struct work *w, char why[WHY])
{
    w->out = (struct array){w->c.accumulator, matrix_outputs(&w->c), w->out_data};
    return matrix_run(&w->c, &w->out) == STATUS_OK || failed(&w->c, why, 0, "it could not be run");
}

static void default_shape(struct matrix_case *c)
{
    c->shape = method_shape(c->method, DEVICE_CPU, c->in.n, (struct shape){0});
}

bool holds_matrix_bits(const struct method *m, char why[WHY])
{
    struct work *w = work_new(m);
    bool fine = true;
    for (size_t k = 0; k < MATRIX_SAMPLES && fine; k++) {
        if (!matrix_sample(&w->c, k))
            continue;
        default_shape(&w->c);
        fine = run(w, why) && matrix_holds(&w->c, &w->out, why);
    }
    free(w);
    return fine;
}

static bool family_within_bound(struct work *w, size_t family, char why[WHY])
{
    static const size_t rows[] = {1, 6, 60, 2}, lengths[] = {300, 50, 5, 130},
                        strides[] = {1, 3, 60, 2};
    struct matrix_case *c = &w->c;
    struct input input;
    if (input_parse(&input, input_families[family]->name, NULL) != STATUS_OK)
        return failed(c, why, 0, "no input");
    c->sample = input_families[family]->name;
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        size_t k = (family + f) % 4;
        c->bins = rows[k];
        c->stride = strides[k];
        c->in = (struct array){f, rows[k] * lengths[k], w->in_data};
        if (input_generate(&input, &c->in, family + 1, 0, NULL) != STATUS_OK)
            continue; /* the family may not have a member of this size in this format */
        default_shape(c);
        for (c->accumulator = 0; c->accumulator < ACCUMULATORS; c->accumulator++) {
            if (!method_supports(c->method, DEVICE_CPU, f, c->accumulator))
                continue;
            if (!run(w, why))
                return false;
            for (size_t r = 0; r < c->bins; r++)
                if (!within_bound(c, r, array_get(&w->out, r), why))
                    return false;
        }
    }
    return true;
}

bool holds_matrix_bound(const struct method *m, char why[WHY])
{
    if (m->operation != &operation_rows)
        return holds_matrix_bits(m, why);
    struct work *w = work_new(m);
    bool fine = true;
    for (size_t i = 0; i < input_family_count && fine; i++)
        fine = family_within_bound(w, i, why);
    free(w);
    return fine;
}
