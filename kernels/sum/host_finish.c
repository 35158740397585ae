/* sum/host_finish: block sums on the device, added on the host.
 *
 * Order: with T threads to a block, B blocks and G = B T, thread g = b T + t adds x[g], x[g + G],
 * x[g + 2 G], ... serially; in each block the threads that have any elements are folded by
 * halving. The host then adds the block results one after the other, block 0 first. Blocks without
 * elements are absent. */
#include "kernels/method/fold.h"
#include "kernels/blocks/grid_stride.h"

#include <stdlib.h>

static enum status cpu(const struct task *t, struct problem *p)
{
    enum format f = t->out.format;
    size_t blocks = grid_stride_blocks(t->of->in.n, t->shape);
    double *result = malloc((blocks + (blocks == 0)) * sizeof *result);
    if (!result)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu block results", blocks);
    result[0] = 0; /* the sum of nothing */
    grid_stride_sums(&t->of->in, f, t->shape, result);
    fold_serial(f, result, blocks);
    array_encode(&t->out, 0, 1, result);
    free(result);
    return STATUS_OK;
}

static size_t height(size_t n, struct shape shape)
{
    return grid_stride_height(n, shape) + grid_stride_blocks(n, shape) - 1;
}

static void order(struct order *o, struct shape shape)
{
    size_t blocks = grid_stride_blocks(o->leaves, shape);
    uint32_t *result = malloc(blocks * sizeof *result);
    if (!result) {
        o->failed = true;
        return;
    }
    grid_stride_order(o, shape, result);
    o->output[0] = order_serial(o, result, blocks);
    free(result);
}

const struct method sum_host_finish = {
    .name = "sum/host_finish",
    .summary = "grid-stride accumulation and block trees; the host adds the block sums in order",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .shape_read = {SHAPE_THREADS | SHAPE_BLOCKS, SHAPE_THREADS | SHAPE_BLOCKS},
    .shape_order = SHAPE_THREADS | SHAPE_BLOCKS,
    .resolve = grid_stride_shape,
    .bound = THEOREM_TREE,
    .height = height,
    .order = order,
    .cpu = cpu,
};
