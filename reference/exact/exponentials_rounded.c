/* Enclosures in double, with their proof.
 *
 * u = 2^-53. d = x - m is had as two doubles, exactly; exp_near errs by less than 2^-50,
 * relatively. Exponentials below exp(-EXPONENT) count as 0, and as EXPONENT_END at most. The sum S
 * of the others is compensated: its error is below (2u + 2 n^2 u^2) S, n < 2^24, and what is left
 * out is n 2^-216 at most, S >= 1. Together S errs by less than 2^-49, relatively, and a share by
 * less than 2^-47, as it is divided and rounded once.
 *
 * The logarithm needs no trust in the C library's: for whatever l near log S, log S = l + log(1 +
 * t), t = S exp(-l) - 1, which errs by less than 2^-49 + 2^-50 + 2^-52 where |t| < 2^-30, and
 * log(1 + t) is t but for t^2 / 2 + ... < 2^-60. So m + l + t, of which m + l is had exactly and
 * which is rounded twice, errs by less than 2^-48 + 2 u |m + l + t|.
 *
 * Where both ends of an enclosure round to the same number, so does the value. */
#include "reference/exact/exponentials_rounded.h"

#include <math.h>
#include <stdlib.h>

#include "reference/exact/dd.h"
#include "reference/exact/elementary.h"
#include "reference/exact/exponentials_enclosed.h"
#include "reference/exact/mpfr.h"
#include "reference/exact/reference.h"

#define SHARE_WITHIN 0x1p-46 /* twice the bounds, for the rounding of the ends */
#define SUM_WITHIN   0x1p-48
#define LOG_WITHIN   0x1p-47

enum { EXPONENT = 150, ELEMENTS_MOST = 1 << 24 };

struct near {
    const double *x;
    size_t n;
    double max, sum;
};

/* exp(x - m), nearly; 0 where it is almost. */
static double exponential(const struct near *row, double x)
{
    if (x == -INFINITY)
        return 0;
    struct dd d = dd_sum(x, -row->max);
    return d.hi < -EXPONENT ? 0 : exp_near(d.hi, d.lo);
}

/* Are its exponentials numbers? Sets what is known of them. */
static bool begin(struct near *row, const double *x, size_t n)
{
    *row = (struct near){.x = x, .n = n, .max = -INFINITY};
    if (n > ELEMENTS_MOST)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]) || x[i] == INFINITY)
            return false;
        row->max = x[i] > row->max ? x[i] : row->max;
    }
    struct dd sum = {0, 0};
    for (size_t i = 0; i < n && isfinite(row->max); i++) {
        struct dd next = dd_sum(sum.hi, exponential(row, x[i]));
        sum = (struct dd){next.hi, sum.lo + next.lo};
    }
    row->sum = sum.hi + sum.lo;
    return isfinite(row->max);
}

static bool decide(double y, double within, enum format f, double *rounded)
{
    *rounded = format_round(f, y - within);
    return double_bits(*rounded) == double_bits(format_round(f, y + within));
}

static bool logarithm(const struct near *row, enum format f, double *y)
{
    double l = log(row->sum), t = row->sum * exp_near(-l, 0) - 1;
    if (!(fabs(t) < 0x1p-30))
        return false;
    struct dd sum = dd_sum(row->max, l);
    double value = sum.hi + (sum.lo + t);
    return decide(value, LOG_WITHIN + fabs(value) * 0x1p-51, f, y);
}

static bool share(const struct near *row, enum format f, size_t i, double *y)
{
    double e = exponential(row, row->x[i]), v = e / row->sum;
    if (e > 0)
        return decide(v, v * SHARE_WITHIN, f, y);
    *y = 0; /* below half of what all these formats have */
    return true;
}

/* Output i, of one value or of each element's. */
static bool in_double(const struct near *row, enum exact_value of, enum format f, size_t i,
                      double *y)
{
    if (exact_facts[of].each)
        return share(row, f, i, y);
    return exact_facts[of].log ? logarithm(row, f, y)
                               : decide(row->sum, row->sum * SUM_WITHIN, f, y);
}

enum status exponentials_rounded(enum exact_value of, const double *x, size_t n, enum format f,
                                 double *y, struct problem *p)
{
    const struct array in = {FP64, n, (void *)x};
    struct near row;
    struct enclosed *enclosed = NULL;
    bool near = f != FP64 && begin(&row, x, n);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (exact_facts[of].each ? n : 1) && status == STATUS_OK; i++) {
        if (near && in_double(&row, of, f, i, &y[i]))
            continue;
        if (!enclosed)
            enclosed = exponentials_enclose(of, &in);
        if (!enclosed)
            status = problem(p, STATUS_MEMORY, "out of memory for a row of %zu elements", n);
        else if (near || !exponentials_decide(enclosed, i, f, &y[i]))
            y[i] = exponentials_settle(enclosed, i, f);
    }
    exponentials_enclosed_free(enclosed);
    return status;
}
