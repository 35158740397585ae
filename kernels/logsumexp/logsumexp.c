/* logsumexp/serial, tiled, online, flash, split, exact: of each row m + log(sum of exp(x - m)),
 * m = max x.
 *
 * Order: the sum is sumexp's of the same name (kernels/rows/exponentials.h); its logarithm,
 * correctly rounded, is added to m; of logsumexp/exact none: the exact value of the row as it is
 * stored, rounded once. It depends on the row's length alone. Threads are a schedule. An empty row,
 * and one of -inf alone, has -inf; one with +inf has +inf, with NaN NaN. */
#include <math.h>

#include "kernels/rows/exponentials.h"
#include "kernels/rows/rows.h"
#include "kernels/scatter/bins.h"
#include "reference/exact/elementary.h"
#include "reference/exact/mpfr.h"
#include "reference/exact/reference.h"

static enum status row(exponentials_order *order, const double *x, size_t n, enum format f,
                       double *y, struct problem *p)
{
    struct exponentials e;
    enum status status = order(x, n, f, &e, p);
    if (status != STATUS_OK)
        return status;
    y[0] = isinf(e.max) ? e.max : format_add(f, log_rounded(f, e.sum), e.max);
    return STATUS_OK;
}

#define LOGSUMEXP(its_order, its_summary, theorem)                                                 \
    static enum status row_##its_order(const double *x, size_t n, enum format f, double *y,        \
                                       struct problem *p)                                          \
    {                                                                                              \
        return row(exponentials_##its_order, x, n, f, y, p);                                       \
    }                                                                                              \
    static enum status run_##its_order(const struct task *t, struct problem *p)                    \
    {                                                                                              \
        return rows_outputs(t, row_##its_order, p);                                                \
    }                                                                                              \
    const struct method logsumexp_##its_order = {.name = "logsumexp/" #its_order,                  \
                                                 .summary = its_summary,                           \
                                                 .operation = &operation_logsumexp,                \
                                                 .promise = PROMISE_GPU_TO_GPU,                    \
                                                 .beside = 1u << PROMISE_BATCH_INVARIANT,          \
                                                 .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL},       \
                                                 .shape_read = {SHAPE_THREADS, 0},                 \
                                                 .resolve = scatter_each_shape,                    \
                                                 .bound = theorem,                                 \
                                                 .height = exponentials_##its_order##_height,      \
                                                 .bin_height = exponentials_##its_order##_bin,     \
                                                 .cpu = run_##its_order};

LOGSUMEXP(serial, "the greatest first, then exponentials one after the other: two passes",
          THEOREM_EXPONENTIALS)
LOGSUMEXP(tiled, "the greatest first, then exponentials in sum/tiled's order: two passes",
          THEOREM_EXPONENTIALS)
LOGSUMEXP(online, "one pass, the sum rescaled at each greater element", THEOREM_RESCALED)
LOGSUMEXP(flash, "one pass, the sum rescaled at each block of 128, as FlashAttention does",
          THEOREM_RESCALED)
LOGSUMEXP(split, "8 parts of each row in two passes each, then put together", THEOREM_RESCALED)

static enum status row_exact(const double *x, size_t n, enum format f, double *y, struct problem *p)
{
    const struct array in = {FP64, n, (void *)x};
    struct reference r;
    enum status status =
        reference_compute_of(&r, operation_logsumexp.of, &in, NULL, REFERENCE_FAST, p);
    if (status != STATUS_OK)
        return status;
    y[0] = round_mpfr(r.sum, f);
    reference_free(&r);
    return STATUS_OK;
}

static enum status run_exact(const struct task *t, struct problem *p)
{
    return rows_outputs(t, row_exact, p);
}

const struct method logsumexp_exact = {
    .name = "logsumexp/exact",
    .summary = "the exact value, rounded once",
    .operation = &operation_logsumexp,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scatter_each_shape,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = run_exact,
};
