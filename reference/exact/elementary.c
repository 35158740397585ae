/* Correct rounding, by Ziv's test and by MPFR.
 *
 * For fp16, bf16 and fp32, exp is computed in double with a proven error, and taken where both ends
 * of the interval that follows round to the same number; else, and for fp64, mpfr_exp decides,
 * which is correctly rounded itself. exp(x) is a double, or halfway between two, for no double x
 * but 0 (Lindemann 1882), so MPFR's own test ends.
 *
 * The error in double, |x| <= 150: k = rint(32 x / log 2), |k| < 2^13. HI has 35 bits, so that k HI
 * is exact, and so is x - k HI: a multiple of 2^-59 below 2^-6 or, where k = 0, x itself. k LO errs
 * by less than 2^-80, and subtracting it by 2^-59: r, |r| < 2^-6.5, errs by less than 2^-58. The
 * polynomial lacks r^8/8! < 2^-67 and rounds by less than 2^-57. 2^(j/32) is a table's, rounded
 * once, and so is the last addition: together less than 2^-52 + 2^-53 2^-6 + 2^-56 < 2^-51,
 * relatively. Where x has a rest of at most 2^-45, r errs by 2^-59 more, and the whole by less than
 * 2^-50. */
#include "reference/exact/elementary.h"

#include <math.h>

#include "reference/exact/mpfr.h"

#define HI     0x1.62e42fef8p-6 /* log(2) / 32 = HI + LO */
#define LO     0x1.1cf79abc9e3b4p-41
#define SCALE  0x1.71547652b82fep+5 /* 32 / log(2) */
#define WITHIN 0x1p-50              /* twice the bound, for the rounding of the ends */

static const double root[32] = {/* 2^(j/32) */
                                0x1.0000000000000p+0, 0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0,
                                0x1.11301d0125b51p+0, 0x1.172b83c7d517bp+0, 0x1.1d4873168b9aap+0,
                                0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0, 0x1.306fe0a31b715p+0,
                                0x1.371a7373aa9cbp+0, 0x1.3dea64c123422p+0, 0x1.44e086061892dp+0,
                                0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0, 0x1.5ab07dd485429p+0,
                                0x1.6247eb03a5585p+0, 0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0,
                                0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0, 0x1.8ace5422aa0dbp+0,
                                0x1.93737b0cdc5e5p+0, 0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0,
                                0x1.ae89f995ad3adp+0, 0x1.b7f76f2fb5e47p+0, 0x1.c199bdd85529cp+0,
                                0x1.cb720dcef9069p+0, 0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0,
                                0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0};

static double by_mpfr(enum format f, double x, int (*function)(mpfr_t, const mpfr_t, mpfr_rnd_t))
{
    const struct format_facts *facts = &format_facts[f];
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t argument, y;
    mpfr_init2(argument, 53);
    mpfr_init2(y, facts->precision);
    mpfr_set_d(argument, x, MPFR_RNDN);
    int rest = function(y, argument, MPFR_RNDN);
    mpfr_set_emin(facts->emin - facts->precision + 2); /* MPFR's significands are below 1 */
    mpfr_set_emax(facts->emax + 1);
    rest = mpfr_check_range(y, rest, MPFR_RNDN);
    mpfr_subnormalize(y, rest, MPFR_RNDN);
    double value = mpfr_get_d(y, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clears(argument, y, (mpfr_ptr)0);
    return value;
}

double exp_near(double x, double rest)
{
    double k = rint(x * SCALE), r = (x - k * HI) - k * LO + rest;
    double tail = 1.0 / 720 + r * (1.0 / 5040);
    tail = 1.0 / 24 + r * (1.0 / 120 + r * tail);
    double p = r + r * r * (0.5 + r * (1.0 / 6 + r * tail));
    int i = (int)k, j = i & 31;
    return ldexp(root[j] + root[j] * p, (i - j) / 32);
}

double exp_rounded(enum format f, double x)
{
    if (isnan(x) || x == INFINITY)
        return x;
    if (x == 0)
        return 1;
    if (x == -INFINITY)
        return 0;
    if (f == FP64)
        return by_mpfr(f, x, mpfr_exp);
    if (fabs(x) > 150) /* beyond all narrower formats, or below half of what they have */
        return x > 0 ? format_round(f, 0x1p1000) : 0;
    double y = exp_near(x, 0);
    double low = format_round(f, y - y * WITHIN), high = format_round(f, y + y * WITHIN);
    return low == high ? low : by_mpfr(f, x, mpfr_exp);
}

double log_rounded(enum format f, double x)
{
    if (isnan(x) || x < 0)
        return NAN;
    if (x == 0 || x == INFINITY)
        return x == 0 ? -INFINITY : INFINITY;
    return x == 1 ? 0 : by_mpfr(f, x, mpfr_log);
}

double rsqrt_rounded(enum format f, double x)
{
    if (isnan(x) || x < 0)
        return NAN;
    return by_mpfr(f, x, mpfr_rec_sqrt);
}
