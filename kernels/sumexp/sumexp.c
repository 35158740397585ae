/* sumexp/serial, tiled, online, flash, split, exact: of each row the sum of exp(x - max x), the
 * denominator of softmax.
 *
 * Order: that of kernels/rows/exponentials.h with the method's name; of sumexp/exact none: the
 * exact sum of the row as it is stored, rounded once. It depends on the row's length alone. Threads
 * are a schedule. An empty row's sum is +0; one of -inf alone, or with +inf or NaN, has NaN. */
#include "kernels/rows/exponentials.h"
#include "reference/exact/exponentials_rounded.h"

static enum status row(exponentials_order *order, const double *x, size_t n, enum format f,
                       double *y, struct problem *p)
{
    struct exponentials e;
    enum status status = order(x, n, f, &e, p);
    if (status != STATUS_OK)
        return status;
    y[0] = e.sum;
    return STATUS_OK;
}

EXPONENTIALS_METHODS(sumexp)

static enum status row_exact(const double *x, size_t n, enum format f, double *y, struct problem *p)
{
    return exponentials_rounded(operation_sumexp.of, x, n, f, y, p);
}

ROWS_EXACT(sumexp, row_exact)
