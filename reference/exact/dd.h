/* Numbers of two doubles, hi + lo with hi the nearest to the whole: about 106 bits. Relative errors
 * are below 2^-100 where no product leaves the range of doubles (Joldes, Muller, Popescu 2017). */
#pragma once

#include <math.h>

struct dd {
    double hi, lo;
};

/* Exact. */
static inline struct dd dd_sum(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (struct dd){sum, (a - (sum - part)) + (b - part)};
}

/* Exact, for |a| >= |b| or a = 0. */
static inline struct dd dd_fast_sum(double a, double b)
{
    double sum = a + b;
    return (struct dd){sum, b - (sum - a)};
}

/* Exact. */
static inline struct dd dd_product(double a, double b)
{
    double product = a * b;
    return (struct dd){product, fma(a, b, -product)};
}

static inline struct dd dd_add(struct dd a, struct dd b)
{
    struct dd high = dd_sum(a.hi, b.hi), low = dd_sum(a.lo, b.lo);
    high = dd_fast_sum(high.hi, high.lo + low.hi);
    return dd_fast_sum(high.hi, high.lo + low.lo);
}

static inline struct dd dd_times(struct dd a, struct dd b)
{
    struct dd product = dd_product(a.hi, b.hi);
    return dd_fast_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline struct dd dd_over(struct dd a, struct dd b)
{
    double first = a.hi / b.hi;
    struct dd rest = dd_times(b, (struct dd){-first, 0});
    rest = dd_add(a, rest);
    return dd_fast_sum(first, (rest.hi + rest.lo) / b.hi);
}

static inline struct dd dd_abs(struct dd a)
{
    return a.hi < 0 ? (struct dd){-a.hi, -a.lo} : a;
}
