/* Conformance of what has one exact value in whatever order, or one and an error: products, minima,
 * maxima and their indices, norms (reference/exact/value.h).
 *
 * A product of a NaN, or of 0 and an infinity, is NaN; else of an infinity it is one, of a zero a
 * zero; its sign is that of all signs. Of finite numbers but 0 it has that sign too, whatever it is
 * rounded to, and is held to its theorem, which lets nothing overflow or underflow on the way. An
 * extremum is the reference's element, rounded to the accumulator, an index the reference's.
 *
 * A norm with a NaN is NaN, else with an infinity +inf; of zeros and of nothing it is +0, and of
 * other numbers no number below 0, and held to its theorem. Where squares are not scaled and their
 * sum may overflow, +inf is possible, and noted where the norm is in range. Of a NaN beside an
 * infinity libraries may give +inf, as hypot does: noted, too. */
#pragma once

#include "experiments/conformance/judge.h"
#include "reference/exact/reference.h"
#include "reference/theorem/theorem.h"

/* Is this what a method's result is judged by? */
bool special_is_exact(const struct method *m);

/* Judges the result x. STATUS_MEMORY when memory is short. */
enum status conformance_judge_exact(struct judgement *j, const struct conformance_subject *s,
                                    const struct array *in, double x, struct problem *p);

/* --- what conformance/exact.c and conformance/norm.c share --- */

/* Judges the norm x, whose exact value is r->sum. */
void conformance_judge_norm(struct judgement *j, const struct conformance_subject *s,
                            const struct reference *r, double x);

void special_impossible(struct judgement *j, double x, const char *why);

/* Do the ends of what the theorem allows around r->sum round to an infinity, and to 0? These are
 * added to what is possible, with the value's sign. */
void special_ends(struct possible *due, const struct reference *r, const struct theorem *t,
                  const struct conformance_subject *s);
