/* What a method of products declares, held against MPFR, whose exponents have no end; as
 * tests/support/holds.h. And methods that are broken on purpose. */
#pragma once

#include "tests/mutants/mutants.h"

/* The results are those of the declared order, each element and each product rounded by MPFR. */
bool holds_product_walk(const struct method *m, char why[WHY]);

/* Zeros, infinities, NaNs and signs, wherever they stand; and nothing. */
bool holds_product_specials(const struct method *m, char why[WHY]);

/* Nothing overflows on the way to a product in range. */
bool holds_product_range(const struct method *m, char why[WHY]);

/* Of what is correctly rounded: next to halfway between numbers, and next to the ends of the range.
 */
bool holds_product_halfway(const struct method *m, char why[WHY]);
bool holds_product_ends(const struct method *m, char why[WHY]);

extern const struct mutant product_mutants[];
extern const size_t product_mutant_count;
