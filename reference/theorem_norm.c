/* The theorem of norms by their squares, with its proof.
 *
 * S is the exact sum of squares, T what was computed of it, |T - S| <= d by THEOREM_TREE for
 * products. |sqrt(T) - sqrt(S)| = |T - S| / (sqrt(T) + sqrt(S)) is at most d / sqrt(S), and at most
 * sqrt(d), as sqrt(T) + sqrt(S) >= sqrt(|T - S|). Then the root is rounded. */
#include "reference/theorem_factors.h"

bool theorem_norm(mpfr_t bound, const struct theorem *t, const struct reference *r,
                  enum format storage, enum format accumulator)
{
    struct reference squares = *r; /* nothing is freed of it */
    struct theorem tree = *t;
    mpfr_t error, root;
    squares.of = EXACT_DOT;
    squares.sum[0] = squares.sum_abs[0] = r->moment.squares[0];
    tree.kind = THEOREM_TREE;
    tree.product = PRODUCT_ROUNDED; /* fused ones have the same bound */
    mpfr_inits2(THEOREM_PRECISION, error, root, (mpfr_ptr)0);
    bool says = theorem_bound(error, &tree, &squares, storage, accumulator);
    if (says) {
        mpfr_sqrt(root, r->moment.squares, MPFR_RNDD);
        if (mpfr_zero_p(root)) /* nothing but zeros: their squares add up exactly */
            mpfr_set_zero(root, 1);
        else
            mpfr_div(root, error, root, MPFR_RNDU);
        mpfr_sqrt(error, error, MPFR_RNDU);
        mpfr_min(error, error, root, MPFR_RNDU);
        theorem_last_rounding(error, r, accumulator);
        mpfr_set(bound, error, MPFR_RNDU);
    }
    mpfr_clears(error, root, (mpfr_ptr)0);
    return says;
}
