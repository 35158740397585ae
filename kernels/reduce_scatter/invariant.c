/* Reduce-scatters whose bits depend on the addends alone, whichever rank owns them.
 *
 * reduce_scatter/exact     the exact sum over the ranks, rounded once to the accumulator
 * reduce_scatter/binned    that of sum/binned: bins at fixed places, whose sums are exact, K = 3
 *                          folds
 *
 * Order: none. */
#include "kernels/blocks/ranks.h"

RANKS_METHODS_INVARIANT(reduce_scatter);
