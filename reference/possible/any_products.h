/* What additions of products x y in any order may give, by how products are formed: what
 * any_order.h says of elements, of terms T = x y that are formed of the elements as they are
 * stored.
 *
 * PRODUCT_ROUNDED: each T is rounded once to the format, and that is an element.
 *
 * All others: a T that is a number of the format is an element, too. Where all are, nothing else
 * remains to be said. Where not, a T may be rounded first or be fused with the addition of whatever
 * it is added to, whose result is rounded once; PRODUCT_EXACT's, in two words, are held to the
 * bounds below alone. With n the number of T that are not 0, S their sum, A = sum|T|, eta the
 * smallest subnormal:
 *
 * Of few T all trees are tried, with each T rounded and fused.
 *
 * NaN: where a T is NaN, or infinite Ts have both signs (infinite factors; not what overflows),
 * there is nothing else. Where they have one sign, there is that infinity, and NaN where the others
 * may overflow to the other.
 *
 * Overflow: additions, fused ones too, round monotonically, so that no partial sum exceeds what
 * some tree of the positive T alone gives. Each of these, P added up, is within n u P (1 + 2u) + n
 * eta of P: rounding a T costs u T or, where it underflows, eta/2; n - 1 additions of what these
 * become cost (n-1) u times their sum (Jeannerod and Rump 2013); what is fused instead is rounded
 * less often.
 *
 * Interval: results are within n u A (1 + 2u) + n eta of S, and within what overflow says; where
 * all T have one sign, no smaller than the largest of them rounded, which may be infinite.
 *
 * Grid: sums of multiples of a power of two are multiples of it, also when rounded, or are rounded
 * to multiples of eta. -0 comes of a negative T that underflows, or of all T being -0. */
#pragma once

#include "reference/possible/any_order.h"
#include "reference/exact/products.h"
#include "reference/theorem/name.h"

enum { PRODUCTS_LISTED = 5 };

/* To be read only, but for rounded.parts_most: 0 there leaves bounds alone. */
struct any_products {
    enum product_kind how;
    struct any_order rounded;                      /* each T rounded once */
    struct products sum;                           /* of the T */
    bool lossy;                                    /* a finite T is no number of the format */
    bool nan, inf[2];                              /* of T; by sign */
    bool plus_zero;                                /* a T is +0 */
    size_t count[2];                               /* of finite T that are not 0; by sign */
    double sum_abs[2];                             /* of their magnitudes, rounded up; by sign */
    int grid;                                      /* all are multiples of 2 to this */
    double x[PRODUCTS_LISTED], y[PRODUCTS_LISTED]; /* the first */
};

/* Products are not elements: how is not PRODUCT_NONE. */
void any_products_init(struct any_products *a, enum format f, enum product_kind how);

/* x and y as they are stored: any doubles. */
void any_products_add(struct any_products *a, double x, double y);

void any_products_possible(const struct any_products *a, struct possible *p);
