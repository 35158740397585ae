#include "reference/theorem/population.h"

void population_free(struct population *x)
{
    mpfr_clears(x->mean, x->mean_abs, x->largest, x->deviation, x->moved, (mpfr_ptr)0);
}

static void grow(mpfr_t x, enum format storage, enum format accumulator)
{
    mpfr_t change;
    mpfr_init2(change, THEOREM_PRECISION);
    theorem_element(change, x, storage, accumulator);
    mpfr_add(x, x, change, MPFR_RNDU);
    mpfr_clear(change);
}

void population_cross(mpfr_t to, const mpfr_t x, double factor, const mpfr_t y)
{
    mpfr_t sum;
    mpfr_init2(sum, THEOREM_PRECISION);
    mpfr_mul_d(sum, y, factor, MPFR_RNDU);
    mpfr_add(sum, sum, x, MPFR_RNDU);
    mpfr_mul(to, sum, x, MPFR_RNDU);
    mpfr_clear(sum);
}

void population_init(struct population *x, const struct reference *r, enum format storage,
                     enum format accumulator)
{
    mpfr_t change;
    mpfr_inits2(THEOREM_PRECISION, x->mean, x->mean_abs, x->largest, x->deviation, x->moved, change,
                (mpfr_ptr)0);
    mpfr_div_ui(x->mean_abs, r->moment.sum_abs, r->n, MPFR_RNDU);
    mpfr_div_ui(x->mean, r->moment.sum, r->n, MPFR_RNDA);
    mpfr_abs(x->mean, x->mean, MPFR_RNDU);
    theorem_element(change, x->mean_abs, storage, accumulator);
    mpfr_add(x->mean, x->mean, change, MPFR_RNDU);
    mpfr_add(x->mean_abs, x->mean_abs, change, MPFR_RNDU);
    mpfr_set_d(x->largest, r->largest, MPFR_RNDU);
    grow(x->largest, storage, accumulator);
    mpfr_sqrt(change, r->sum_abs, MPFR_RNDU);
    theorem_element(change, change, storage, accumulator);
    mpfr_sqrt(x->deviation, r->sum, MPFR_RNDU);
    population_cross(x->moved, change, 2, x->deviation);
    mpfr_add(x->deviation, x->deviation, change, MPFR_RNDU);
    mpfr_clear(change);
}
