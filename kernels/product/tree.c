/* product/tree: the tree of sum/tiled over factors, exponents kept apart.
 *
 * Order: that of sum/tiled (kernels/sum/tiled.c), which depends on n alone, each addition a
 * multiplication as in product/serial. Threads are a schedule. A low tree does not reduce the error
 * of a product, which has n - 1 multiplications in every order. */
#include "kernels/product/scaled.h"
#include "kernels/blocks/tiled.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    return reduce_tiled(&product_reduction, t, p);
}

const struct method product_tree = {
    .name = "product/tree",
    .summary = "the tree of sum/tiled over factors, exponents kept apart: order from n alone",
    .operation = &operation_product,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .bound = THEOREM_PRODUCT,
    .order = tiled_order,
    .cpu = cpu,
};
