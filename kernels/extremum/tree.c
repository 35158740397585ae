/* minimum/tree and so on: the tree of sum/tiled.
 *
 * Order: that of sum/tiled (kernels/sum/tiled.c), which depends on n alone; where two partial
 * results meet, the one of the lesser rank stays, of equal ranks that of the lower index
 * (kernels/extremum/extremum.h). Threads are a schedule. */
#include "kernels/extremum/extremum.h"
#include "kernels/blocks/tiled.h"

#define METHOD(sought, promised, accumulators)                                                     \
    EXTREMUM_METHOD(sought, tree, promised, accumulators, reduce_tiled(&sought##_reduction, t, p), \
                    "the tree of sum/tiled; of equals the first stays",                            \
                    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},                   \
                    .resolve = tiled_shape)
EXTREMA(METHOD)
