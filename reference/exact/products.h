/* The exact sum of products x y of doubles, with no rounding, overflow or underflow on the way: any
 * number of products below 2^62.
 *
 * A product of doubles has up to 106 bits from 2^-2148 on, up to 2^2048. It is taken apart into two
 * doubles of its own sign, without an error, once the factors are scaled by a power of two where it
 * is so small or so large that these could not hold it. The doubles go to superaccumulators, one
 * for each scale.
 *
 * What the sum is when it is no plain number: exact.h says it, of the products as IEEE 754 gives
 * them; NaN with infinity times zero. */
#pragma once

#include <mpfr.h>

#include "reference/exact/exact.h"

enum { PRODUCTS_SMALL, PRODUCTS_PLAIN, PRODUCTS_LARGE, PRODUCTS_SCALES };

/* Bits from the lowest that a product has to the highest of 2^62 of them. */
enum { PRODUCTS_PRECISION = 2148 + 2048 + 62 + 22 };

struct products {
    /* Private to products.c. Part k holds its products divided by 2^products_scale[k]. */
    struct exact part[PRODUCTS_SCALES];
};

void products_init(struct products *to);

/* Adds the products of elements begin .. begin+count-1 of two arrays of one format. Returns false
 * where memory is short; nothing has been added then. */
bool products_add(struct products *to, const struct array *a, const struct array *b, size_t begin,
                  size_t count);

/* Adds the product of two doubles. */
void products_add_one(struct products *to, double x, double y);

void products_merge(struct products *to, const struct products *from);

/* The sum rounded once to f. */
double products_round(const struct products *s, enum format f);

/* Sets `to` (initialised by the caller) to the sum, or to the sum of the magnitudes, without
 * rounding; its precision is changed. */
void products_get(mpfr_t to, const struct products *s);
void products_get_abs(mpfr_t to, const struct products *s);

/* The loops over doubles, compiled for several instruction sets: hi[i] + lo[i] = x[i] y[i], both of
 * the sign of that product; a lo of 0 is -0. Returns for how many that cannot be (see above), whose
 * hi and lo are undefined. The first is the fastest that is available somewhere, the last is
 * available everywhere. */
struct products_variant {
    const char *name;
    bool (*available)(void); /* on this machine */
    size_t (*split)(const double *x, const double *y, size_t count, double *hi, double *lo);
};
extern const struct products_variant products_variant[];
extern const size_t products_variants;
const struct products_variant *products_fastest(void); /* that of this machine */
