/* sum/last_block: a single pass; the last block to finish adds the block sums.
 *
 * Order: that of sum/two_kernel, whichever block finishes last: thread g = b T + t of G = B T adds
 * x[g], x[g + G], ... serially; each block's threads that have any elements are folded by halving;
 * then thread t of the last block adds the block results t, t + T, ... serially, and the threads
 * that have any are folded by halving. Who finishes last decides who does it, not what is added to
 * what. */
#include "kernels/blocks/grid_stride.h"

const struct method sum_last_block = {
    .name = "sum/last_block",
    .summary = "a single pass: the last block to finish adds the block sums in fixed order",
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
