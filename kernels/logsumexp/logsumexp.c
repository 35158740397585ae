/* logsumexp/serial, tiled, online, flash, split, exact: of each row m + log(sum of exp(x - m)),
 * m = max x.
 *
 * Order: the sum is sumexp's of the same name (kernels/rows/exponentials.h); its logarithm,
 * correctly rounded, is added to m; of logsumexp/exact none: the exact value of the row as it is
 * stored, rounded once. It depends on the row's length alone. Threads are a schedule. An empty row,
 * and one of -inf alone, has -inf; one with +inf has +inf, with NaN NaN. */
#include <math.h>

#include "kernels/rows/exponentials.h"
#include "reference/exact/elementary.h"
#include "reference/exact/exponentials_rounded.h"

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

EXPONENTIALS_METHODS(logsumexp)

static enum status row_exact(const double *x, size_t n, enum format f, double *y, struct problem *p)
{
    return exponentials_rounded(operation_logsumexp.of, x, n, f, y, p);
}

ROWS_EXACT(logsumexp, row_exact)
