/* Quotients by a number of elements, on the CPU. */
#pragma once

#include <math.h>

#include "reference/format/format.h"

/* a / n rounded once to f, of a value a of f; NaN or inf for n = 0. n is not rounded to f: it is
 * exact as a double, since no memory has 2^53 elements. For the narrower formats, the sign of the
 * exact remainder decides where the quotient in double looks like a tie. Floats divide at once
 * where n is one. (a may also be a number of elements below n.) */
static inline double quotient_rounded(enum format f, double a, size_t n)
{
    if (f == FP32 && n <= (size_t)1 << 24)
        return (double)((float)a / (float)n);
    double quotient = a / (double)n;
    if (f == FP64 || !isfinite(quotient))
        return quotient;
    return format_round_pair(f, quotient, fma(-quotient, (double)n, a));
}
