/* product/serial: one after the other, exponents kept apart.
 *
 * Order: ((x[0] x[1]) x[2]) x[3] ... Each multiplication rounds the significands' product to the
 * accumulator's precision; exponents are added as whole numbers (kernels/product/scaled.h). */
#include "kernels/product/scaled.h"
#include "kernels/blocks/serial.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    return reduce_serial(&product_reduction, t, p);
}

const struct method product_serial = {
    .name = "product/serial",
    .summary = "one factor after the other, exponents kept apart: nothing overflows on the way",
    .operation = &operation_product,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .bound = THEOREM_PRODUCT,
    .order = serial_order,
    .cpu = cpu,
};
