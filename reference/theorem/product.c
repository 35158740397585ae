/* The theorems of products and of extrema, with their proofs.
 *
 * A product of n factors in any order is the exact one times n - 1 factors 1 + d, one for each
 * multiplication, and one for each factor whose significand is rounded first: all multiplications
 * of a tree affect its result, so its height does not affect the bound (Higham 2002, 3.1). |d| <=
 * u/(1+u) (Jeannerod and Rump 2018), so the error is at most (1 + u/(1+u))^k - 1 of the product.
 * Exponents are kept apart, so it holds however large or small partial products are. At last the
 * significand, which the format holds, meets the format's exponents: nothing is rounded unless the
 * result is subnormal, then it changes by eta/2 at most (eta = smallest subnormal). */
#include <math.h>

#include "reference/theorem/factors.h"

/* Sets `to` to (1 + u/(1+u))^k - 1, rounded up. */
static void growth(mpfr_t to, size_t k, double u)
{
    mpfr_set_d(to, u, MPFR_RNDN);
    mpfr_add_ui(to, to, 1, MPFR_RNDD);
    mpfr_d_div(to, u, to, MPFR_RNDU);
    mpfr_add_ui(to, to, 1, MPFR_RNDU);
    mpfr_pow_ui(to, to, k, MPFR_RNDU);
    mpfr_sub_ui(to, to, 1, MPFR_RNDU);
}

/* Adds eta/2 to `error` where a result so far off may be subnormal. */
static void add_subnormal(mpfr_t error, const struct reference *r, enum format f)
{
    mpfr_t least;
    mpfr_init2(least, THEOREM_PRECISION);
    mpfr_sub(least, r->sum_abs, error, MPFR_RNDD);
    if (mpfr_cmp_d(least, format_facts[f].smallest_normal) < 0) {
        mpfr_set_d(least, format_facts[f].smallest, MPFR_RNDN);
        mpfr_div_2ui(least, least, 1, MPFR_RNDN);
        mpfr_add(error, error, least, MPFR_RNDU);
    }
    mpfr_clear(least);
}

bool theorem_product(mpfr_t bound, const struct theorem *t, const struct reference *r,
                     enum format storage, enum format accumulator)
{
    (void)t;
    const struct format_facts *f = &format_facts[accumulator];
    size_t roundings = r->n > 0 ? r->n - 1 : 0;
    mpfr_t error;
    if (format_facts[storage].precision > f->precision)
        roundings += r->n;
    mpfr_init2(error, THEOREM_PRECISION);
    mpfr_set_zero(error, 1);
    if (!mpfr_zero_p(r->sum)) { /* zero times what is finite is zero */
        growth(error, roundings, f->unit_roundoff);
        mpfr_mul(error, error, r->sum_abs, MPFR_RNDU);
        add_subnormal(error, r, accumulator);
    }
    mpfr_set(bound, error, MPFR_RNDU);
    mpfr_clear(error);
    return true;
}

/* Comparisons are exact: an error can only come from rounding what was found, which a format that
 * holds the storage's values, or an index that is one of its values, does not need. */
bool theorem_extremum(mpfr_t bound, const struct theorem *t, const struct reference *r,
                      enum format storage, enum format accumulator)
{
    (void)t;
    mpfr_set_zero(bound, 1);
    struct conversion by = format_conversion(accumulator, storage);
    bool low = fabs(mpfr_get_d(r->sum, MPFR_RNDZ)) < format_facts[accumulator].smallest_normal;
    if (exact_facts[r->of].form != FORM_INDEX && (by.relative > 0 || (by.absolute > 0 && low)))
        theorem_last_rounding(bound, r, accumulator);
    return true;
}
