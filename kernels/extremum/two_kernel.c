/* minimum/two_kernel and so on: grid-stride comparisons and a tree in each block, then a second
 * kernel.
 *
 * Order: that of sum/two_kernel (kernels/sum/two_kernel.c), which depends on the launch shape; the
 * result does not (kernels/extremum/extremum.h). */
#include "kernels/extremum/extremum.h"
#include "kernels/blocks/grid_stride.h"

#define METHOD(sought, promised, accumulators)                                                     \
    EXTREMUM_METHOD(                                                                               \
        sought, two_kernel, promised, accumulators, reduce_two_kernel(&sought##_reduction, t, p),  \
        "grid-stride comparisons and block trees, then a second kernel with one block",            \
        .shape_read = {0, SHAPE_THREADS | SHAPE_BLOCKS}, .resolve = grid_stride_shape)
EXTREMA(METHOD)
