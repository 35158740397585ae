/* What has more results than there is time for is tried in part: each result is of its own terms.
 * Of a product it is the elements of evenly spaced rows and columns, of statistics drawn rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/runs/runner.h"
#include "experiments/inputs/philox.h"
#include "experiments/studies/recommend/outputs.h"
#include "experiments/system/clock.h"
#include "experiments/system/memory.h"
#include "kernels/method/matrix.h"

/* Time for so many arrays on all candidates is enough: the data and some orders of it; the chosen
 * candidate meets all others. So few elements, and so few products, are always tried, and so few
 * elements of rows. */
enum { ARRAYS = 4, ELEMENTS = 16, TERMS = 1 << 18, OF_ROWS = 1 << 12 };

/* Rows 0, step, 2 step, ... of A, and columns of B, and what C is made of. */
static enum status take_part(struct array *to, const struct array *from,
                             const struct gemm_shape *is, const struct gemm_shape *was,
                             const size_t step[2], struct problem *p)
{
    const bool c = !was->no_c && from->n >= gemm_elements(was);
    enum status status = memory_array(to, from->format, c ? gemm_elements(is) : gemm_c_begins(is),
                                      "part of a product", p);
    if (status != STATUS_OK)
        return status;
    for (size_t k = 0; k < is->k; k++) {
        for (size_t i = 0; i < is->m; i++)
            array_set_bits(to, gemm_a_at(is, i, k),
                           array_bits(from, gemm_a_at(was, i * step[0], k)));
        for (size_t j = 0; j < is->n; j++)
            array_set_bits(to, gemm_b_at(is, k, j),
                           array_bits(from, gemm_b_at(was, k, j * step[1])));
    }
    for (size_t i = 0; c && i < is->m * is->n; i++)
        array_set_bits(to, gemm_c_begins(is) + i,
                       array_bits(from, gemm_c_begins(was) + i / is->n * step[0] * was->n +
                                            i % is->n * step[1]));
    return STATUS_OK;
}

static void set_shape(struct setting *s, const struct gemm_shape *shape)
{
    s->shape = *shape;
    s->bins = shape->m * shape->n;
}

/* Names r->part_array, which the report is of from now on. */
static enum status become_named(struct recommend_report *r, const char *part, struct problem *p)
{
    struct data data = {.array = r->part_array};
    if (asprintf(&data.name, "%s:part=%s", r->request.plan->source[0].name, part) < 0)
        return problem(p, STATUS_MEMORY, "recommend: out of memory");
    enum status status = source_data(&r->part, &data, data.array.n, p);
    free(data.name);
    if (status == STATUS_OK)
        r->source = &r->part;
    return status;
}

static enum status become(struct recommend_report *r, size_t rows, size_t columns,
                          struct problem *p)
{
    const struct gemm_shape was = r->whole;
    const size_t step[2] = {was.m / rows, was.n / columns};
    struct gemm_shape is = was;
    char name[48];
    is.m = rows;
    is.n = columns;
    is.pad = 0;
    recommend_part_free(r);
    enum status status =
        take_part(&r->part_array, &r->request.plan->source[0].array, &is, &was, step, p);
    snprintf(name, sizeof name, "%zux%zu", rows, columns);
    if (status == STATUS_OK && was.given)
        status = scales_part(&r->part_scales, &is, &was, step, p);
    if (status == STATUS_OK)
        status = become_named(r, name, p);
    if (status != STATUS_OK)
        return status;
    r->step[0] = step[0];
    r->step[1] = step[1];
    set_shape(&r->setting, &is);
    for (size_t i = 0; i < r->count; i++)
        set_shape(&r->candidate[i].setting, &is);
    return STATUS_OK;
}

/* Seconds of a run; the first one of a process is not counted. What fails will be told of later. */
static double run_seconds(const struct recommend_report *r, const struct recommend_candidate *c)
{
    const struct operation *o = c->method->operation;
    struct setting_operands made = {.of.in = r->source->array};
    struct array out;
    double seconds = 0;
    if (setting_make(&made, o, &c->setting, 1, NULL) != STATUS_OK)
        return 0;
    setting_put(&made.of, &c->setting);
    struct runner runner = {.method = c->method,
                            .device = r->device,
                            .of = &made.of,
                            .accumulator = c->accumulator,
                            .output = c->setting.output,
                            .shape =
                                method_shape(c->method, r->device.kind, made.of.in.n, c->asked)};
    if (memory_array(&out, c->setting.output, o->outputs(made.of.in.n, made.of.bins),
                     c->method->name, NULL) == STATUS_OK) {
        for (int i = 0; i < (c->method->foreign ? 2 : 1); i++) {
            uint64_t begin = clock_ns();
            if (runner_once(&runner, &out, NULL) == STATUS_OK)
                seconds = (double)(clock_ns() - begin) / 1e9;
        }
        free(out.data);
    }
    setting_free(&made);
    return seconds;
}

