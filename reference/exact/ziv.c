#include "reference/exact/ziv.h"

#define NEXT_TO_NOTHING (-10000)

/* Sets `to` to the first `digits` bits and two more; false where the enclosure does not tell. */
static bool cut(mpfr_t to, const mpfr_t lo, const mpfr_t hi, mpfr_prec_t digits)
{
    mpfr_set_prec(to, digits);
    mpfr_set(to, lo, MPFR_RNDZ);
    mpfr_nextabove(to);
    bool told = mpfr_lessequal_p(hi, to);
    mpfr_nextbelow(to);
    mpfr_prec_round(to, digits + 2, MPFR_RNDZ);
    mpfr_nextabove(to);
    return told;
}

/* Is it as far from the nearest double as `digits` bits say well? */
static bool apart(const mpfr_t x, mpfr_prec_t digits)
{
    mpfr_t nearest;
    mpfr_init2(nearest, 53);
    mpfr_set(nearest, x, MPFR_RNDN);
    mpfr_sub(nearest, nearest, x, MPFR_RNDN);
    bool far = !mpfr_zero_p(nearest) && mpfr_get_exp(nearest) > mpfr_get_exp(x) - digits + 100;
    mpfr_clear(nearest);
    return far;
}

void ziv_settle(mpfr_t to, ziv_enclose *enclose, const void *context)
{
    mpfr_t lo, hi;
    mpfr_prec_t digits = ZIV_DIGITS, precision = ZIV_DIGITS + 64;
    int sign;
    mpfr_inits2(precision, lo, hi, (mpfr_ptr)0);
    for (;;) {
        mpfr_set_prec(lo, precision);
        mpfr_set_prec(hi, precision);
        sign = enclose(lo, hi, precision, context);
        if (mpfr_cmp_ui_2exp(hi, 1, NEXT_TO_NOTHING) <= 0) {
            mpfr_set_prec(to, digits + 2);
            mpfr_set_ui_2exp(to, 1, NEXT_TO_NOTHING, MPFR_RNDN);
            break;
        }
        bool told = !mpfr_zero_p(lo) && cut(to, lo, hi, digits);
        if (told && (digits >= ZIV_DIGITS_MOST || apart(to, digits)))
            break;
        if (told)
            digits *= 2;
        precision = (told ? digits : precision) + precision / 2;
    }
    mpfr_setsign(to, to, sign < 0, MPFR_RNDN);
    mpfr_clears(lo, hi, (mpfr_ptr)0);
}
