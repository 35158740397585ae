/* Norms, means and variances from exact sums, rounded once: as reference_compute_of's values are.
 */
#pragma once

#include "reference/exact/exact.h"
#include "reference/exact/products.h"

/* The root of a sum of squares, rounded once to f. */
double moments_norm(const struct products *squares, enum format f);

/* The sum divided by n, rounded once to f; of nothing NaN. */
double moments_mean(const struct exact *sum, size_t n, enum format f);

/* squares/n - (sum/n)^2, rounded once to f; of nothing NaN. */
double moments_variance(const struct exact *sum, const struct products *squares, size_t n,
                        enum format f);
