#include "reference/theorem_factors.h"

bool theorem_gamma(mpfr_t to, size_t k, double u)
{
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

/* (1+u) gamma_2h gamma_h. The magnitudes of the errors that the additions of one level make are at
 * most u times those of its sums, so all of them together at most ((1+u)^h - 1) A <= gamma_h A;
 * adding them up, on paths of at most 2h additions, loses gamma_2h of that. The last addition
 * rounds what they leave of S, and S: by u. */
bool theorem_compensated(struct theorem_factors *to, const struct theorem *t,
                         const struct reference *r, enum format f)
{
    (void)r;
    double u = format_facts[f].unit_roundoff;
    mpfr_t gamma;
    mpfr_init2(gamma, THEOREM_PRECISION);
    bool says = theorem_gamma(to->of_abs, 2 * t->height, u) && theorem_gamma(gamma, t->height, u);
    if (says) {
        mpfr_mul(to->of_abs, to->of_abs, gamma, MPFR_RNDU);
        mpfr_mul_d(gamma, to->of_abs, u, MPFR_RNDU);
        mpfr_add(to->of_abs, to->of_abs, gamma, MPFR_RNDU);
        mpfr_set_d(to->of_sum, u, MPFR_RNDU);
    }
    mpfr_clear(gamma);
    return says;
}
