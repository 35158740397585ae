/* softmax/serial, tiled, online, flash, split, exact: of each element exp(x - m) by the sum of all
 * of its row, m = max x.
 *
 * Order: the sum is sumexp's of the same name (kernels/rows/exponentials.h); then each
 * exponential, rounded, is divided by it, rounded; of softmax/exact none: the exact value of the
 * row as it is stored, rounded once. It depends on the row's length alone. Threads are a schedule.
 * An element of -inf has +0; a row of -inf alone, or with +inf or NaN, has NaN throughout. */
#include <stdlib.h>

#include "kernels/rows/exponentials.h"
#include "kernels/rows/rows.h"
#include "kernels/scatter/bins.h"
#include "reference/exact/mpfr.h"
#include "reference/exact/reference.h"

static enum status row(exponentials_order *order, const double *x, size_t n, enum format f,
                       double *y, struct problem *p)
{
    struct exponentials e;
    enum status status = order(x, n, f, &e, p);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        y[i] = format_round(f, exponentials_of(f, x[i], e.max) / e.sum);
    return STATUS_OK;
}

#define SOFTMAX(its_order, its_summary, theorem)                                                   \
    static enum status row_##its_order(const double *x, size_t n, enum format f, double *y,        \
                                       struct problem *p)                                          \
    {                                                                                              \
        return row(exponentials_##its_order, x, n, f, y, p);                                       \
    }                                                                                              \
    static enum status run_##its_order(const struct task *t, struct problem *p)                    \
    {                                                                                              \
        return rows_outputs(t, row_##its_order, p);                                                \
    }                                                                                              \
    const struct method softmax_##its_order = {.name = "softmax/" #its_order,                      \
                                               .summary = its_summary,                             \
                                               .operation = &operation_softmax,                    \
                                               .promise = PROMISE_GPU_TO_GPU,                      \
                                               .beside = 1u << PROMISE_BATCH_INVARIANT,            \
                                               .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL},         \
                                               .shape_read = {SHAPE_THREADS, 0},                   \
                                               .resolve = scatter_each_shape,                      \
                                               .bound = theorem,                                   \
                                               .height = exponentials_##its_order##_height,        \
                                               .bin_height = exponentials_##its_order##_bin,       \
                                               .cpu = run_##its_order};

SOFTMAX(serial, "the greatest first, then exponentials one after the other: two passes",
        THEOREM_EXPONENTIALS)
SOFTMAX(tiled, "the greatest first, then exponentials in sum/tiled's order: two passes",
        THEOREM_EXPONENTIALS)
SOFTMAX(online, "one pass, the sum rescaled at each greater element", THEOREM_RESCALED)
SOFTMAX(flash, "one pass, the sum rescaled at each block of 128, as FlashAttention does",
        THEOREM_RESCALED)
SOFTMAX(split, "8 parts of each row in two passes each, then put together", THEOREM_RESCALED)

static enum status row_exact(const double *x, size_t n, enum format f, double *y, struct problem *p)
{
    const struct array in = {FP64, n, (void *)x};
    struct reference *r = calloc(n + 1, sizeof *r);
    if (!r)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu exact values", n);
    enum status status = reference_compute_each(r, operation_softmax.of, &in, p);
    for (size_t i = 0; status == STATUS_OK && i < n; i++) {
        y[i] = round_mpfr(r[i].sum, f);
        reference_free(&r[i]);
    }
    free(r);
    return status;
}

static enum status run_exact(const struct task *t, struct problem *p)
{
    return rows_outputs(t, row_exact, p);
}

const struct method softmax_exact = {
    .name = "softmax/exact",
    .summary = "the exact value, rounded once",
    .operation = &operation_softmax,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scatter_each_shape,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = run_exact,
};
