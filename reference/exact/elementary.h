/* exp, log and 1/sqrt, correctly rounded to a format: what methods of softmax, logsumexp and norms
 * of rows use, so that a method's result is specified by its order alone. */
#pragma once

#include "reference/format/format.h"

/* exp(x), of a value x of any format, rounded once to f, to nearest, ties to even; underflow is
 * gradual. exp(-inf) = +0, exp(+inf) = +inf, exp(NaN) = NaN, exp(+-0) = 1. */
double exp_rounded(enum format f, double x);

/* exp(x + rest), |x| <= 150, |rest| <= 2^-45, to within 2^-50 of it. */
double exp_near(double x, double rest);

/* log(x) likewise: log(1) = +0, log(+-0) = -inf, log(+inf) = +inf; NaN below 0. */
double log_rounded(enum format f, double x);

/* 1 / sqrt(x) likewise, of a value x of f: of +-0 +inf, of +inf +0; NaN below 0. */
double rsqrt_rounded(enum format f, double x);
