#include "reference/exact/moments.h"

#include "reference/exact/mpfr.h"
#include "reference/exact/reference_parts.h"

static double derive(enum exact_value of, const struct exact *sum, const struct products *squares,
                     size_t n, enum format f)
{
    struct reference r = {.of = of, .n = n};
    mpfr_inits2(MPFR_PREC_MIN, r.sum, r.sum_abs, r.moment.sum, r.moment.sum_abs, r.moment.squares,
                (mpfr_ptr)0);
    if (sum)
        exact_get(r.moment.sum, sum);
    if (squares)
        products_get(r.moment.squares, squares);
    reference_derive(&r);
    double rounded = round_mpfr(r.sum, f);
    reference_free(&r);
    return rounded;
}

double moments_norm(const struct products *squares, enum format f)
{
    return derive(EXACT_NORM, NULL, squares, 0, f);
}

double moments_mean(const struct exact *sum, size_t n, enum format f)
{
    return derive(EXACT_MEAN, sum, NULL, n, f);
}

double moments_variance(const struct exact *sum, const struct products *squares, size_t n,
                        enum format f)
{
    return derive(EXACT_VARIANCE, sum, squares, n, f);
}
