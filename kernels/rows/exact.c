/* rows/exact: the exact sum of each row, rounded once to the accumulator, to nearest, ties to even.
 *
 * Order: none. A row's result is that of sum/exact for its elements; so it keeps every promise. */
#include "kernels/rows/rows.h"
#include "kernels/scatter/bins.h"
#include "reference/exact/rounded.h"

static enum status sum_row(const struct array *x, enum format f, double *sum, struct problem *p)
{
    (void)p;
    *sum = rounded_sum(x, f, 1);
    return STATUS_OK;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return rows_each(t, sum_row, p);
}

const struct method rows_exact = {
    .name = "rows/exact",
    .summary = "the exact sum of each row, rounded once",
    .operation = &operation_rows,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scatter_each_shape,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
