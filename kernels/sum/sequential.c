/* sum/sequential: stride halving in shared memory, so that busy threads stay together.
 *
 * Order: passes over groups of T consecutive elements (T threads to a block). In a group
 * v[i] + v[i + s] for i < s and s = the largest power of two below the group's size, ..., 4, 2, 1;
 * a partner that is absent is skipped. The pass is applied to x, then to its results, until one
 * value is left. */
#include "kernels/fold.h"
#include "kernels/sum/passes.h"

static double fold_group(enum format f, double *v, size_t count, unsigned threads)
{
    (void)threads;
    return fold_halving(f, v, count);
}

static uint32_t order_group(struct order *o, uint32_t *node, size_t count, unsigned threads)
{
    (void)threads;
    return order_halving(o, node, count);
}

static size_t group_height(size_t count, unsigned threads)
{
    (void)threads;
    return order_balanced_height(count);
}

static const struct pass pass = {fold_group, order_group, group_height};

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    (void)n, (void)device;
    return passes_shape(asked, 2);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return passes_sum(&pass, t->shape.threads, t, p);
}

static size_t height(size_t n, struct shape shape)
{
    return passes_height(&pass, shape.threads, n, shape.threads);
}

static void order(struct order *o, struct shape shape)
{
    passes_order(&pass, shape.threads, o, shape.threads);
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
