/* Conformance of what is made of a row, or of an array: means and variances, sums of exponentials
 * and their logarithms, softmax, RMSNorm and LayerNorm; of the last three each element's own value.
 *
 * What is no number, a NaN or an infinity, is due as the reference says
 * (reference/exact/values.def), and so is the zero of a masked element and that of an element that
 * is divided. A number is held to the method's theorem. Softmax and sums of exponentials are never
 * below 0, nor is a variance but the textbook's; a sum of exponentials is at least 1. Where an
 * element, a sum or a square may be beyond the accumulator's range, an infinity, a NaN or, of what
 * is divided by a root, a 0 is possible, and noted; so is what a textbook variance below 0 makes.
 * Methods that are not ours have no theorem: their numbers are held to these signs alone. */
#pragma once

#include "experiments/conformance/judge.h"

/* Is this what a method's results are judged by? */
bool special_is_statistic(const struct method *m);

/* Is a theorem all that could say which numbers are possible, and there is none? So it is of a
 * user's means, exponentials, norms and products. */
bool special_numbers_unbounded(const struct method *m);

/* Judges the results of one row. STATUS_MEMORY when memory is short. */
enum status conformance_judge_statistic(struct judgement *j, const struct conformance_subject *s,
                                        const struct array *in, const struct array *out,
                                        struct problem *p);
