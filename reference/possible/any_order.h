/* What additions in any order may give: of an array whose elements are rounded to a format and then
 * added up there, two at a time, by IEEE 754's additions to nearest, along any binary tree.
 *
 * What is called impossible is: no tree gives it. What is called possible mostly is, too. Of few
 * different values (up to eight of them, or many equal ones) all trees are tried, and then just
 * that is possible which one of them gives. Otherwise, with x the elements that are not 0, n their
 * number, S their sum, A = sum|x|, P the sum of the positive ones, N of the negative magnitudes:
 *
 * No element: +0.
 *
 * Zeros: an addition gives -0 only where both operands are -0, since x + -x is +0, and no other sum
 * rounds to 0: all are multiples of the smallest subnormal. So the result is -0 where all elements
 * are -0, and never else.
 *
 * NaN: with a NaN among the elements, or infinities of both signs, there is nothing else, since
 * what has +inf among its leaves is +inf or NaN.
 *
 * Overflow: additions round monotonically, so that a tree gives no less once its negative leaves
 * are replaced by 0. No partial sum exceeds what some tree of the positive elements alone gives, at
 * most P (1 + (n-1) u) (Jeannerod and Rump 2013). Where that reaches 2^(emax+1) there may be +inf
 * on the way, and then as the result, of a tree that adds those first. Likewise -inf; and NaN where
 * both may be.
 *
 * Grid: sums of multiples of a power of two are multiples of it, also when rounded. Where A is no
 * more than 2^p times it, nothing is rounded: the result is S.
 *
 * Interval: all others are within (n-1) u A of S, between -N (1 + (n-1) u) and P (1 + (n-1) u), and
 * where all elements have one sign no smaller than the largest of them. */
#pragma once

#include "reference/exact/exact.h"

enum { POSSIBLE_VALUES = 256 };

/* Results that are possible. Of two things: [0] the positive one, [1] the negative one. */
struct possible {
    bool nan, inf[2], zero[2];
    /* All others lie between these two (none: least > most) and are multiples of `grid`, a power of
     * two. */
    double least, most, grid;
    bool exact;  /* nothing is rounded in any order: they are the sum */
    bool listed; /* they are among these: ascending; none is a zero */
    size_t count;
    double value[POSSIBLE_VALUES];
};

enum { ANY_ORDER_PARTS = 256 };

/* Elements that were added to it, in any order. To be read only, but for parts_most. */
struct any_order {
    enum format f;
    size_t parts_most; /* trees are tried where the multiset has no more parts; at most, and at
                          first, ANY_ORDER_PARTS. Without, there are bounds alone */
    bool nan, inf[2];
    bool empty, plain; /* as in struct exact */
    struct exact sum;  /* of the rounded elements */
    double sum_abs[2]; /* of magnitudes by sign, rounded up */
    double largest[2]; /* magnitude by sign, 0 where there is none */
    size_t count[2];   /* by sign */
    double grid;       /* 0 where there is none */
    size_t distinct;   /* different values, as far as they are listed; */
    size_t parts;      /* of the multiset; 0 once there are too many */
    double value[8];
    size_t times[8];
};

void any_order_init(struct any_order *a, enum format f);

/* x as it is stored: any double. */
void any_order_add(struct any_order *a, double x);

void any_order_possible(const struct any_order *a, struct possible *p);

/* Rounds the possible results once more. */
void possible_round(struct possible *p, enum format f);

/* Is this double one of them? Zeros are told apart. */
bool possible_holds(const struct possible *p, double result);
