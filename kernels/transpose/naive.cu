/* transpose/naive: each element to its place.
 *
 * The lanes of a warp read elements that lie side by side and write them a column apart: 32 places
 * in memory, each with more bytes than are needed. */
#include "kernels/transpose/move.cuh"

namespace
{

template <typename W> __global__ void move_elements(const W *x, W *out, size_t rows, size_t columns)
{
    size_t n = rows * columns, grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += grid)
        out[i % columns * rows + i / columns] = x[i];
}

int enqueue(const struct cuda_task *t)
{
    return with_word(t, [t](auto word) {
        typedef decltype(word) W;
        if (t->of->in.n > 0)
            move_elements<<<grid_for(groups_of(t->of->in.n, t->threads)), t->threads, 0,
                            (cudaStream_t)t->stream>>>((const W *)t->of->in.data, (W *)t->out,
                                                       t->of->bins,
                                                       matrix_length(t->of->in.n, t->of->bins));
        return (int)cudaGetLastError();
    });
}

} // namespace

extern "C" const struct cuda_method transpose_naive_cuda = {no_workspace, no_workspace, enqueue};
