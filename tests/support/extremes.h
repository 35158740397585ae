/* What a minimum or a maximum is, by definition: for tests. */
#pragma once

#include "reference/format/array.h"
#include "reference/exact/value.h"

/* The exact value of EXACT_MINIMUM .. EXACT_ARGMAX, an element that no other surpasses, found by
 * comparing each with all, with a likely one first. Time n, and n^2 where that guess is wrong. */
double extreme_due(enum exact_value of, const struct array *a);
