/* What methods of norms, means and variances do beside adding, held against their steps once more,
 * each by MPFR; as tests/support/holds.h. And such methods that are broken on purpose. */
#pragma once

#include "tests/mutants/mutants.h"

/* Is its result a norm, a mean or a variance? */
bool has_value(const struct method *m);

/* One array's result is `due`, with every launch shape; what and seed say of what it is made. */
bool result_is(const struct method *m, const struct array *in, enum format f, double due,
               const char *what, uint64_t seed, char why[WHY]);

/* The results are those of the declared steps, each rounded by MPFR; false where nobody has written
 * the steps of a method down. Those that are correctly rounded, holds_rounded holds. */
bool holds_steps(const struct method *m, char why[WHY]);

/* Where the promise is correctly_rounded: halfway between two numbers of the accumulator, and
 * beside it, the results are MPFR's. */
bool holds_ties(const struct method *m, char why[WHY]);

extern const struct mutant value_mutants[];
extern const size_t value_mutant_count;
