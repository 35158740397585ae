/* transpose/tiled: tile by tile, through shared memory. */
#include "kernels/transpose/move.cuh"

extern "C" const struct cuda_method transpose_tiled_cuda = {no_workspace, no_workspace,
                                                            transpose::enqueue<0>};
