/* transpose/padded: tile by tile, without bank conflicts.
 *
 * Order: nothing is added; the result is that of transpose/naive. It differs from transpose/tiled
 * in the buffer alone: rows are 65 elements apart, so that the elements of a column lie in
 * different banks of a GPU's shared memory. Threads and blocks are a schedule. */
#include "kernels/scatter/bins.h"
#include "kernels/transpose/tile.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    return transpose_tiles(t, TRANSPOSE_TILE + 1, p);
}

const struct method transpose_padded = {
    .name = "transpose/padded",
    .summary = "by tiles whose rows lie 65 apart in shared memory: no conflicts of banks",
    .operation = &operation_transpose,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {TRANSPOSE_PAIRS, TRANSPOSE_PAIRS},
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scatter_each_shape,
    .addition = ADDITION_NONE,
    .bound = THEOREM_EXTREMUM,
    .cpu = cpu,
};
