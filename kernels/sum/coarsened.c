/* sum/coarsened: many elements a thread before the tree.
 *
 * Order: passes over chunks of 8 T consecutive elements (T threads to a block). Thread t adds its
 * elements t, t + T, ..., t + 7 T of the chunk serially, as far as they are present; the threads
 * that have any are folded by halving. The pass is applied to x, then to its results, until one
 * value is left. */
#include "kernels/sum/columns.h"
#include "kernels/sum/passes.h"

enum { ELEMENTS_PER_THREAD = 8 };

static double fold_chunk(enum format f, double *v, size_t count, unsigned threads)
{
    return fold_columns(f, v, count, threads);
}

static uint32_t order_chunk(struct order *o, uint32_t *node, size_t count, unsigned threads)
{
    return order_columns(o, node, count, threads);
}

static size_t chunk_height(size_t count, unsigned threads)
{
    return columns_height(count, threads);
}

static const struct pass pass = {fold_chunk, order_chunk, chunk_height};

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    (void)n, (void)device;
    return passes_shape(asked, 1);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return passes_sum(&pass, (size_t)ELEMENTS_PER_THREAD * t->shape.threads, t, p);
}

static size_t height(size_t n, struct shape shape)
{
    return passes_height(&pass, (size_t)ELEMENTS_PER_THREAD * shape.threads, n, shape.threads);
}

static void order(struct order *o, struct shape shape)
{
    passes_order(&pass, (size_t)ELEMENTS_PER_THREAD * shape.threads, o, shape.threads);
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
