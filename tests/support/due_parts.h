/* What the files of due_bound share. */
#pragma once

#include "tests/support/due_bound.h"

/* May rounding an element of storage to the accumulator lose digits, and may it underflow? */
bool due_loses_digits(enum format accumulator, enum format storage);
bool due_underflows(enum format accumulator, enum format storage);

rational due_unit(enum format f);
rational due_half_smallest(enum format f); /* eta/2 */
rational due_one_and(rational x);
rational due_growth(size_t k, rational v); /* (1+v)^k - 1 */
rational due_any_order(size_t n, rational u);

/* The error and what rounding a value with it adds: u |value + error| or eta/2, the larger, where
 * it is not 0. */
rational due_rounded(rational error, rational value, enum format f);

/* A tree's bound for terms whose sum and magnitudes are these. */
rational due_tree(const struct theorem *t, size_t n, rational sum, rational sum_abs,
                  enum product_kind product, enum format storage, enum format f);

/* due_bound of what is no sum. */
rational due_value(const struct theorem *t, const struct reference *r, enum format storage,
                   enum format f);
