/* The sum of an array rounded once, at the speed of memory where that can be.
 *
 * One pass adds in doubles by TwoSum and gathers the errors of its additions: the exact sum is
 * enclosed between two numbers, and where both round to the same value, that is the result (after
 * Ogita, Rump and Oishi 2005). Where they do not, a second pass goes through the superaccumulator.
 * The result is that of exact_round, bit for bit, by whichever path it was computed: on any
 * machine, from any number of threads. */
#pragma once

#include "reference/format/array.h"

/* The exact sum of the elements rounded once to f, on up to `threads` >= 1 threads; what it is
 * where it is no plain number, exact.h says. Cannot fail: threads that cannot be had are done
 * without. */
double rounded_sum(const struct array *a, enum format f, unsigned threads);
