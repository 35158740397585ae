/* sum/tiled: the order of n alone, at the speed of memory.
 *
 * The order is kernels/sum/tiled.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/blocks/tiled.cuh"

typedef sum_tree::method<plain_sum> side;

extern "C" const struct cuda_method sum_tiled_cuda = {side::workspace, no_workspace, side::enqueue};
