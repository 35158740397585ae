/* A computed sum held against the exact one. */
#pragma once

#include <math.h>

#include "reference/theorem/theorem.h"

/* A number that may not apply. Columns print one that does not as empty. */
struct figure {
    bool known;
    double value;
};

/* Is an error larger than the largest so far? A NaN is larger than all, and stays so. */
static inline bool figure_worse(double error, double most)
{
    return !isnan(most) && !(error <= most);
}

/* The outcome of a run, named as in the column `status`. */
enum outcome {
    OUTCOME_OK,
    OUTCOME_OVERFLOW,
    OUTCOME_NAN,
    OUTCOME_UNSUPPORTED,
    OUTCOME_ERROR,
    OUTCOMES
};
extern const char *const outcome_name[OUTCOMES];

struct measure {
    enum outcome outcome;
    struct figure err_abs, err_rel, err_ulp, err_backward, bound, err_over_bound;
    bool broken; /* err_abs exceeds the bound; decided on the exact numbers, not on the doubles */
};

/* Measures `result`, a value of `accumulator`. Every figure is computed from the
 * exact values and rounded once to double: to nearest, the bound up, so that it is still one.
 *
 * outcome: overflow = result not finite although the exact sum rounds to a finite number of the
 * accumulator; of rmsnorm and layernorm also a 0 that should be none, where the sum of squares
 * under the root exceeds the accumulator's largest number; else nan = result is NaN; else ok.
 * err_*: with a finite exact sum, inf for an infinite result and NaN for a NaN; with an exact sum
 * that is not finite, not known, except that err_abs is inf for a result that is another value (NaN
 * for a NaN where inf is due). err_rel is not known where the exact sum is 0, err_backward where
 * sum|x| is. bound and err_over_bound are not known where the theorem has nothing to say (inf or
 * NaN in the input) or may not have held its premise (a result that is not finite, where something
 * may have overflowed: see theorem_in_range). Where nothing can, a result that is not finite breaks
 * the bound, which is that of the exact value's rounding, and err_over_bound is inf. It is not
 * known for 0/0. */
void measure(struct measure *m, const struct reference *r, enum format storage,
             enum format accumulator, double result, const struct theorem *t);

/* Numbers of the accumulator that round to more than this are numbers of the output, which has no
 * fewer digits: only where it is subnormal it lacks some. Infinite where it has fewer. */
double measure_output_exact(enum format output, enum format accumulator);

/* The same for a sum that was rounded once more, from the accumulator to `output`, whose value
 * `result` is: outcome and err_ulp are by that format, and where it does not hold all values of the
 * accumulator, the bound carries that rounding: u |result| or, if that is more, eta/2. */
void measure_output(struct measure *m, const struct reference *r, enum format storage,
                    enum format accumulator, enum format output, double result,
                    const struct theorem *t);
