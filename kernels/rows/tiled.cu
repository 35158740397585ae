/* rows/tiled: each row in sum/tiled's order.
 *
 * The order is kernels/rows/tiled.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/rows/tiled.cuh"

extern "C" const struct cuda_method rows_tiled_cuda = {rows_tree::workspace, no_workspace,
                                                       rows_tree::enqueue};
