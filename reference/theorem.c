#include "reference/theorem.h"

#include "reference/theorem_factors.h"

/* The theorems, one entry each. */
static const struct {
    const char *words;
    theorem_says *factors;
} theorems[THEOREMS] = {
    [THEOREM_ANY_ORDER] = {"any order: (n-1) u sum|x|", theorem_any_order},
    [THEOREM_TREE] = {"tree of height h: gamma_h sum|x|", theorem_tree},
    [THEOREM_COMPENSATED] = {"compensated, height h: u |sum| + (1+u) gamma_2h gamma_h sum|x|",
                             theorem_compensated},
};

const char *theorem_words(enum theorem_kind kind)
{
    return theorems[kind].words;
}

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

/* Sets `to` to what additions that flush may change. */
static void flushing(mpfr_t to, const struct theorem *t, enum format accumulator)
{
    mpfr_set_d(to, 3 * format_facts[accumulator].smallest_normal, MPFR_RNDU);
    mpfr_mul_ui(to, to, t->flushing, MPFR_RNDU);
}

/* Adds factor (|magnitude| + perturbed) to `bound`. */
static void add_share(mpfr_t bound, const mpfr_t factor, const mpfr_t magnitude,
                      const mpfr_t perturbed)
{
    mpfr_t share;
    mpfr_init2(share, THEOREM_PRECISION);
    mpfr_abs(share, magnitude, MPFR_RNDU);
    mpfr_add(share, share, perturbed, MPFR_RNDU);
    mpfr_mul(share, share, factor, MPFR_RNDU);
    mpfr_add(bound, bound, share, MPFR_RNDU);
    mpfr_clear(share);
}

/* Rounded inputs and flushed operands are perturbed inputs: they enter the bound themselves and
 * enlarge the magnitudes that the additions round. */
bool theorem_bound(mpfr_t bound, const struct theorem *t, const struct reference *r,
                   enum format storage, enum format accumulator)
{
    if (!mpfr_number_p(r->sum_abs))
        return false;
    mpfr_t perturbed, error;
    struct theorem_factors by;
    mpfr_inits2(THEOREM_PRECISION, perturbed, error, by.of_sum, by.of_abs, by.constant,
                (mpfr_ptr)0);
    conversion(perturbed, r, storage, accumulator);
    flushing(error, t, accumulator);
    mpfr_add(perturbed, perturbed, error, MPFR_RNDU);

    mpfr_set_zero(by.of_sum, 1);
    mpfr_set_zero(by.of_abs, 1);
    mpfr_set_zero(by.constant, 1);
    bool says = theorems[t->kind].factors(&by, t, r, accumulator);
    mpfr_add(error, perturbed, by.constant, MPFR_RNDU);
    add_share(error, by.of_sum, r->sum, perturbed);
    add_share(error, by.of_abs, r->sum_abs, perturbed);
    if (says)
        mpfr_set(bound, error, MPFR_RNDU);
    mpfr_clears(perturbed, error, by.of_sum, by.of_abs, by.constant, (mpfr_ptr)0);
    return says;
}
