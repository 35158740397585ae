/* norm/tiled: the root of the sum of squares by the flagship's tree.
 *
 * Order: that of dot/tiled, which depends on n alone, of the array with itself, squares rounded
 * before they are added; then the root, rounded once. Squares overflow and underflow as
 * norm/serial's do. */
#include "kernels/norm/root.h"
#include "kernels/blocks/tiled.h"

extern const struct method dot_tiled;

static enum status cpu(const struct task *t, struct problem *p)
{
    return norm_root_of(&dot_tiled, t, p);
}

const struct method norm_tiled = {
    .name = "norm/tiled",
    .summary = "the root of the sum of squares in the tree of sum/tiled: overflows where they do",
    .operation = &operation_norm,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .bound = THEOREM_NORM,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
