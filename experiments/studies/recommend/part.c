/* Of a product with more elements than there is time for, those of evenly spaced rows and columns
 * are tried: each is a sum of its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/runs/runner.h"
#include "experiments/studies/recommend/candidates.h"
#include "experiments/system/clock.h"
#include "experiments/system/memory.h"

/* Time for so many arrays on all candidates is enough: the data and some orders of it; the chosen
 * candidate meets all others. So few elements, and so few products, are always tried. */
enum { ARRAYS = 4, ELEMENTS = 16, TERMS = 1 << 18 };

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

/* The report is of this part from now on. */
static enum status become(struct recommend_report *r, size_t rows, size_t columns,
                          struct problem *p)
{
    const struct source *whole = &r->request.plan->source[0];
    const struct gemm_shape was = r->whole;
    const size_t step[2] = {was.m / rows, was.n / columns};
    struct gemm_shape is = was;
    struct data data = {0};
    is.m = rows;
    is.n = columns;
    is.pad = 0;
    recommend_part_free(r);
    enum status status = take_part(&r->part_array, &whole->array, &is, &was, step, p);
    if (status != STATUS_OK)
        return status;
    data.array = r->part_array;
    if (asprintf(&data.name, "%s:part=%zux%zu", whole->name, rows, columns) < 0)
        return problem(p, STATUS_MEMORY, "recommend: out of memory");
    status = source_data(&r->part, &data, data.array.n, p);
    free(data.name);
    if (status != STATUS_OK)
        return status;
    r->source = &r->part;
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
    if (memory_array(&out, c->setting.output, made.of.bins, c->method->name, NULL) == STATUS_OK) {
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

enum status recommend_part(struct recommend_report *r, double seconds, struct problem *p)
{
    const double each = seconds / ARRAYS, least_of_it = 0.25 * each;
    r->whole = r->setting.shape;
    const double few = fmax(ELEMENTS, TERMS / (1 + (double)r->whole.k));
    double took = 0, elements = few;
    const double all = (double)r->whole.m * (double)r->whole.n;
    if (all <= few + 1 || gemm_c_begins(&r->whole) > r->source->array.n)
        return STATUS_OK;
    recommend_tell(r, "how many elements there is time for");
    for (;;) {
        enum status status = become_most(r, elements, p);
        if (status == STATUS_OK && recommend_is_part(r))
            status = array_seconds(r, &took, p);
        if (status != STATUS_OK || !recommend_is_part(r))
            return status;
        if (took > least_of_it)
            return become_most(r, fmax(few, elements * each / took), p);
        elements *= 4;
    }
}

void recommend_part_free(struct recommend_report *r)
{
    source_free(&r->part);
    free(r->part_array.data);
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
