/* The shape of a distribution of results: how far apart, how lopsided, how heavy its tails, and
 * whether a normal distribution would look like that. */
#pragma once

#include "experiments/runs/tally.h"

/* With fewer runs the approximations that the test of normality stands on do not hold. With fewer
 * different results the spacing of the format is no longer small beside the deviation, and says
 * more than the distribution. */
enum { NORMALITY_RUNS = 20, NORMALITY_DISTINCT = 10 };

struct distribution {
    uint64_t runs, distinct;
    struct figure spread; /* largest result - least */
    /* m_k is the mean of (result - mean)^k over the runs. */
    struct figure skewness; /* g1 = m3 / m2^(3/2); 0 for a normal distribution */
    struct figure kurtosis; /* g2 = m4 / m2^2 - 3; 0 for a normal distribution */
    /* The omnibus test of D'Agostino and Pearson: K^2 = Z(g1)^2 + Z(g2)^2, and the probability of
     * as large a K^2 of a normal distribution, exp(-K^2 / 2). Z(g1) as D'Agostino (1970), Z(g2) as
     * Anscombe and Glynn (1983) have it; both in D'Agostino, Belanger and D'Agostino, The American
     * Statistician 44 (1990). */
    struct figure k2, p;
    const char *note; /* why there is no test, or "" */
};

/* Of the runs of a tally of sums; figures that there are none of are not known: all of them where
 * a result is not finite. Moments are exact (10,240 bits), roots, quotients and logarithms have
 * 256 bits; each figure is then rounded once. */
void distribution_of(struct distribution *d, const struct tally *t);
