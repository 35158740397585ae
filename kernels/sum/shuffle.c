/* sum/shuffle: warp shuffles, then shared memory for the warps' results.
 *
 * Order: passes over groups of T consecutive elements (T threads to a block). In a group, warps
 * of 32 consecutive elements are folded by halving (v[i] + v[i + s] for i < s, s = 16, 8, 4, 2, 1,
 * where i + s is present); then the warps' results, at most 32, by halving too. The pass is
 * applied to x, then to its results, until one value is left. */
#include "kernels/blocks/passes.h"
#include "kernels/sum/warps.h"

static const struct pass pass = {.rows = 1,
                                 .threads_least = 2,
                                 .fold = fold_warps,
                                 .order = order_warps,
                                 .height = warps_height};

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

const struct method sum_shuffle = {
    .name = "sum/shuffle",
    .summary = "passes over groups of T: warp shuffles, then shared memory",
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
