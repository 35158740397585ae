#include "reference/exact/mpfr.h"

#include <math.h>

static void set_magnitude(mpfr_t to, const struct fixed *x)
{
    int top = fixed_highest(x);
    mpfr_set_prec(to, top < MPFR_PREC_MIN ? MPFR_PREC_MIN : top + 1);
    mpz_t integer;
    mpz_init(integer);
    mpz_import(integer, FIXED_LIMBS, -1, sizeof x->limb[0], 0, 0, x->limb);
    mpfr_set_z_2exp(to, integer, FIXED_LOWEST, MPFR_RNDN);
    mpz_clear(integer);
}

static void set_special(mpfr_t to, double value)
{
    mpfr_set_prec(to, MPFR_PREC_MIN);
    mpfr_set_d(to, value, MPFR_RNDN);
}

void exact_get(mpfr_t to, const struct exact *e)
{
    struct fixed magnitude;
    int sign = fixed_difference(&magnitude, &e->side[0], &e->side[1]);
    if (e->nan || e->inf[0] || e->inf[1] || sign == 0) {
        set_special(to, exact_round(e, FP64));
        return;
    }
    set_magnitude(to, &magnitude);
    mpfr_setsign(to, to, sign < 0, MPFR_RNDN);
}

void exact_get_abs(mpfr_t to, const struct exact *e)
{
    if (e->nan || e->inf[0] || e->inf[1]) {
        set_special(to, e->nan ? NAN : INFINITY);
        return;
    }
    struct fixed total = e->side[0];
    fixed_add(&total, &e->side[1]);
    set_magnitude(to, &total);
}

/* Rounded towards zero to a double first, which is then made odd if it is not all. */
double round_mpfr(const mpfr_t x, enum format f)
{
    if (f == FP64 || !mpfr_number_p(x))
        return format_round(f, mpfr_get_d(x, MPFR_RNDN));
    double cut = mpfr_get_d(x, MPFR_RNDZ);
    if (mpfr_cmp_d(x, cut) == 0 || cut == 0)
        return format_round(f, cut);
    return format_round_pair(f, cut, copysign(0x1p-1074, cut));
}
