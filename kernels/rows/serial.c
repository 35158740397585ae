/* rows/serial: each row one after the other.
 *
 * Order: for each row ((x[0] + x[1]) + x[2]) + ..., that of sum/serial; so a row's sum has the bits
 * that sum/serial gives for its elements, independently of the other rows. Threads are a schedule.
 */
#include "kernels/rows/rows.h"
#include "kernels/scatter/bins.h"
#include "kernels/blocks/serial.h"

static enum status sum_row(const struct array *x, enum format f, double *sum, struct problem *p)
{
    double block[ARRAY_BLOCK];
    (void)p;
    *sum = -0.0;
    for (size_t begin = 0, count; begin < x->n; begin += count) {
        count = x->n - begin < ARRAY_BLOCK ? x->n - begin : ARRAY_BLOCK;
        array_decode(x, begin, count, block);
        for (size_t i = 0; i < count; i++)
            *sum = format_add(f, *sum, format_round(f, block[i]));
    }
    return STATUS_OK;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return rows_each(t, sum_row, p);
}

const struct method rows_serial = {
    .name = "rows/serial",
    .summary = "each row one after the other",
    .operation = &operation_rows,
    .promise = PROMISE_GPU_TO_GPU,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = scatter_each_shape,
    .bound = THEOREM_TREE,
    .height = serial_height,
    .bin_height = serial_bin_height,
    .order = serial_order,
    .cpu = cpu,
};
