/* The theorems of variances from sums, with their proofs, in the words of theorem/population.h.
 *
 * Textbook. m is the mean, q that of squares, both by THEOREM_MEAN, with errors e and f. m^2 errs
 * by e (2 |mean| + e), its rounding adds to that, and the subtraction rounds s^2 with both errors.
 *
 * Two passes. m errs by e of the mean of x~, as THEOREM_MEAN says; the mean of (x~ - m)^2 is
 * v = s~^2 + (m - mean~)^2 <= s~^2 + e^2. Each distance is rounded, by a factor within 1 +- u (it
 * cannot underflow): their squares' mean is v but for (2u + u^2) v. THEOREM_TREE says what rounding
 * and adding the squares may change. Then the sum is divided and rounded.
 */
#include "reference/theorem/population.h"

/* Sets `error` to what THEOREM_MEAN says of numbers of `storage` whose mean and mean magnitude are
 * these: elements, or products of two. */
static bool mean_error(mpfr_t error, const struct theorem *t, const struct reference *r,
                       const mpfr_t mean, const mpfr_t mean_abs, enum product_kind product,
                       enum format storage, enum format accumulator)
{
    struct reference sums = *r; /* nothing is freed of it */
    struct theorem tree = *t;
    mpfr_t sum, sum_abs;
    mpfr_inits2(THEOREM_PRECISION, sum, sum_abs, (mpfr_ptr)0);
    mpfr_mul_ui(sum, mean, r->n, MPFR_RNDU);
    mpfr_mul_ui(sum_abs, mean_abs, r->n, MPFR_RNDU);
    sums.of = EXACT_DOT;
    sums.sum[0] = sum[0];
    sums.sum_abs[0] = sum_abs[0];
    tree.kind = THEOREM_TREE;
    tree.product = product;
    bool says = theorem_bound(error, &tree, &sums, storage, accumulator);
    if (says) {
        mpfr_div_ui(error, error, r->n, MPFR_RNDU);
        sums.sum[0] = mean[0];
        theorem_last_rounding(error, &sums, accumulator);
    }
    mpfr_clears(sum, sum_abs, (mpfr_ptr)0);
    return says;
}

bool theorem_textbook(mpfr_t bound, const struct theorem *t, const struct reference *r,
                      enum format storage, enum format accumulator)
{
    struct population x;
    mpfr_t of_mean, of_squares, square;
    population_init(&x, r, storage, storage); /* as they are stored */
    mpfr_inits2(THEOREM_PRECISION, of_mean, of_squares, square, (mpfr_ptr)0);
    bool says =
        mean_error(of_mean, t, r, x.mean, x.mean_abs, PRODUCT_NONE, storage, accumulator) &&
        mean_error(of_squares, t, r, r->sum_abs, r->sum_abs, PRODUCT_ROUNDED, storage, accumulator);
    if (says) {
        struct reference squared = *r;
        population_cross(of_mean, of_mean, 2, x.mean);
        mpfr_sqr(square, x.mean, MPFR_RNDU);
        squared.sum[0] = square[0];
        theorem_last_rounding(of_mean, &squared, accumulator);
        mpfr_add(of_mean, of_mean, of_squares, MPFR_RNDU);
        theorem_last_rounding(of_mean, r, accumulator);
        mpfr_set(bound, of_mean, MPFR_RNDU);
    }
    mpfr_clears(of_mean, of_squares, square, (mpfr_ptr)0);
    population_free(&x);
    return says;
}

bool theorem_two_pass(mpfr_t bound, const struct theorem *t, const struct reference *r,
                      enum format storage, enum format accumulator)
{
    struct population x;
    mpfr_t error, scatter, squares;
    population_init(&x, r, storage, accumulator);
    mpfr_inits2(THEOREM_PRECISION, error, scatter, squares, (mpfr_ptr)0);
    bool says = mean_error(error, t, r, x.mean, x.mean_abs, PRODUCT_NONE, accumulator, accumulator);
    mpfr_sqr(error, error, MPFR_RNDU);
    mpfr_sqr(scatter, x.deviation, MPFR_RNDU);
    mpfr_add(scatter, scatter, error, MPFR_RNDU); /* v */
    mpfr_add(error, error, x.moved, MPFR_RNDU);
    mpfr_set_d(squares, format_facts[accumulator].unit_roundoff, MPFR_RNDU);
    theorem_growth(squares, 2, squares); /* 2u + u^2, which is no double where u is fp64's */
    mpfr_mul(squares, squares, scatter, MPFR_RNDU);
    mpfr_add(error, error, squares, MPFR_RNDU);
    mpfr_add(squares, squares, scatter, MPFR_RNDU);
    says = says &&
           mean_error(scatter, t, r, squares, squares, PRODUCT_ROUNDED, accumulator, accumulator);
    if (says) {
        mpfr_add(error, error, scatter, MPFR_RNDU); /* the last rounding's too */
        mpfr_set(bound, error, MPFR_RNDU);
    }
    mpfr_clears(error, scatter, squares, (mpfr_ptr)0);
    population_free(&x);
    return says;
}
