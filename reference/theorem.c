#include "reference/theorem.h"

/* Room for a product of sum|x| (2176 bits), n and u without rounding. */
enum { WORK_PRECISION = 2560 };

/* Sets `to` to what rounding each element to the accumulator may change: u A + n eta/2. */
static void conversion(mpfr_t to, const struct reference *r, enum format storage,
                       enum format accumulator)
{
    const struct format_facts *facts = &format_facts[accumulator];
    mpfr_set_zero(to, 1);
    if (format_holds(accumulator, storage))
        return;
    mpfr_t eta;
    mpfr_init2(eta, 128);
    mpfr_set_d(eta, facts->smallest, MPFR_RNDU);
    mpfr_div_2ui(eta, eta, 1, MPFR_RNDU);
    mpfr_mul_ui(eta, eta, r->n, MPFR_RNDU);
    mpfr_mul_d(to, r->sum_abs, facts->unit_roundoff, MPFR_RNDU);
    mpfr_add(to, to, eta, MPFR_RNDU);
    mpfr_clear(eta);
}

/* Sets `to` to gamma_k = ku/(1-ku). Returns false where that says nothing, ku >= 1. */
static bool set_gamma(mpfr_t to, size_t k, double u)
{
    mpfr_t below;
    mpfr_init2(below, WORK_PRECISION);
    mpfr_set_ui(to, k, MPFR_RNDU);
    mpfr_mul_d(to, to, u, MPFR_RNDU);
    mpfr_ui_sub(below, 1, to, MPFR_RNDD);
    bool says = mpfr_sgn(below) > 0;
    if (says)
        mpfr_div(to, to, below, MPFR_RNDU);
    mpfr_clear(below);
    return says;
}

/* Sets `to` to the factor of sum|x|: (n-1) u, or gamma_h where that is smaller. */
static void factor(mpfr_t to, const struct theorem *t, size_t n, double u)
{
    mpfr_set_ui(to, n > 0 ? n - 1 : 0, MPFR_RNDU);
    mpfr_mul_d(to, to, u, MPFR_RNDU);
    if (t->kind == THEOREM_ANY_ORDER)
        return;
    mpfr_t gamma;
    mpfr_init2(gamma, WORK_PRECISION);
    if (set_gamma(gamma, t->height, u))
        mpfr_min(to, to, gamma, MPFR_RNDU);
    mpfr_clear(gamma);
}

/* The same for THEOREM_COMPENSATED, (1+u) gamma_2h gamma_h. The magnitudes of the errors that the
 * additions of one level make are at most u times those of its sums, so all of them together at
 * most ((1+u)^h - 1) A <= gamma_h A; adding them up, on paths of at most 2h additions, loses
 * gamma_2h of that. The last addition rounds what they leave of S, and S: by u. */
static bool compensated_factor(mpfr_t to, const struct theorem *t, double u)
{
    mpfr_t gamma;
    mpfr_init2(gamma, WORK_PRECISION);
    bool says = set_gamma(to, 2 * t->height, u) && set_gamma(gamma, t->height, u);
    if (says) {
        mpfr_mul(to, to, gamma, MPFR_RNDU);
        mpfr_mul_d(gamma, to, u, MPFR_RNDU);
        mpfr_add(to, to, gamma, MPFR_RNDU);
    }
    mpfr_clear(gamma);
    return says;
}

/* Rounded inputs and flushed operands are perturbed inputs: they enter the bound themselves and
 * enlarge the magnitudes that the additions round. */
bool theorem_bound(mpfr_t bound, const struct theorem *t, const struct reference *r,
                   enum format storage, enum format accumulator)
{
    if (!mpfr_number_p(r->sum_abs))
        return false;
    const struct format_facts *facts = &format_facts[accumulator];
    mpfr_t perturbed, flushed, rounded;
    mpfr_init2(perturbed, WORK_PRECISION);
    mpfr_init2(flushed, WORK_PRECISION);
    mpfr_init2(rounded, WORK_PRECISION);
    conversion(perturbed, r, storage, accumulator);
    mpfr_set_d(flushed, 3 * facts->smallest_normal, MPFR_RNDU);
    mpfr_mul_ui(flushed, flushed, t->flushing, MPFR_RNDU);
    mpfr_add(perturbed, perturbed, flushed, MPFR_RNDU);
    bool says = true;
    if (t->kind == THEOREM_COMPENSATED)
        says = compensated_factor(rounded, t, facts->unit_roundoff);
    else
        factor(rounded, t, r->n, facts->unit_roundoff);
    mpfr_add(flushed, r->sum_abs, perturbed, MPFR_RNDU);
    mpfr_mul(rounded, rounded, flushed, MPFR_RNDU);
    if (t->kind == THEOREM_COMPENSATED) {
        mpfr_abs(flushed, r->sum, MPFR_RNDU);
        mpfr_add(flushed, flushed, perturbed, MPFR_RNDU);
        mpfr_mul_d(flushed, flushed, facts->unit_roundoff, MPFR_RNDU);
        mpfr_add(rounded, rounded, flushed, MPFR_RNDU);
    }
    if (says)
        mpfr_add(bound, perturbed, rounded, MPFR_RNDU);
    mpfr_clears(perturbed, flushed, rounded, (mpfr_ptr)0);
    return says;
}
