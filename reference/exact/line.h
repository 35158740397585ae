/* One running exact sum over an array, read after every element: what a cascade of doubles can
 * show at its speed, the rest by the fixed-point number. */
#pragma once

#include "reference/exact/cascade.h"
#include "reference/exact/running.h"

/* The most elements that one call takes: what a cascade missed is found again by adding all
 * elements of the call to the fixed-point number, which is cheap for many at once. */
enum { LINE_MOST = 1 << 14 };

struct line {
    bool magnitudes;        /* sums |x| */
    struct cascade cascade; /* the sum, within cascade.error */
    struct running running; /* while cascade.error is not 0: the sum without .. */
    size_t behind;          /* .. that many elements, which come next; 0 between calls */
    unsigned failures;      /* of the cascade, in blocks one after the other */
    bool rounded;           /* of the last call: some lo may not be all that was left */
};

/* Begins at the sum that `before` holds, or at that of its magnitudes. Infinities and NaN in it are
 * left out. */
void line_begin(struct line *l, const struct exact *before, bool magnitudes);

/* Begins again at 0. */
void line_restart(struct line *l);

/* The pairs (hi, lo) of the prefixes that end with elements begin .. begin+count-1, count <=
 * LINE_MOST: hi = the exact prefix rounded to nearest double, lo = the rest rounded to nearest
 * double, 0 where hi is infinite. Returns how many were done: `count`, or those before the first
 * inf or NaN; sums of magnitudes that have overflowed stay infinite and do not look for one. */
size_t line_next(struct line *l, const struct array *a, size_t begin, size_t count, double *hi,
                 double *lo);
