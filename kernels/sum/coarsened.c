/* sum/coarsened: many elements a thread before the tree.
 *
 * Order: passes over chunks of 8 T consecutive elements (T threads to a block). Thread t adds its
 * elements t, t + T, ..., t + 7 T of the chunk serially, as far as they are present; the threads
 * that have any are folded by halving. The pass is applied to x, then to its results, until one
 * value is left. */
#include "kernels/method/fold.h"
#include "kernels/blocks/passes.h"

static const struct pass pass = {.rows = 8,
                                 .threads_least = 1,
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

const struct method sum_coarsened = {
    .name = "sum/coarsened",
    .summary = "passes over chunks of 8 T: each thread adds 8 elements, then stride halving",
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
