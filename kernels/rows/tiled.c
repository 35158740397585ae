/* rows/tiled: each row in the order of sum/tiled.
 *
 * Order: a row's elements, as they follow each other in the row, are added in the order of
 * sum/tiled: tiles of 8 rows by 256 columns, then tiles of tile sums. It depends on the row's
 * length alone, so a row's sum has the bits that sum/tiled gives for its elements alone: neither
 * the other rows, nor how many there are, nor where the row stands, nor how rows lie in memory
 * shows in it. Threads and blocks are a schedule. */
#include "kernels/rows/rows.h"
#include "kernels/scatter/bins.h"
#include "kernels/blocks/tiled.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    return rows_each(t, tiled_alone, p);
}

const struct method rows_tiled = {
    .name = "rows/tiled",
    .summary = "each row in sum/tiled's order, which its length alone fixes",
    .operation = &operation_rows,
    .promise = PROMISE_GPU_TO_GPU,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scatter_each_shape,
    .bound = THEOREM_TREE,
    .height = tiled_height,
    .bin_height = scatter_tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
