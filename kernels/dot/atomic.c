/* dot/atomic: an atomic addition per product.
 *
 * Order: none that anybody could name (sum/atomic's). A product is rounded before it is added: no
 * device has an atomic fused multiply-add. */
#include "kernels/sum/shared_sum.h"

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    if (device == DEVICE_CPU)
        return (struct shape){.threads = shared_sum_threads(n, 1, asked)};
    unsigned threads = asked.threads ? asked.threads : 256;
    return (struct shape){.threads = threads > THREADS_MAX ? THREADS_MAX : threads};
}

static double itself(enum format f, double *v, size_t count)
{
    (void)f, (void)count;
    return v[0];
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return shared_sum_run(t, 1, itself, p);
}

const struct method dot_atomic = {
    .name = "dot/atomic",
    .summary = "an atomic addition per product",
    .operation = &operation_dot,
    .promise = PROMISE_NONE,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = resolve,
    .products = 1u << PRODUCT_ROUNDED,
    .product = PRODUCT_ROUNDED,
    .atomic = true,
    .bound = THEOREM_ANY_ORDER,
    .cpu = cpu,
};
