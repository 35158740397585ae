/* dot/atomic: an atomic addition per product.
 *
 * Order: none that anybody could name (sum/atomic's). A product is rounded before it is added: no
 * device has an atomic fused multiply-add. */
#include "kernels/blocks/shared_sum.h"

const struct method dot_atomic = {
    .name = "dot/atomic",
    .summary = "an atomic addition per product",
    .operation = &operation_dot,
    .promise = PROMISE_NONE,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = shared_sum_each_shape,
    .products = 1u << PRODUCT_ROUNDED,
    .product = PRODUCT_ROUNDED,
    .atomic = true,
    .bound = THEOREM_ANY_ORDER,
    .cpu = shared_sum_each,
};
