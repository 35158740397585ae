/* rows/serial: each row one after the other.
 *
 * A thread walks a row from its first element to its last. In column-major order the lanes of a
 * warp read side by side; in row-major order a row apart, and the cache has to make up for it. */
#include "kernels/device/device.cuh"
#include "kernels/method/matrix.h"

namespace
{

enum { AHEAD = 8 };

template <typename S, typename A>
__global__ void walk(const S *x, size_t rows, size_t length, size_t stride, A *out)
{
    size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t r = (size_t)blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += grid) {
        const S *at = x + matrix_at(r, 0, length, stride);
        A sum = minus_zero<A>();
        size_t k = 0;
        for (; length - k >= AHEAD; k += AHEAD) {
            S next[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                next[i] = at[(k + i) * stride];
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                sum = add(sum, convert<A>(next[i]));
        }
        for (; k < length; k++)
            sum = add(sum, convert<A>(at[k * stride]));
        out[r] = sum_of(length, sum);
    }
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    if (t->of->bins > 0)
        walk<<<grid_for(groups_of(t->of->bins, t->threads)), t->threads, 0,
               (cudaStream_t)t->stream>>>((const S *)t->of->in.data, t->of->bins,
                                          matrix_length(t->of->in.n, t->of->bins), t->of->stride,
                                          (A *)t->out);
    return cudaGetLastError();
}

} // namespace

extern "C" const struct cuda_method rows_serial_cuda = {no_workspace, no_workspace, BY_TYPES(run)};
