#include "kernels/rows/rows.h"

#include <stdlib.h>

#include "kernels/method/team.h"
#include "reference/exact/reference.h"

struct work {
    const struct task *task;
    row_sum *sum;
    const struct method *method; /* in place of it, or NULL */
    row_outputs *outputs;        /* likewise */
    size_t length;
    struct problem *problem; /* of each thread */
};

/* The elements of a row where they are consecutive; else copied to `copy`. */
static struct array elements(const struct work *w, size_t row, double *copy)
{
    const struct task *t = w->task;
    if (t->of->stride == 1)
        return (struct array){t->of->in.format, w->length,
                              (char *)t->of->in.data +
                                  array_bytes(t->of->in.format, row * w->length)};
    size_t first = matrix_at(row, 0, w->length, t->of->stride);
    for (size_t k = 0; k < w->length; k++)
        copy[k] = array_get(&t->of->in, first + k * t->of->stride);
    return (struct array){FP64, w->length, copy};
}

static void each_row(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    struct problem *p = &w->problem[thread];
    struct scatter_share share = scatter_share(0, t->of->bins, thread, t->shape.threads);
    bool of_each = operation_of_each(t->method->operation);
    double *x = malloc((2 * w->length + 2) * sizeof *x), *y = x + w->length + 1;
    if (!x)
        problem(p, STATUS_MEMORY, "device cpu: no memory for a row of %zu elements", w->length);
    for (size_t r = share.begin; r < share.end && p->status == STATUS_OK; r++) {
        size_t first = matrix_at(r, 0, w->length, t->of->stride);
        for (size_t k = 0; k < w->length; k++)
            x[k] = array_get(&t->of->in, first + k * t->of->stride);
        if (w->outputs(x, w->length, t->accumulator, y, p) != STATUS_OK)
            break;
        for (size_t k = 0; k < (of_each ? w->length : 1); k++)
            array_encode(&t->out, of_each ? first + k * t->of->stride : r, 1, &y[k]);
    }
    free(x);
}

static void sum_rows(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    struct problem *p = &w->problem[thread];
    struct scatter_share share = scatter_share(0, t->of->bins, thread, t->shape.threads);
    double *copy = t->of->stride > 1 ? malloc((w->length + 1) * sizeof *copy) : NULL;
    if (t->of->stride > 1 && !copy)
        problem(p, STATUS_MEMORY, "device cpu: no memory for a row of %zu elements", w->length);
    for (size_t r = share.begin; r < share.end && p->status == STATUS_OK; r++) {
        struct array x = elements(w, r, copy);
        double sum = 0; /* of nothing */
        if (w->method)
            rows_value(w->method, &x, t->accumulator, &sum, p);
        else if (w->length > 0)
            w->sum(&x, t->accumulator, &sum, p);
        if (p->status == STATUS_OK)
            array_encode(&t->out, r, 1, &sum);
    }
    free(copy);
}

enum status rows_value(const struct method *m, const struct array *x, enum format f, double *value,
                       struct problem *p)
{
    uint64_t bits = 0;
    bool twice = operation_arrays(m->operation) > 1;
    struct operands of = {.in = *x, .in2 = twice ? *x : (struct array){0}, .product = m->product};
    struct task alone = {.of = &of,
                         .out = {f, 1, &bits},
                         .accumulator = f,
                         .shape = method_shape(m, DEVICE_CPU, x->n, (struct shape){1, 1}),
                         .method = m,
                         .device = -1};
    enum status status = m->cpu(&alone, p);
    if (status == STATUS_OK)
        *value = array_get(&alone.out, 0);
    return status;
}

static enum status run(struct work *w, struct problem *p)
{
    const struct task *t = w->task;
    w->length = matrix_length(t->of->in.n, t->of->bins);
    w->problem = calloc(t->shape.threads, sizeof *w->problem);
    if (!w->problem)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %u threads", t->shape.threads);
    enum status status = team_run(t->shape.threads, w->outputs ? each_row : sum_rows, w, p);
    for (unsigned i = 0; status == STATUS_OK && i < t->shape.threads; i++)
        if (w->problem[i].status != STATUS_OK)
            status = problem(p, w->problem[i].status, "%s", w->problem[i].text);
    free(w->problem);
    return status;
}

enum status rows_each(const struct task *t, row_sum *sum, struct problem *p)
{
    return run(&(struct work){.task = t, .sum = sum}, p);
}

enum status rows_outputs(const struct task *t, row_outputs *outputs, struct problem *p)
{
    return run(&(struct work){.task = t, .outputs = outputs}, p);
}

enum status rows_method(const struct task *t, const struct method *m, struct problem *p)
{
    return run(&(struct work){.task = t, .method = m}, p);
}
