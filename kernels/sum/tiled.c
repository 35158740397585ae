/* sum/tiled: the flagship, an order from n alone at memory speed.
 *
 * Order: a tile is 2048 consecutive elements, seen as 8 rows of 256 columns. Columns are added
 * serially, top to bottom, as far as their rows are present; the 256 column sums (fewer where the
 * tile has less than one full row) are folded by halving. The tile sums are an array, to which the
 * same rule is applied again, until one value is left. Threads and blocks are a schedule: who sums
 * which tile does not show in the bits. */
#include "kernels/blocks/tiled.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    double sum;
    enum status status = tiled_sum(&t->of->in, NULL, t->accumulator, t->shape.threads, &sum, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &sum);
    return status;
}

const struct method sum_tiled = {
    .name = "sum/tiled",
    .summary = "tiles of 8 rows by 256 columns, then tiles of tile sums: order from n alone, fast",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .bound = THEOREM_TREE,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
