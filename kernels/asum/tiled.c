/* asum/tiled: magnitudes, in the tree of the flagship.
 *
 * Order: that of sum/tiled, which depends on n alone. Threads are a schedule. */
#include <math.h>

#include "kernels/blocks/tiled.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    double sum;
    enum status status = tiled_sum(&t->of->in, fabs, t->accumulator, t->shape.threads, &sum, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &sum);
    return status;
}

const struct method asum_tiled = {
    .name = "asum/tiled",
    .summary = "magnitudes, in the tree of sum/tiled: order from n alone, fast",
    .operation = &operation_asum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .bound = THEOREM_TREE,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
