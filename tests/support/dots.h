/* What a method of dot products declares, held against what it does, with products that are not the
 * elements of one array; as tests/support/holds.h. And methods that are broken on purpose. */
#pragma once

#include "tests/mutants/mutants.h"
#include "tests/support/samples.h"

enum status dot_run(const struct method *m, enum product_kind how, const struct array *a,
                    const struct array *b, enum format f, struct shape shape,
                    const struct array *out);

/* The results are those of an independent walk of the declared order, however products are formed.
 * Nothing is asserted of a method without one. */
bool holds_dot_walk(const struct method *m, char why[WHY]);

/* The bits keep the promise: over runs, launch shapes and, from order_invariant up, permutations.
 */
bool holds_dot_promise(const struct method *m, char why[WHY]);

/* No error over the theorem, on every input family, of one array and of two. */
bool holds_dot_bound(const struct method *m, char why[WHY]);

/* Where the promise is correctly_rounded, the results are MPFR's. */
bool holds_dot_rounded(const struct method *m, char why[WHY]);

extern const struct mutant dot_mutants[];
extern const size_t dot_mutant_count;
