/* Quotients by a number of elements, on the CPU. */
#pragma once

#include <math.h>

#include "reference/format/format.h"

/* a / n rounded once to f, of a value a of f; NaN or inf for n = 0. n is taken whole, whatever f
 * could make of it: it is a double, as no memory has 2^53 elements. What the quotient in double
 * lacks, of the narrower formats, is told by the exact remainder: its sign decides what looks like
 * a tie. Floats divide at once where n is one. (a may also be a number of elements below n.) */
static inline double quotient_rounded(enum format f, double a, size_t n)
{
    if (f == FP32 && n <= (size_t)1 << 24)
        return (double)((float)a / (float)n);
    double quotient = a / (double)n;
    if (f == FP64 || !isfinite(quotient))
        return quotient;
    return format_round_pair(f, quotient, fma(-quotient, (double)n, a));
}
