/* dot/two_kernel: grid-stride accumulation and a tree in each block, then a second kernel.
 *
 * Order: that of sum/two_kernel over products. With T threads to a block, B blocks and G = B T,
 * thread g = b T + t adds x[g] y[g], x[g + G] y[g + G], ... serially, the products rounded or
 * fused; what follows adds sums, as there. */
#include <stdlib.h>

#include "kernels/dot/terms.h"
#include "kernels/blocks/columns.h"
#include "kernels/blocks/grid_stride.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Sums of the threads of block b that have elements, in sum[]. Returns how many. */
static size_t sum_threads(const struct task *t, size_t b, double sum[THREADS_MAX])
{
    struct dot_block row;
    enum format f = t->accumulator;
    size_t threads = t->shape.threads, first = b * threads, n = t->of->in.n;
    size_t present = smaller(threads, n - first);
    dot_decode(&row, t, first, present);
    for (size_t i = 0; i < present; i++)
        sum[i] = product_rounded(f, row.x[i], row.y[i]);
    for (size_t begin = first + t->shape.blocks * threads; begin < n;
         begin += t->shape.blocks * threads) {
        size_t count = smaller(threads, n - begin);
        dot_decode(&row, t, begin, count);
        for (size_t i = 0; i < count; i++)
            sum[i] = dot_append(f, t->of->product, sum[i], row.x[i], row.y[i]);
    }
    return present;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    size_t blocks = grid_stride_blocks(t->of->in.n, t->shape);
    double *result = malloc((blocks + (blocks == 0)) * sizeof *result), sum[THREADS_MAX];
    if (!result)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu block results", blocks);
    result[0] = 0; /* the sum of nothing */
    for (size_t b = 0; b < blocks; b++) {
        size_t present = sum_threads(t, b, sum);
        result[b] = fold_halving(t->accumulator, sum, present);
    }
    if (blocks > 0)
        fold_columns(t->accumulator, result, blocks, t->shape.threads);
    array_encode(&t->out, 0, 1, result);
    free(result);
    return STATUS_OK;
}

const struct method dot_two_kernel = {
    .name = "dot/two_kernel",
    .summary = "grid-stride accumulation and block trees, then a second kernel with one block",
    .operation = &operation_dot,
    .promise = PROMISE_RUN_TO_RUN,
    .shape_read = {SHAPE_THREADS | SHAPE_BLOCKS, SHAPE_THREADS | SHAPE_BLOCKS},
    .shape_order = SHAPE_THREADS | SHAPE_BLOCKS,
    .resolve = grid_stride_shape,
    .products = DOT_ROUNDED_OR_FUSED,
    .product = PRODUCT_ROUNDED,
    .bound = THEOREM_TREE,
    .height = two_stage_height,
    .order = two_stage_order,
    .cpu = cpu,
};
