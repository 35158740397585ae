/* sum/warp_atomic: one atomic addition for every 32 elements.
 *
 * Each warp first folds 32 consecutive elements by halving, in registers, and only its first lane
 * goes to memory: a 32nd of the traffic on the accumulator, and a 32nd of the chance in the bits.
 * The accumulator starts from -0, which changes nothing. */
#include "kernels/blocks/running_sum.cuh"

namespace
{

template <typename S, typename A> __global__ void add_warps(const S *x, size_t n, A *out)
{
    size_t grid = (size_t)gridDim.x * blockDim.x;
    unsigned lane = threadIdx.x % warp_lanes;
    size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x - lane;
    for (; first < n; first += grid) {
        size_t i = first + lane;
        A v = warp_halving(i < n ? convert<A>(x[i]) : minus_zero<A>());
        if (lane == 0)
            add_atomically(out, v);
    }
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    unsigned lanes = lanes_for(t->threads);
    start_running_sum<<<1, 1, 0, stream>>>(t->of->in.n, (A *)t->out);
    if (t->of->in.n > 0)
        add_warps<<<grid_for(groups_of(t->of->in.n, lanes)), lanes, 0, stream>>>(
            (const S *)t->of->in.data, t->of->in.n, (A *)t->out);
    return cudaGetLastError();
}

} // namespace

extern "C" const struct cuda_method sum_warp_atomic_cuda = {no_workspace, no_workspace,
                                                            BY_TYPES(run)};
