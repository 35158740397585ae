/* mean/tiled: the sum of sum/tiled divided by n.
 *
 * Order: that of sum/tiled, which depends on n alone; then one division by n, which is taken whole,
 * rounded once. The sum may leave the accumulator's range where the mean does not. */
#include "kernels/mean/divide.h"
#include "kernels/blocks/tiled.h"

extern const struct method sum_tiled;

static enum status cpu(const struct task *t, struct problem *p)
{
    return mean_of_sum(&sum_tiled, t, p);
}

const struct method mean_tiled = {
    .name = "mean/tiled",
    .summary = "the sum in the tree of sum/tiled, divided by n",
    .operation = &operation_mean,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .bound = THEOREM_MEAN,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