/* Seconds of an array: to make it with its exact elements, to run all candidates, and to hold each
 * one's elements to exact ones, which takes about as long as making these. */
static enum status array_seconds(const struct recommend_report *r, double *seconds,
                                 struct problem *p)
{
    struct recommend_sample s;
    uint64_t begin = clock_ns();
    enum status status =
        recommend_use_of(r)->sample(r, &s, RECOMMEND_SHUFFLE, 1, r->source->array.n, r->device, p);
    if (status != STATUS_OK)
        return status;
    recommend_sample_free(&s);
    *seconds = (double)(clock_ns() - begin) / 1e9 * (1 + (double)r->count);
    for (size_t i = 0; i < r->count; i++)
        if (r->device.kind == DEVICE_CPU || r->candidate[i].method->foreign)
            *seconds += run_seconds(r, &r->candidate[i]);
    return STATUS_OK;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The same of rows: one candidate's results are measured, which takes as long as any other's; exact
 * values are kept from one to the next. */
static enum status rows_seconds(const struct recommend_report *r, double *seconds,
                                struct problem *p)
{
    struct recommend_sample s;
    struct recommend_candidate *c = &r->candidate[r->count / 2];
    struct scan_measure m = {0};
    struct array out;
    uint64_t begin = clock_ns();
    enum status status =
        recommend_use_of(r)->sample(r, &s, RECOMMEND_SHUFFLE, 1, r->source->array.n, r->device, p);
    if (status != STATUS_OK)
        return status;
    *seconds = (double)(clock_ns() - begin) / 1e9;
    const struct study_case t = {.method = c->method,
                                 .device = r->device,
                                 .accumulator = c->accumulator,
                                 .setting = c->setting,
                                 .shape =
                                     method_shape(c->method, r->device.kind, s.array.n, c->asked)};
    status = memory_array(&out, c->setting.output, s.product->outputs, c->method->name, p);
    if (status == STATUS_OK) {
        for (size_t i = 0; i < out.n; i++)
            array_set_bits(&out, i, format_encode(out.format, 0.75));
        shared_keep(&s.product->shared, &t);
        begin = clock_ns();
        status = shared_measure(&m, &s.product->shared, &t, &out, NULL, p);
        *seconds += (double)(clock_ns() - begin) / 1e9 * (double)r->count;
        free(out.data);
    }
    recommend_sample_free(&s);
    for (size_t i = 0; i < r->count; i++)
        *seconds += run_seconds(r, &r->candidate[i]);
    return status;
}

/* All of it again. */
static void become_whole(struct recommend_report *r)
{
    recommend_part_free(r);
    r->source = &r->request.plan->source[0];
    set_shape(&r->setting, &r->whole);
    for (size_t i = 0; i < r->count; i++)
        set_shape(&r->candidate[i].setting, &r->whole);
}

/* About so many elements. */
static enum status become_most(struct recommend_report *r, double elements, struct problem *p)
{
    const size_t m = r->whole.m, n = r->whole.n, most = (size_t)fmax(1, elements),
                 side = (size_t)sqrt((double)most), rows = least(m, side),
                 columns = least(n, most / rows);
    if (elements < (double)m * (double)n)
        return become(r, least(m, most / columns), columns, p);
    become_whole(r);
    return STATUS_OK;
}

typedef enum status become_part(struct recommend_report *r, double count, struct problem *p);
typedef enum status part_seconds(const struct recommend_report *r, double *seconds,
                                 struct problem *p);

/* As many as arrays of them fit in the seconds; `few` at least. */
static enum status fit(struct recommend_report *r, double few, double seconds, become_part *become,
                       part_seconds *measure_part, struct problem *p)
{
    const double each = seconds / ARRAYS, least_of_it = 0.25 * each;
    double took = 0, count = few;
    for (;;) {
        enum status status = become(r, count, p);
        if (status == STATUS_OK && recommend_is_part(r))
            status = measure_part(r, &took, p);
        if (status != STATUS_OK || !recommend_is_part(r))
            return status;
        if (took > least_of_it)
            return become(r, fmax(few, count * each / took), p);
        count *= 4;
    }
}

enum status recommend_part(struct recommend_report *r, double seconds, struct problem *p)
{
    r->whole = r->setting.shape;
    const double few = fmax(ELEMENTS, TERMS / (1 + (double)r->whole.k));
    const double all = (double)r->whole.m * (double)r->whole.n;
    if (all <= few + 1 || gemm_c_begins(&r->whole) > r->source->array.n)
        return STATUS_OK;
    recommend_tell(r, "how many elements there is time for");
    return fit(r, few, seconds, become_most, array_seconds, p);
}

static void set_rows(struct recommend_report *r, size_t rows)
{
    r->setting.bins = rows;
    for (size_t i = 0; i < r->count; i++)
        r->candidate[i].setting.bins = rows;
}

/* So many rows of all, each set as likely as any other, ascending. */
static void draw_rows(struct recommend_report *r, size_t count)
{
    for (size_t row = 0, taken = 0; taken < count; row++) {
        struct draw d = random_draw(r->request.plan->axes->seed.item[0], RANDOM_MIXING, row);
        if (random_below(d.word[0], r->rows - row) < count - taken)
            r->row[taken++] = row;
    }
}

/* Drawn rows of the matrix, which lie as its rows do. */
static enum status take_rows(struct recommend_report *r, size_t count, struct problem *p)
{
    const struct array *from = &r->request.plan->source[0].array;
    const size_t length = matrix_length(from->n, r->rows);
    size_t was, is;
    enum status status = layout_stride(&was, r->setting.layout, from->n, r->rows, p);
    if (status == STATUS_OK)
        status = layout_stride(&is, r->setting.layout, count * length, count, p);
    if (status == STATUS_OK)
        status = memory_array(&r->part_array, from->format, count * length, "drawn rows", p);
    r->row = calloc(count + 1, sizeof *r->row);
    if (status == STATUS_OK && !r->row)
        status = problem(p, STATUS_MEMORY, "recommend: out of memory for %zu rows", count);
    if (status != STATUS_OK)
        return status;
    draw_rows(r, count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < length; k++)
            array_set_bits(&r->part_array, matrix_at(i, k, length, is),
                           array_bits(from, matrix_at(r->row[i], k, length, was)));
    return STATUS_OK;
}

/* Whole batches, where rows lie in batches. */
static enum status become_rows(struct recommend_report *r, double rows, struct problem *p)
{
    const size_t batch = r->setting.layout->kind == LAYOUT_BATCH ? r->setting.layout->batch : 1;
    const size_t count =
        rows < (double)r->rows ? (size_t)fmax(1, rows / (double)batch) * batch : r->rows;
    char name[48];
    recommend_part_free(r);
    if (count >= r->rows) {
        r->source = &r->request.plan->source[0];
        set_rows(r, r->rows);
        return STATUS_OK;
    }
    enum status status = take_rows(r, count, p);
    snprintf(name, sizeof name, "%zux%zu", count, r->part_array.n / count);
    if (status == STATUS_OK)
        status = become_named(r, name, p);
    if (status == STATUS_OK)
        set_rows(r, count);
    return status;
}

enum status recommend_part_of_rows(struct recommend_report *r, double seconds, struct problem *p)
{
    r->rows = r->setting.bins;
    const double length = (double)matrix_length(r->source->array.n, r->rows);
    recommend_tell(r, "how many rows there is time for");
    return fit(r, fmax(1, OF_ROWS / fmax(1, length)), seconds, become_rows, rows_seconds, p);
}

void recommend_part_free(struct recommend_report *r)
{
    source_free(&r->part);
    scales_free(r->part_scales);
    r->part_scales = NULL;
    free(r->part_array.data);
    free(r->row);
    r->row = NULL;
    r->part = (struct source){0};
    r->part_array = (struct array){0};
}

bool recommend_is_part(const struct recommend_report *r)
{
    return r->source == &r->part;
}

size_t recommend_row_of(const struct recommend_report *r, size_t output)
{
    return output / r->setting.shape.n * (recommend_is_part(r) ? r->step[0] : 1);
}

size_t recommend_column_of(const struct recommend_report *r, size_t output)
{
    return output % r->setting.shape.n * (recommend_is_part(r) ? r->step[1] : 1);
}
