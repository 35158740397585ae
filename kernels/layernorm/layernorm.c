/* layernorm/textbook, two_pass, welford, chan, exact: of each element (x - mean) / sqrt(variance +
 * epsilon), mean and variance those of its row as a population, without learned gains or biases.
 * epsilon is 1e-5 (reference/exact/values.def).
 *
 * Order: the variance is that of variance/... of the same name; the mean that which it finds on its
 * way: mean/tiled's for textbook and two_pass, mean/running's for welford, of merged parts for
 * chan. epsilon is added to the variance and 1 / sqrt taken of it; from each element, rounded to
 * the accumulator, the mean is taken, and the rest multiplied by that; each of these is rounded. Of
 * layernorm/exact none: the exact value of the row as it is stored, rounded once. It depends on the
 * row's length alone. Threads are a schedule. Where the squares overflow, 1 / sqrt(inf) makes every
 * result 0. */
#include "kernels/blocks/serial.h"
#include "kernels/blocks/tiled.h"
#include "kernels/mean/quotient.h"
#include "kernels/rows/divided.h"
#include "kernels/variance/chan.h"
#include "reference/exact/divided_rounded.h"

extern const struct method mean_tiled, mean_running, variance_textbook, variance_two_pass,
    variance_welford;

static void divide(const double *x, size_t n, enum format f, double mean, double variance,
                   double *y)
{
    divided_away(x, n, f, mean, divided_scale(operation_layernorm.of, f, variance), y);
}

static enum status row(const struct method *of_mean, const struct method *of_variance,
                       const double *x, size_t n, enum format f, double *y, struct problem *p)
{
    const struct array in = {FP64, n, (void *)x};
    double mean, variance;
    enum status status = rows_value(of_mean, &in, f, &mean, p);
    if (status == STATUS_OK)
        status = rows_value(of_variance, &in, f, &variance, p);
    if (status == STATUS_OK)
        divide(x, n, f, mean, variance, y);
    return status;
}

static enum status row_textbook(const double *x, size_t n, enum format f, double *y,
                                struct problem *p)
{
    return row(&mean_tiled, &variance_textbook, x, n, f, y, p);
}

static enum status row_two_pass(const double *x, size_t n, enum format f, double *y,
                                struct problem *p)
{
    return row(&mean_tiled, &variance_two_pass, x, n, f, y, p);
}

static enum status row_welford(const double *x, size_t n, enum format f, double *y,
                               struct problem *p)
{
    return row(&mean_running, &variance_welford, x, n, f, y, p);
}

static enum status row_chan(const double *x, size_t n, enum format f, double *y, struct problem *p)
{
    const struct array in = {FP64, n, (void *)x};
    double mean, scatter;
    enum status status = chan_moments(&in, f, 1, &mean, &scatter, p);
    if (status == STATUS_OK)
        divide(x, n, f, mean, quotient_rounded(f, scatter, n), y);
    return status;
}

static enum status row_exact(const double *x, size_t n, enum format f, double *y, struct problem *p)
{
    return divided_rounded(operation_layernorm.of, x, n, f, y, p);
}

ROWS_METHOD(layernorm, textbook, "by the mean of squares less the square of the mean: one pass",
            THEOREM_LAYERNORM_TEXTBOOK, tiled_height, scatter_tiled_height)
ROWS_METHOD(layernorm, two_pass, "by the mean of squared distances from the mean",
            THEOREM_LAYERNORM_TWO_PASS, tiled_height, scatter_tiled_height)
ROWS_METHOD(layernorm, welford, "by mean and scatter as they run: one pass",
            THEOREM_LAYERNORM_WELFORD, serial_height, serial_bin_height)
ROWS_METHOD(layernorm, chan, "by means and scatters of parts, merged in sum/tiled's tree",
            THEOREM_LAYERNORM_CHAN, tiled_height, scatter_tiled_height)
ROWS_EXACT(layernorm, row_exact)
