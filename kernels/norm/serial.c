/* norm/serial: the root of squares, one after the other.
 *
 * Order: that of dot/serial, ((x[0]^2 + x[1]^2) + x[2]^2) + ..., of the array with itself; then the
 * root, rounded once. Squares leave the range of the accumulator where the elements leave that of
 * its root: above it the result is inf, below it they are subnormal or lost. */
#include "kernels/norm/root.h"

extern const struct method dot_serial;

static enum status cpu(const struct task *t, struct problem *p)
{
    return norm_root_of(&dot_serial, t, p);
}

static size_t height(size_t n, struct shape shape)
{
    return dot_serial.height(n, shape);
}

static void order(struct order *o, struct shape shape)
{
    dot_serial.order(o, shape);
}

const struct method norm_serial = {
    .name = "norm/serial",
    .summary = "the root of the sum of squares, one after the other: overflows where they do",
    .operation = &operation_norm,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .bound = THEOREM_NORM,
    .height = height,
    .order = order,
    .cpu = cpu,
};
