/* The theorems that bound a sum's error, by name, and what a case adds: all that a method needs to
 * know of them. What they say in numbers is theorem.h's, which needs MPFR. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reference/format/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* theorems.def says what each is. */
enum theorem_kind {
#define THEOREM(kind, ...) THEOREM_##kind,
#include "reference/theorem/theorems.def"
    THEOREMS
};

/* How a theorem says that a method adds. */
enum additions {
    ADDS_PLAIN,   /* rounded additions of the elements, nothing else */
    ADDS_WIDENED, /* the same in the wider format, then rounded */
    ADDS_CARRIED, /* additions that carry their errors along, in folds words or, without, in two */
    ADDS_BINNED,  /* exact ones of elements that are cut to theorem_digits, then rounded */
    ADDS_EXACT,   /* exact ones of elements as they are stored, then rounded */
    ADDS_OTHER    /* of what is no sum, or rounds on the way too: its theorem alone says how far */
};
enum additions theorem_additions(enum theorem_kind kind);

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

struct theorem_memo;

struct theorem {
    enum theorem_kind kind;
    size_t height; /* h, the longest path from a leaf to the root; where theorem_has_height */
    /* The levels next to the leaves that add without finding errors, as far as the tree has them,
     * where those above find them; or, with THEOREM_SPLIT, those of chunks; else 0. */
    size_t plain_height;
    unsigned folds; /* K, where an algorithm is offered in K times the digits; else 0 */
    /* Additions that may flush a subnormal operand or result to zero; each then has an error of
     * less than 3 times the smallest normal number. */
    size_t flushing;
    enum product_kind product; /* that a dot product is a sum of; then A = sum|x y| */
    double given; /* THEOREM_BLOCKS only: the bound, rounded up; infinite: it says nothing */
    struct theorem_memo *memo; /* theorem.h; NULL: none */
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
