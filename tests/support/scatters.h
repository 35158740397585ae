/* Checks of scatter-adds: those of holds.h, bin by bin. */
#pragma once

#include "tests/mutants/mutants.h"

enum scatter_keys { SCATTER_UNIFORM, SCATTER_ONE, SCATTER_SORTED, SCATTER_SKEWED, SCATTER_KEYS };
void scatter_keys_fill(uint32_t *keys, size_t n, size_t bins, enum scatter_keys how, uint64_t seed);

/* Within its theorem in every bin, by MPFR: on every input family, of keys of every kind. */
bool holds_scatter_bound(const struct method *m, char why[WHY]);

/* Each bin has the bits of sum/tiled of its elements; of scatter/ordered's order, walked otherwise;
 * of the exact sum, rounded by MPFR. */
bool holds_scatter_bits(const struct method *m, char why[WHY]);

/* The promise, over runs, launch shapes and threads; from order_invariant up over permutations. */
bool holds_scatter_promise(const struct method *m, char why[WHY]);

/* Bins of nothing are +0, of -0 alone -0; what is not finite stays in its bin. */
bool holds_scatter_edges(const struct method *m, char why[WHY]);

extern const struct mutant scatter_mutants[];
extern const size_t scatter_mutant_count;
