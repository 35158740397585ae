/* transpose/padded: tile by tile, through shared memory, whose banks are 4 bytes wide: with as much
 * between rows, elements of a column lie in different ones. */
#include "kernels/transpose/move.cuh"

extern "C" const struct cuda_method transpose_padded_cuda = {no_workspace, no_workspace,
                                                             transpose::enqueue<4>};
