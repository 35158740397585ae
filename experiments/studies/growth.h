/* How something grows with n: the power law that fits it best. */
#pragma once

#include <stddef.h>

#include "reference/measure/measure.h"

/* log y = log factor + exponent log n, by least squares. */
struct growth {
    size_t points, left_out;        /* points that are fitted; those that have no logarithm */
    struct figure exponent, factor; /* from two different n on */
    /* Of the exponent; and the share of the variance of log y that the law explains, which is not
     * known where all y are the same. From three points on: two lie on a line. */
    struct figure standard_error, r_squared;
};

/* Logarithms, sums and quotients have 320 bits; each figure is then rounded once. */
void growth_fit(struct growth *g, const double *n, const double *y, size_t count);
