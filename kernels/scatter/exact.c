/* scatter/exact: the exact sum of each bin, rounded once to the accumulator, to nearest, ties to
 * even.
 *
 * Order: none. A bin's result is that of sum/exact for its elements; so it keeps every promise. */
#include "kernels/scatter/bins.h"
#include "reference/exact/rounded.h"

static enum status sum_bin(const struct task *t, const struct array *x, const size_t *element,
                           double *sum, struct problem *p)
{
    (void)element, (void)p;
    *sum = rounded_sum(x, t->accumulator, 1);
    return STATUS_OK;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return scatter_each(t, sum_bin, p);
}

const struct method scatter_exact = {
    .name = "scatter/exact",
    .summary = "the exact sum of each bin, rounded once",
    .operation = &operation_scatter,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scatter_each_shape,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
