/* How large what is on the way to a result can become, in whatever order it is computed.
 *
 * Of sums: A = sum|x|, B is the bound of any order, b the method's own. A partial sum errs by at
 * most what the theorem of any order says of its elements alone, which is not more than B. So none
 * exceeds A + B, and where that is at most the largest number, none overflows. Sums that carry
 * their errors may exceed it by these, which b covers: see theorem_lost_errors.
 *
 * Of what is exact until its last rounding, whatever A is: |value| + b. The same of theorems that
 * have a bound only where nothing overflows, and of those that keep what is on the way in range. */
#include "reference/theorem/factors.h"

/* Adds the larger of the two bounds to `to`. */
static bool add_bounds(mpfr_t to, const struct theorem *t, const struct reference *r,
                       enum format storage, enum format accumulator)
{
    const struct theorem any_order = {
        .kind = THEOREM_ANY_ORDER, .flushing = t->flushing, .product = t->product};
    mpfr_t any, own;
    mpfr_inits2(THEOREM_PRECISION, any, own, (mpfr_ptr)0);
    bool says = theorem_bound(any, &any_order, r, storage, accumulator) &&
                theorem_bound(own, t, r, storage, accumulator);
    if (says) {
        mpfr_max(own, own, any, MPFR_RNDU);
        mpfr_add(to, to, own, MPFR_RNDU);
    }
    mpfr_clears(any, own, (mpfr_ptr)0);
    return says;
}

bool theorem_reach_sum(mpfr_t reach, const struct theorem *t, const struct reference *r,
                       enum format storage, enum format accumulator)
{
    mpfr_set(reach, r->sum_abs, MPFR_RNDU);
    return add_bounds(reach, t, r, storage, accumulator);
}

bool theorem_reach_value(mpfr_t reach, const struct theorem *t, const struct reference *r,
                         enum format storage, enum format accumulator)
{
    mpfr_t value;
    mpfr_init2(value, THEOREM_PRECISION);
    bool says = theorem_bound(reach, t, r, storage, accumulator);
    if (says) {
        mpfr_abs(value, r->sum, MPFR_RNDU);
        mpfr_add(reach, reach, value, MPFR_RNDU);
    }
    mpfr_clear(value);
    return says;
}

/* Of the sum that a mean divides, or whose root a norm is: neither is larger, unless below 1. */
static bool of_tree(mpfr_t reach, const struct theorem *t, const struct reference *terms,
                    enum product_kind product, enum format storage, enum format accumulator)
{
    struct theorem tree = *t;
    tree.kind = THEOREM_TREE;
    tree.product = product;
    return theorem_reach_sum(reach, &tree, terms, storage, accumulator);
}

bool theorem_reach_norm(mpfr_t reach, const struct theorem *t, const struct reference *r,
                        enum format storage, enum format accumulator)
{
    struct reference squares = *r; /* nothing is freed of it */
    squares.of = EXACT_DOT;
    squares.sum[0] = squares.sum_abs[0] = r->moment.squares[0];
    return of_tree(reach, t, &squares, PRODUCT_ROUNDED, storage, accumulator);
}

bool theorem_reach_mean(mpfr_t reach, const struct theorem *t, const struct reference *r,
                        enum format storage, enum format accumulator)
{
    struct reference sums = *r; /* nothing is freed of it */
    sums.of = EXACT_SUM;
    sums.sum[0] = r->moment.sum[0];
    sums.sum_abs[0] = r->moment.sum_abs[0];
    return of_tree(reach, t, &sums, PRODUCT_NONE, storage, accumulator);
}

/* No exponential is above 1, and so no sum of n above n (1 + nu). */
bool theorem_reach_exponentials(mpfr_t reach, const struct theorem *t, const struct reference *r,
                                enum format storage, enum format accumulator)
{
    mpfr_t sum;
    mpfr_init2(sum, THEOREM_PRECISION);
    mpfr_set_ui(sum, r->n, MPFR_RNDU);
    mpfr_mul_d(sum, sum, format_facts[accumulator].unit_roundoff, MPFR_RNDU);
    mpfr_add_ui(sum, sum, 1, MPFR_RNDU);
    mpfr_mul_ui(sum, sum, r->n, MPFR_RNDU);
    bool says = theorem_reach_value(reach, t, r, storage, accumulator);
    if (says)
        mpfr_max(reach, reach, sum, MPFR_RNDU);
    mpfr_clear(sum);
    return says;
}
