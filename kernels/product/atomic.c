/* product/atomic: an atomic multiplication per factor, exponents kept apart.
 *
 * Order: none that anybody could name. Each factor's significand is multiplied to the running one,
 * whichever the thread finds, by compare and exchange; the exponent, of the factor and of what the
 * product's significand was scaled by, is added by another atomic operation. Exponents add up the
 * same in any order; only the roundings of significands depend on timing. */
#include <stdatomic.h>

#include "kernels/product/scaled.h"
#include "kernels/blocks/shared_sum.h"
#include "kernels/blocks/tiled.h"
#include "kernels/method/team.h"

struct shared_product {
    const struct task *task;
    _Atomic uint64_t significand;
    _Atomic int64_t exponent;
};

static void multiply(struct shared_product *to, struct partial factor)
{
    uint64_t seen = atomic_load(&to->significand);
    struct partial next;
    do
        next = scaled_join(to->task->accumulator,
                           (struct partial){.significand = double_from_bits(seen)}, factor);
    while (!atomic_compare_exchange_weak(&to->significand, &seen, double_bits(next.significand)));
    atomic_fetch_add(&to->exponent, next.exponent);
}

static void multiply_share(void *context, unsigned thread)
{
    struct shared_product *to = context;
    const struct task *t = to->task;
    struct tiled_share share = tiled_share(t->of->in.n, thread, t->shape.threads);
    struct partial block[ARRAY_BLOCK];
    for (size_t i = 0, count; i < share.count; i += count) {
        count = share.count - i < ARRAY_BLOCK ? share.count - i : ARRAY_BLOCK;
        product_reduction.load(block, t, share.first + i, count);
        for (size_t j = 0; j < count; j++)
            multiply(to, block[j]);
    }
}

static enum status cpu(const struct task *t, struct problem *p)
{
    struct shared_product product = {.task = t};
    atomic_init(&product.significand, double_bits(1));
    atomic_init(&product.exponent, 0);
    enum status status = team_run(t->shape.threads, multiply_share, &product, p);
    if (status == STATUS_OK)
        product_reduction.finish(
            t, &(struct partial){.significand = double_from_bits(atomic_load(&product.significand)),
                                 .exponent = atomic_load(&product.exponent)});
    return status;
}

const struct method product_atomic = {
    .name = "product/atomic",
    .summary = "an atomic multiplication per factor, exponents kept apart",
    .operation = &operation_product,
    .promise = PROMISE_NONE,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = shared_sum_each_shape,
    .bound = THEOREM_PRODUCT,
    .cpu = cpu,
};
