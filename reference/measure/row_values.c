#include "reference/measure/row_values.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "reference/base/shares.h"

struct job {
    struct row_values *values;
    enum exact_value of;
    const struct array *in;
    const struct by_bin *rows;
    struct problem problem; /* of the first share that failed */
    atomic_int failed;
};

static enum status each_element(struct job *job, size_t row, const struct array *x,
                                struct problem *p)
{
    struct reference *each = calloc(x->n + 1, sizeof *each);
    if (!each)
        return problem(p, STATUS_MEMORY, "out of memory for the values of a row of %zu elements",
                       x->n);
    enum status status = reference_compute_each(each, job->of, x, p);
    for (size_t k = 0; status == STATUS_OK && k < x->n; k++)
        job->values->value[job->rows->element[job->rows->start[row] + k]] = each[k];
    free(each);
    return status;
}

/* A row as it is stored: what counts its subnormals asks its format. */
static void make_row(void *context, size_t row)
{
    struct job *job = context;
    struct problem p = {0};
    size_t n = by_bin_count(job->rows, row);
    struct array x = {job->in->format, n, malloc(array_bytes(job->in->format, n + 1))};
    enum status status = STATUS_OK;
    if (!x.data)
        status = problem(&p, STATUS_MEMORY, "out of memory for a row of %zu elements", n);
    for (size_t k = 0; status == STATUS_OK && k < n; k++)
        array_set_bits(&x, k, array_bits(job->in, job->rows->element[job->rows->start[row] + k]));
    if (status == STATUS_OK && job->values->place)
        status = each_element(job, row, &x, &p);
    else if (status == STATUS_OK)
        status =
            reference_compute_of(&job->values->value[row], job->of, &x, NULL, REFERENCE_FAST, &p);
    if (status != STATUS_OK && atomic_fetch_add(&job->failed, 1) == 0)
        job->problem = p;
    free(x.data);
}

enum status row_values_make(struct row_values *v, enum exact_value of, bool of_each,
                            const struct array *in, const struct by_bin *rows,
                            const uint32_t *place, unsigned threads, struct problem *p)
{
    *v = (struct row_values){.outputs = of_each ? in->n : rows->bins,
                             .place = of_each ? place : NULL};
    v->value = calloc(v->outputs + 1, sizeof *v->value);
    if (!v->value)
        return problem(p, STATUS_MEMORY, "out of memory for %zu exact values", v->outputs);
    struct job job = {.values = v, .of = of, .in = in, .rows = rows};
    shares_run(threads, rows->bins, make_row, &job);
    if (atomic_load(&job.failed) == 0)
        return STATUS_OK;
    row_values_free(v);
    return problem(p, job.problem.status, "%s", job.problem.text);
}

void row_values_free(struct row_values *v)
{
    for (size_t i = 0; v->value && i < v->outputs; i++)
        if (v->value[i].sum->_mpfr_d)
            reference_free(&v->value[i]);
    free(v->value);
    *v = (struct row_values){0};
}
