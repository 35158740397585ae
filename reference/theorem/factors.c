#include "reference/theorem/factors.h"

#include <math.h>

/* As a quotient of integers, k c / (2^p - k c) for u = c 2^-p, which is found in a fraction of the
 * time, where both fit in a word; it is the same number. */
static bool gamma_of_integers(mpfr_t to, size_t k, double u)
{
    double whole = 1 / u < 0x1p60 ? ldexp(u, 60) : 0;
    unsigned long one = 1UL << 60, unit = (unsigned long)whole, product;
    if (unit == 0 || (double)unit != whole || __builtin_mul_overflow(k, unit, &product) ||
        product >= one)
        return false;
    mpfr_set_ui(to, product, MPFR_RNDU);
    mpfr_div_ui(to, to, one - product, MPFR_RNDU);
    return true;
}

bool theorem_gamma(mpfr_t to, size_t k, double u)
{
    if (gamma_of_integers(to, k, u))
        return true;
    mpfr_t below;
    mpfr_init2(below, THEOREM_PRECISION);
    mpfr_set_ui(to, k, MPFR_RNDU);
    mpfr_mul_d(to, to, u, MPFR_RNDU);
    mpfr_ui_sub(below, 1, to, MPFR_RNDD);
    bool says = mpfr_sgn(below) > 0;
    if (says)
        mpfr_div(to, to, below, MPFR_RNDU);
    mpfr_clear(below);
    return says;
}

void theorem_growth(mpfr_t to, size_t k, const mpfr_t v)
{
    mpfr_add_ui(to, v, 1, MPFR_RNDU);
    mpfr_pow_ui(to, to, k, MPFR_RNDU);
    mpfr_sub_ui(to, to, 1, MPFR_RNDU);
}

void theorem_half_smallest(mpfr_t to, enum format f)
{
    mpfr_set_d(to, format_facts[f].smallest, MPFR_RNDU);
    mpfr_div_2ui(to, to, 1, MPFR_RNDU);
}

void theorem_element(mpfr_t change, const mpfr_t x, enum format storage, enum format accumulator)
{
    struct conversion by = format_conversion(accumulator, storage);
    mpfr_mul_d(change, x, by.relative, MPFR_RNDU);
    mpfr_add_d(change, change, by.absolute, MPFR_RNDU);
}

/* (n-1) u. */
bool theorem_any_order(struct theorem_factors *to, const struct theorem *t,
                       const struct reference *r, enum format f)
{
    (void)t;
    mpfr_set_ui(to->of_abs, r->n > 0 ? r->n - 1 : 0, MPFR_RNDU);
    mpfr_mul_d(to->of_abs, to->of_abs, format_facts[f].unit_roundoff, MPFR_RNDU);
    return true;
}

/* (n-1) u, or gamma_h where that is smaller. */
bool theorem_tree(struct theorem_factors *to, const struct theorem *t, const struct reference *r,
                  enum format f)
{
    theorem_any_order(to, t, r, f);
    mpfr_t gamma;
    mpfr_init2(gamma, THEOREM_PRECISION);
    if (theorem_gamma(gamma, t->height, format_facts[f].unit_roundoff))
        mpfr_min(to->of_abs, to->of_abs, gamma, MPFR_RNDU);
    mpfr_clear(gamma);
    return true;
}
