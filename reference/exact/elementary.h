/* exp and log, correctly rounded to a format: what methods of softmax and logsumexp use,
 * so that a method's result is specified by its order alone. */
#pragma once

#include "reference/format/format.h"

/* exp(x), of a value x of any format, rounded once to f, to nearest, ties to even; underflow is
 * gradual. exp(-inf) = +0, exp(+inf) = +inf, exp(NaN) = NaN, exp(+-0) = 1. */
double exp_rounded(enum format f, double x);

/* log(x) likewise: log(1) = +0, log(+-0) = -inf, log(+inf) = +inf; NaN below 0. */
double log_rounded(enum format f, double x);
