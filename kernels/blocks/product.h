/* Products x y of two elements as they are stored, in values that carry the accumulator's format f.
 *
 * The elements are not rounded to the accumulator first: the exact product is formed of what is
 * stored, and rounded once. In doubles it has no error for fp16, bf16 and fp32; of fp64 what the
 * rounded product lacks comes beside it. Where that is cut short (products below 2^-969), it is
 * far below all that the narrower formats round at, and FP64 does not need it. */
#pragma once

#include <math.h>

#include "reference/format/format.h"

/* a + b = sum + rest exactly, or sum is not finite. */
static inline double product_sum(double a, double b, double *rest)
{
    double sum = a + b, of_b = sum - a;
    *rest = (a - (sum - of_b)) + (b - of_b);
    return sum;
}

/* hi + rest rounded once to f. */
static inline double product_round(enum format f, double hi, double rest)
{
    return isfinite(hi) ? format_round_pair(f, hi, rest) : format_round(f, hi);
}

/* x y rounded once to f. */
static inline double product_rounded(enum format f, double x, double y)
{
    double hi = x * y;
    return f == FP64 ? hi : product_round(f, hi, fma(x, y, -hi));
}

/* sum + x y rounded once to f. */
static inline double product_fused(enum format f, double sum, double x, double y)
{
    if (f == FP64)
        return fma(x, y, sum);
    double hi = x * y, lo = fma(x, y, -hi), rest, last;
    if (isinf(sum) && isfinite(x) && isfinite(y)) /* though hi may be the other infinity */
        return sum;
    if (hi == 0 && sum == 0 && x != 0 && y != 0) /* so small that a double has its sign alone */
        return hi;
    double total = product_sum(hi, sum, &rest);
    if (!isfinite(total) || (rest == 0 && lo == 0)) /* a zero keeps its sign */
        return format_round(f, total);
    rest = product_sum(rest, lo, &last);
    /* The part of both below half an ulp of the total, then the sign of the remainder. */
    total = product_sum(total, rest, &rest);
    return product_round(f, total, rest + last);
}

/* x y - p for the rounded product p: exact if f holds the values of the storage and the difference
 * does not underflow. */
static inline double product_error(enum format f, double p, double x, double y)
{
    return f == FP64 ? fma(x, y, -p) : format_round(f, x * y - p);
}
