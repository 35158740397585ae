/* The theorems of norms by their squares, with their proofs.
 *
 * S is the exact sum of squares, T what was computed of it, |T - S| <= d by THEOREM_TREE for
 * products. |sqrt(T) - sqrt(S)| = |T - S| / (sqrt(T) + sqrt(S)) is at most d / sqrt(S), and at most
 * sqrt(d), as sqrt(T) + sqrt(S) >= sqrt(|T - S|). Then the root is rounded.
 *
 * Scaled by 2^k, the elements have 4^k S for their sum of squares. Each square is rounded, with an
 * error of at most eta/2 where it underflows; where x 2^k is subnormal, however it is rounded, the
 * square is below half of eta and becomes 0, so that eta/2 bounds that too. The root's error is
 * divided by 2^k; the rounded root divided by 2^k is rounded again where that is subnormal, by at
 * most eta/2. */
#include "reference/theorem/factors.h"

#include <math.h>

/* If a sum is less than n 4^e, with e a multiple of 1/2, rounding at most doubles it: (1+u)^(h+1)
 * < 2. */
int theorem_scale(enum format f, size_t n, double largest)
{
    int room = format_facts[f].emax, exponent;
    for (size_t rest = n > 0 ? n - 1 : 0; rest > 0; rest /= 2)
        room--;
    frexp(largest, &exponent);
    return (room >= 0 ? room / 2 : -((1 - room) / 2)) - exponent;
}

/* Sets `error` to what the root errs by before it is rounded, of squares whose sum is S. */
static bool root_error(mpfr_t error, const struct theorem *t, const mpfr_t sum,
                       const struct reference *r, enum format storage, enum format accumulator)
{
    struct reference squares = *r; /* nothing is freed of it */
    struct theorem tree = *t;
    mpfr_t root;
    squares.of = EXACT_DOT;
    squares.sum[0] = squares.sum_abs[0] = sum[0];
    tree.kind = THEOREM_TREE;
    tree.product = PRODUCT_ROUNDED; /* fused ones have the same bound */
    mpfr_init2(root, THEOREM_PRECISION);
    bool says = theorem_bound(error, &tree, &squares, storage, accumulator);
    if (says) {
        mpfr_sqrt(root, sum, MPFR_RNDD);
        if (mpfr_zero_p(root)) /* nothing but zeros: their squares add up exactly */
            mpfr_set_zero(root, 1);
        else
            mpfr_div(root, error, root, MPFR_RNDU);
        mpfr_sqrt(error, error, MPFR_RNDU);
        mpfr_min(error, error, root, MPFR_RNDU);
    }
    mpfr_clear(root);
    return says;
}

bool theorem_norm(mpfr_t bound, const struct theorem *t, const struct reference *r,
                  enum format storage, enum format accumulator)
{
    mpfr_t error;
    mpfr_init2(error, THEOREM_PRECISION);
    bool says = root_error(error, t, r->moment.squares, r, storage, accumulator);
    if (says) {
        theorem_last_rounding(error, r, accumulator);
        mpfr_set(bound, error, MPFR_RNDU);
    }
    mpfr_clear(error);
    return says;
}

bool theorem_scaled_norm(mpfr_t bound, const struct theorem *t, const struct reference *r,
                         enum format storage, enum format accumulator)
{
    (void)
        storage; /* products of what the accumulator has: they are all rounded, and may underflow */
    int k = r->largest > 0 ? theorem_scale(accumulator, r->n, r->largest) : 0;
    mpfr_t error, scaled;
    mpfr_init2(error, THEOREM_PRECISION);
    mpfr_init2(scaled, mpfr_get_prec(r->moment.squares));
    mpfr_mul_2si(scaled, r->moment.squares, 2L * k, MPFR_RNDN); /* exact */
    bool says = root_error(error, t, scaled, r, accumulator, accumulator);
    if (says) {
        mpfr_div_2si(error, error, k, MPFR_RNDU);
        theorem_last_rounding(error, r, accumulator);
        theorem_half_smallest(scaled, accumulator);
        mpfr_add(error, error, scaled, MPFR_RNDU);
        mpfr_set(bound, error, MPFR_RNDU);
    }
    mpfr_clears(error, scaled, (mpfr_ptr)0);
    return says;
}
