/* dot/serial: one after the other.
 *
 * Order: that of sum/serial over products, ((x[0] y[0] + x[1] y[1]) + x[2] y[2]) + ... What the
 * loop on paper says, `sum += x[i] * y[i]`, is a rounded product and an addition; compilers that
 * are allowed to contract make a fused one of it. */
#include "kernels/dot/terms.h"
#include "kernels/blocks/serial.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    enum format f = t->accumulator;
    struct dot_block b;
    double sum = 0;
    for (size_t begin = 0, count; begin < t->of->in.n; begin += count) {
        count = t->of->in.n - begin < DOT_BLOCK ? t->of->in.n - begin : DOT_BLOCK;
        dot_decode(&b, t, begin, count);
        for (size_t i = 0; i < count; i++)
            sum = begin + i == 0 ? product_rounded(f, b.x[i], b.y[i])
                                 : dot_append(f, t->of->product, sum, b.x[i], b.y[i]);
    }
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

const struct method dot_serial = {
    .name = "dot/serial",
    .summary = "one product after the other, left to right",
    .operation = &operation_dot,
    .promise = PROMISE_GPU_TO_GPU,
    .products = DOT_ROUNDED_OR_FUSED,
    .product = PRODUCT_ROUNDED,
    .bound = THEOREM_TREE,
    .height = serial_height,
    .order = serial_order,
    .cpu = cpu,
};
