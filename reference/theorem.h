/* Bounds on the absolute error of a sum, as theorems give them.
 *
 * A method names its theorem; the numbers that it needs come from the case. All
 * bounds presuppose that nothing overflows, and hold with gradual underflow
 * (an addition that underflows is exact). */
#ifndef ULPSCOPE_THEOREM_H
#define ULPSCOPE_THEOREM_H

#include <mpfr.h>

#include "reference/reference.h"

enum theorem_kind {
    THEOREM_ANY_ORDER, /* (n-1) u A, for every order: Rump 2012 */
    THEOREM_TREE,      /* the smaller of that and gamma_h A, gamma_h = hu/(1-hu): Higham 1993 */
    /* u |S| + (1+u) gamma_2h gamma_h A, S the exact sum: every addition's error is found by TwoSum,
     * the errors are added up beside the sums, e1 + (e2 + d), and at last to the sum. */
    THEOREM_COMPENSATED
};

struct theorem {
    enum theorem_kind kind;
    size_t height; /* h, the longest path from a leaf to the root; not for THEOREM_ANY_ORDER */
    /* Additions that may flush a subnormal operand or result to zero, each of
     * which then errs by less than 3 times the smallest normal number. */
    size_t flushing;
};

/* Sets `bound` (initialised, its precision kept, rounded up) for an input in format `storage`
 * accumulated in `accumulator`. Each element is first rounded to the accumulator; where the
 * storage holds values that it does not, the bound carries that rounding too:
 * u A + n eta/2 for it, and A + that in place of A for the additions (eta = smallest subnormal).
 * Returns false where there is no bound: the input holds an inf or NaN, or 2hu >= 1 and it is
 * THEOREM_COMPENSATED's. */
bool theorem_bound(mpfr_t bound, const struct theorem *t, const struct reference *r,
                   enum format storage, enum format accumulator);

#endif
