/* All-reduces whose bits depend on the addends alone.
 *
 * allreduce/exact     the exact sum over the ranks, rounded once to the accumulator
 * allreduce/binned    that of sum/binned: bins at fixed places, whose sums are exact, K = 3 folds
 *
 * Order: none. All ranks end with the same array, for which the outputs stand. */
#include "kernels/blocks/ranks.h"

RANKS_METHODS_INVARIANT(allreduce);
