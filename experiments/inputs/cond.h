/* How many elements of which size give an exact sum and an exact condition number. */
#pragma once

#include "reference/format/format.h"

/* The array begins with `negative` and `positive` drawn elements, whose totals these are up to
 * rounding; then come the places of the residual, then those of the sum; the rest is zeros. No
 * element exceeds 2^top. All but the sum's are multiples of `grid`. Signs are those for a positive
 * sum. */
struct cond_plan {
    size_t negative, positive;
    double negative_total, positive_total;
    int spread; /* drawn elements are scaled down by up to 2^spread */
    int top;
    double grid;
    size_t residual_places;
    size_t sum_places; /* 0: the sum goes with the residual; else the others add up to 0 */
};

/* Is there a plan for n >= 1 elements with a sum of this magnitude (> 0, a multiple of the
 * smallest subnormal number) and this condition number (>= 1)? */
bool cond_plan(struct cond_plan *plan, enum format f, size_t n, double sum, double cond);

/* The largest power of two, at most 2^most (<= 2^1023), for which there is a plan; 0 if there is
 * none for 1 either. */
double cond_reach(enum format f, size_t n, double sum, int most);
