/* sum/sequential: stride halving in shared memory, so that busy threads stay together.
 *
 * Order: passes over groups of T consecutive elements (T threads to a block). In a group
 * v[i] + v[i + s] for i < s and s = the largest power of two below the group's size, ..., 4, 2, 1;
 * a partner that is absent is skipped. The pass is applied to x, then to its results, until one
 * value is left. */
#include "kernels/method/fold.h"
#include "kernels/blocks/passes.h"

static const struct pass pass = {.rows = 1,
                                 .threads_least = 2,
                                 .fold = fold_halving,
                                 .order = order_halving,
                                 .height = order_balanced_height};

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    (void)n, (void)device;
    return passes_shape(&pass, asked);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return passes_sum(&pass, t, p);
}

static size_t height(size_t n, struct shape shape)
{
    return passes_height(&pass, n, shape);
}

static void order(struct order *o, struct shape shape)
{
    passes_order(&pass, o, shape);
}

const struct method sum_sequential = {
    .name = "sum/sequential",
    .summary = "passes over groups of T, stride halving in shared memory",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .shape_order = SHAPE_THREADS,
    .resolve = resolve,
    .bound = THEOREM_TREE,
    .height = height,
    .order = order,
    .cpu = cpu,
};
