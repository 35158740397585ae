/* The theorems that bound a sum's error, by name, and what a case adds: all that a method needs to
 * know of them. What they say in numbers is theorem.h's, which needs MPFR. */
#ifndef ULPSCOPE_THEOREM_NAME_H
#define ULPSCOPE_THEOREM_NAME_H

#include <stddef.h>

enum theorem_kind {
    THEOREM_ANY_ORDER, /* (n-1) u A, for every order: Rump 2012 */
    THEOREM_TREE,      /* the smaller of that and gamma_h A, gamma_h = hu/(1-hu): Higham 1993 */
    /* S is the exact sum. Every addition's error is found by TwoSum, the errors are added up beside
     * the sums, e1 + (e2 + d), and at last to the sum: Ogita, Rump and Oishi 2005. */
    THEOREM_COMPENSATED,
    THEOREM_KAHAN,       /* as sum/kahan does: Knuth; Higham 1993 */
    THEOREM_K_FOLD,      /* as sum/sumk does, K = folds: Ogita, Rump and Oishi 2005 */
    THEOREM_DOUBLE_WORD, /* double-word additions: Joldes, Muller and Popescu 2017 */
    /* Plain additions up to plain_height, above them THEOREM_COMPENSATED: Blanchard, Higham and
     * Mary 2020. */
    THEOREM_BLOCKED,
    THEOREM_WIDENED, /* THEOREM_TREE in the next wider format, rounded once at the end */
    THEOREMS
};

/* The theorem in a line, for listing. */
const char *theorem_words(enum theorem_kind kind);

struct theorem {
    enum theorem_kind kind;
    size_t height; /* h, the longest path from a leaf to the root; not for THEOREM_ANY_ORDER */
    /* The levels next to the leaves that add without finding errors, as far as the tree has them,
     * where those above find them; else 0. */
    size_t plain_height;
    unsigned folds; /* K, the words of a sum, where an algorithm is offered with several; else 0 */
    /* Additions that may flush a subnormal operand or result to zero, each of
     * which then errs by less than 3 times the smallest normal number. */
    size_t flushing;
};

#endif
