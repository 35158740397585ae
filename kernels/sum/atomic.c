/* sum/atomic: an atomic addition per element.
 *
 * Order: none that anybody could name. Every element is added to one accumulator, which starts
 * from -0, in the order in which the threads get hold of it. On the CPU real threads contend with
 * compare and exchange. */
#include "kernels/blocks/shared_sum.h"

const struct method sum_atomic = {
    .name = "sum/atomic",
    .summary = "an atomic addition per element",
    .operation = &operation_sum,
    .promise = PROMISE_NONE,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = shared_sum_each_shape,
    .atomic = true,
    .bound = THEOREM_ANY_ORDER,
    .cpu = shared_sum_each,
};
