/* Conformance of what has one exact value in whatever order, or one and an error: products, minima,
 * maxima and their indices (reference/exact_value.h). Private to special_judge.c.
 *
 * A product of a NaN, or of 0 and an infinity, is NaN; else of an infinity it is one, of a zero a
 * zero; its sign is that of all signs. Of finite numbers but 0 it has that sign too, whatever it is
 * rounded to, and is held to its theorem, which lets nothing overflow or underflow on the way. An
 * extremum is the reference's element, rounded to the accumulator, an index the reference's. */
#ifndef ULPSCOPE_SPECIAL_EXACT_H
#define ULPSCOPE_SPECIAL_EXACT_H

#include "experiments/special_judge.h"

/* Is this what a method's result is judged by? */
bool special_is_exact(const struct method *m);

/* Judges the result x. STATUS_DEVICE when memory is short. */
enum status special_judge_exact(struct judgement *j, const struct special_subject *s,
                                const struct array *in, double x, struct problem *p);

#endif
