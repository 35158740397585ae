#include "experiments/program/finding.h"

static enum status add_up(struct finding *f, enum format accumulator, struct problem *p)
{
    uint64_t bits = 0;
    struct shape shape = method_shape(f->method, DEVICE_CPU, f->array.n, (struct shape){0});
    struct task task = {.of = &(struct operands){.in = f->array},
                        .out = {accumulator, 1, &bits},
                        .accumulator = accumulator,
                        .shape = shape};
    enum status status = f->method->cpu(&task, p);
    if (status != STATUS_OK)
        return status;
    struct theorem theorem = method_theorem(f->method, DEVICE_CPU, accumulator, f->array.n, shape);
    f->result[accumulator] = array_get(&task.out, 0);
    measure(&f->measure[accumulator], &f->reference, f->array.format, accumulator,
            f->result[accumulator], &theorem);
    f->broken |= f->measure[accumulator].broken;
    return STATUS_OK;
}

enum status finding_make(struct finding *f, const char *name, const struct array *array,
                         enum reference_kind kind, struct problem *p)
{
    *f = (struct finding){.name = name, .array = *array, .method = method_named("sum/serial")};
    enum status status = reference_compute(&f->reference, array, kind, p);
    if (status != STATUS_OK)
        return status;
    for (enum format a = 0; a < ACCUMULATORS && status == STATUS_OK; a++)
        status = add_up(f, a, p);
    if (status != STATUS_OK)
        finding_free(f);
    return status;
}

void finding_free(struct finding *f)
{
    reference_free(&f->reference);
}
