/* The theorems that bound a sum's error, by name, and what a case adds: all that a method needs to
 * know of them. What they say in numbers is theorem.h's, which needs MPFR. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reference/format/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* S is the exact sum, A = sum|x|, h the height, gamma_k = ku/(1-ku). Where a bound is given but for
 * higher powers of u, all of it stands, with its proof, in theorem/accurate.c. */
enum theorem_kind {
    THEOREM_ANY_ORDER, /* (n-1) u A, for every order: Jeannerod and Rump 2013 */
    THEOREM_TREE,      /* the smaller of that and gamma_h A: Higham 1993 */
    /* u |S| + (1+u) gamma_2h gamma_h A: every addition's error is found by TwoSum, the errors are
     * added up beside the sums, e1 + (e2 + d), and at last to the sum: Ogita, Rump and Oishi 2005.
     */
    THEOREM_COMPENSATED,
    /* u |S| + (2u + ..) A: the same, but where an element is added to a sum, what earlier additions
     * lost is added to the element first, and the error is found by Fast2Sum, whichever of the two
     * is the larger: Kahan 1965; Knuth 1997; Higham 1993. */
    THEOREM_KAHAN,
    /* (u + ..) |S| + (K! (hu)^K + ..) A, K = folds: the errors of one word's additions are added to
     * the next word by TwoSum, those of the last word's are lost: Ogita, Rump and Oishi 2005. */
    THEOREM_K_FOLD,
    /* u |S| + (3h u^2 + ..) A: additions of double words: Joldes, Muller and Popescu 2017. */
    THEOREM_DOUBLE_WORD,
    /* u |S| + (gamma_b + ..) A: plain additions up to a height of b = plain_height, above it
     * THEOREM_COMPENSATED: Blanchard, Higham and Mary 2020. */
    THEOREM_BLOCKED,
    /* E + u (|S| + E), E = THEOREM_TREE in the next wider format; or E + eta/2, if that is more
     * (eta = smallest subnormal): rounded once at the end. */
    THEOREM_WIDENED,
    /* u |S|, or eta/2 if that is more: the exact sum of the elements as they are stored, rounded
     * once. */
    THEOREM_CORRECTLY_ROUNDED,
    /* u |S| + (1+u) (n-1) 2^-D max|x|, or with eta/2 for the last rounding if that is more, D =
     * theorem_digits: the exact sum of the elements, cut to D digits of the largest, rounded once:
     * after Demmel and Nguyen 2015. */
    THEOREM_BINNED,
    /* d / sqrt(S) or, if that is less, sqrt(d), rounded once more, S = sum x^2: d is the bound of
     * THEOREM_TREE for the sum of rounded squares. */
    THEOREM_NORM,
    /* The same of elements that theorem_scale's power of two has multiplied, and divided by it;
     * then eta/2 more. */
    THEOREM_SCALED_NORM,
    /* d / n, rounded once more, with d the bound of THEOREM_TREE for the sum. */
    THEOREM_MEAN,
    /* (2u + u^2) (A/n + X) + (n+1)/2 (u X + eta/2), X = max|x|: m + (x - m)/k. */
    THEOREM_RUNNING_MEAN,
    /* The variance of a population: from the means of x and of x^2; from each element's distance to
     * the mean; by M + (x - m)(x - m'), m and m' means as they run; by merging parts in a tree. */
    THEOREM_TEXTBOOK,
    THEOREM_TWO_PASS,
    THEOREM_WELFORD,
    THEOREM_CHAN,
    /* ((1 + u/(1+u))^k - 1) |P|, about k u |P|, of the product P of n elements in any order, k = n
     * - 1, with exponents kept apart: every multiplication affects the result, so the height of the
     * tree does not affect the bound. k = 2n - 1 if the storage has more digits; eta/2 more if the
     * result may be subnormal. Higham 2002, 3.1; Jeannerod and Rump 2018. */
    THEOREM_PRODUCT,
    /* 0; where the accumulator does not hold the storage's values u |value| or, if that is more,
     * eta/2: an element, rounded once. Of an index 0. */
    THEOREM_EXTREMUM,
    /* As `given`, element by element: fused blocks of a matrix instruction, whose parameters only
     * its model knows (kernels/mma/bound.c states the theorem and proves it). */
    THEOREM_BLOCKS,
    THEOREM_NONE, /* no bound: the order and arithmetic are unknown */
    THEOREMS
};

/* The terms of a sum: the elements of an array or, in a dot product, products x y of two arrays,
 * each formed from the stored elements. */
enum product_kind {
    PRODUCT_NONE,    /* elements, not products */
    PRODUCT_ROUNDED, /* rounded once to the accumulator, before it is added */
    PRODUCT_FUSED,   /* added to the sum before anything is rounded: one rounding for both */
    /* Kept as two words of the accumulator, p + e: p = x y rounded, e = x y - p, which is exact
     * unless it underflows, as the accumulator holds the storage's values; or kept whole. */
    PRODUCT_EXACT,
    PRODUCT_UNKNOWN, /* of those that are not ours: rounded or fused, at most one rounding each */
    PRODUCTS
};
extern const char *const product_name[PRODUCTS]; /* "" for none */

/* k, where elements are multiplied by 2^k before they are squared: as much as keeps the sum of n
 * squares, each rounded, and added in a tree of a height of at most 1/(4u), from overflow in f.
 * largest: max|x| > 0. */
int theorem_scale(enum format f, size_t n, double largest);

/* The theorem in a line, for listing. */
const char *theorem_words(enum theorem_kind kind);

/* Does it speak of a tree, whose height it needs to know? */
bool theorem_has_height(enum theorem_kind kind);

struct theorem {
    enum theorem_kind kind;
    size_t height; /* h, the longest path from a leaf to the root; where theorem_has_height */
    /* The levels next to the leaves that add without finding errors, as far as the tree has them,
     * where those above find them; else 0. */
    size_t plain_height;
    unsigned folds; /* K, where an algorithm is offered in K times the digits; else 0 */
    /* Additions that may flush a subnormal operand or result to zero; each then has an error of
     * less than 3 times the smallest normal number. */
    size_t flushing;
    enum product_kind product; /* that a dot product is a sum of; then A = sum|x y| */
    double given; /* THEOREM_BLOCKS only: the bound, rounded up; infinite: it says nothing */
};

/* Digits that THEOREM_BINNED keeps of the largest element: `folds` times the accumulator's
 * precision, no fewer than the storage's, so that one element alone is kept whole. */
static inline int theorem_digits(enum format storage, enum format accumulator, unsigned folds)
{
    int digits = (int)folds * format_facts[accumulator].precision;
    int least = format_facts[storage].precision;
    return digits > least ? digits : least;
}

#ifdef __cplusplus
}
#endif
