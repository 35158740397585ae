/* Bounds from above in doubles, of numbers >= 0; and the numbers of a format next to a bound. */
#pragma once

#include <math.h>

#include "reference/format/format.h"

/* a + b, rounded up: b itself, where that is inf. */
static inline double add_up(double a, double b)
{
    double sum = a + b, of_b = sum - a, lost = (a - (sum - of_b)) + (b - of_b);
    return lost <= 0 ? sum : nextafter(sum, INFINITY); /* NaN where sum is inf, which stays */
}

static inline double multiply_up(double a, double b)
{
    return a == 0 || b == 0 ? 0 : nextafter(a * b, INFINITY);
}

/* The largest finite number of f that is no larger than x; least, of those that are no smaller. */
static inline double number_below(enum format f, double x)
{
    double largest = format_facts[f].largest, y = format_round(f, x);
    y = y > x ? format_next_down(f, y) : y;
    return fmax(fmin(y, largest), -largest);
}

static inline double number_above(enum format f, double x)
{
    return -number_below(f, -x);
}
