/* Which classes of special inputs are of what. */
#pragma once

#include "experiments/conformance/class.h"

/* Is it of statistics alone, means, variances and those of rows? */
static inline bool special_of_statistics(const struct special_class *class)
{
    return class == &special_masked || class == &special_equal || class == &special_mean ||
           class == &special_squares || class == &special_scores;
}

/* Is it of sums, and of all that adds as they do? */
static inline bool special_of_sums(const struct special_class *class)
{
    return class != &special_factors && !special_of_statistics(class);
}
