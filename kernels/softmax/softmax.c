/* softmax/serial, tiled, online, flash, split, exact: of each element exp(x - m) by the sum of all
 * of its row, m = max x.
 *
 * Order: the sum is sumexp's of the same name (kernels/rows/exponentials.h); then each
 * exponential, rounded, is divided by it, rounded; of softmax/exact none: the exact value of the
 * row as it is stored, rounded once. It depends on the row's length alone. Threads are a schedule.
 * An element of -inf has +0; a row of -inf alone, or with +inf or NaN, has NaN throughout. */
#include "kernels/rows/exponentials.h"
#include "reference/exact/exponentials_rounded.h"

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

EXPONENTIALS_METHODS(softmax)

static enum status row_exact(const double *x, size_t n, enum format f, double *y, struct problem *p)
{
    return exponentials_rounded(operation_softmax.of, x, n, f, y, p);
}

ROWS_EXACT(softmax, row_exact)
