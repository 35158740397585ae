/* transpose/tiled: tile by tile.
 *
 * Order: nothing is added; what comes out is what transpose/naive says. A tile of 64 rows by 64
 * columns is read row by row into a buffer, on a GPU the shared memory of a block, and written from
 * there column by column, so that both reads and writes in memory lie side by side. In the buffer
 * the elements of a column lie 64 apart: on a GPU in one bank of its 32, which serves a warp's
 * lanes one after the other. Threads and blocks are a schedule. */
#include "kernels/scatter/bins.h"
#include "kernels/transpose/tile.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    return transpose_tiles(t, TRANSPOSE_TILE, p);
}

const struct method transpose_tiled = {
    .name = "transpose/tiled",
    .summary = "by tiles of 64 x 64 through shared memory: reads and writes side by side",
    .operation = &operation_transpose,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {TRANSPOSE_PAIRS, TRANSPOSE_PAIRS},
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scatter_each_shape,
    .addition = ADDITION_NONE,
    .bound = THEOREM_EXTREMUM,
    .cpu = cpu,
};
