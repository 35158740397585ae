/* rmsnorm/serial, tiled, exact: of each element x / sqrt(mean of squares of its row + epsilon),
 * without a learned gain. epsilon is 1e-6 (reference/exact/values.def).
 *
 * Order: the sum of squares is that of dot/serial or dot/tiled, of the row with itself; it is
 * divided by the row's length, epsilon is added, 1 / sqrt is taken, and each element, rounded to
 * the accumulator, is multiplied by that; each of these is rounded. Of rmsnorm/exact none: the
 * exact value of the row as it is stored, rounded once. It depends on the row's length alone.
 * Threads are a schedule. Where the squares overflow, 1 / sqrt(inf) makes every result 0. */
#include "kernels/blocks/serial.h"
#include "kernels/blocks/tiled.h"
#include "kernels/mean/quotient.h"
#include "kernels/rows/divided.h"
#include "reference/exact/divided_rounded.h"

extern const struct method dot_serial, dot_tiled;

static enum status row(const struct method *dot, const double *x, size_t n, enum format f,
                       double *y, struct problem *p)
{
    const struct array in = {FP64, n, (void *)x};
    double squares;
    enum status status = rows_value(dot, &in, f, &squares, p);
    if (status == STATUS_OK)
        divided_plain(x, n, f,
                      divided_scale(operation_rmsnorm.of, f, quotient_rounded(f, squares, n)), y);
    return status;
}

static enum status row_serial(const double *x, size_t n, enum format f, double *y,
                              struct problem *p)
{
    return row(&dot_serial, x, n, f, y, p);
}

static enum status row_tiled(const double *x, size_t n, enum format f, double *y, struct problem *p)
{
    return row(&dot_tiled, x, n, f, y, p);
}

static enum status row_exact(const double *x, size_t n, enum format f, double *y, struct problem *p)
{
    return divided_rounded(operation_rmsnorm.of, x, n, f, y, p);
}

ROWS_METHOD(rmsnorm, serial, "by the root of squares added one after the other", THEOREM_RMSNORM,
            serial_height, serial_bin_height)
ROWS_METHOD(rmsnorm, tiled, "by the root of squares added in sum/tiled's order", THEOREM_RMSNORM,
            tiled_height, scatter_tiled_height)
ROWS_EXACT(rmsnorm, row_exact)
