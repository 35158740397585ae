/* dot/exact: the exact sum of the whole products of the elements as they are stored, rounded once
 * to the accumulator, to nearest, ties to even.
 *
 * Order: none. The result is the same for every order of additions; so it keeps every promise.
 *
 * What is returned:
 *   any NaN, infinity times zero, or infinite products of both signs   NaN
 *   infinite products of one sign                                      that infinity
 *   an exact sum of zero                                               +0; but -0 where all
 *                                                                      products are -0, and there
 *                                                                      is one
 *   no element                                                         +0
 *   an exact sum that rounds beyond the accumulator's largest number: that infinity. What overflows
 *   on the way does not matter, and neither does what underflows. */
#include "kernels/blocks/tiled.h"
#include "kernels/blocks/whole.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    struct products sum;
    enum status status = whole_products(t, &sum, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &(double){products_round(&sum, t->accumulator)});
    return status;
}

const struct method dot_exact = {
    .name = "dot/exact",
    .summary = "the exact sum of whole products, rounded once",
    .operation = &operation_dot,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = tiled_shape,
    .products = 1u << PRODUCT_EXACT,
    .product = PRODUCT_EXACT,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
