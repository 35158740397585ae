/* sum/two_kernel: grid-stride accumulation and a tree in each block, then a second kernel.
 *
 * Order: with T threads to a block, B blocks and G = B T, thread g = b T + t adds x[g], x[g + G],
 * x[g + 2 G], ... serially; in each block the threads that have any elements are folded by
 * halving. Then one block of T threads: thread t adds the block results t, t + T, t + 2 T, ...
 * serially, and the threads that have any are folded by halving. Blocks without elements are
 * absent. */
#include "kernels/blocks/grid_stride.h"

const struct method sum_two_kernel = {
    .name = "sum/two_kernel",
    .summary = "grid-stride accumulation and block trees, then a second kernel with one block",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .shape_read = {SHAPE_THREADS | SHAPE_BLOCKS, SHAPE_THREADS | SHAPE_BLOCKS},
    .shape_order = SHAPE_THREADS | SHAPE_BLOCKS,
    .resolve = grid_stride_shape,
    .bound = THEOREM_TREE,
    .height = two_stage_height,
    .order = two_stage_order,
    .cpu = two_stage_sum,
};
