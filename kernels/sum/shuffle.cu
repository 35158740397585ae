/* sum/shuffle: warps fold in registers.
 *
 * A block takes T consecutive elements, one a thread. Each warp folds its 32 elements by halving,
 * lanes 16, 8, 4, 2, 1 apart, with shuffles: values go from register to register, and no barrier
 * is needed, since the lanes of a warp wait for one another anyway. The warps' sums, 32 at most,
 * meet in shared memory, and the first warp folds them in the same way. The block sums are summed
 * by the same kernel, until one is left. */
#include "kernels/blocks/passes.cuh"
#include "kernels/sum/warps.cuh"

namespace
{

template <typename S, typename A>
__global__ void fold_groups(const S *x, size_t n, A *out, unsigned threads)
{
    __shared__ A shared[warp_lanes];
    for (size_t g = blockIdx.x; g == 0 || g * threads < n; g += gridDim.x) {
        size_t i = g * threads + threadIdx.x;
        bool present = threadIdx.x < threads && i < n;
        A v = block_warps(present ? convert<A>(x[i]) : minus_zero<A>(), shared);
        if (threadIdx.x == 0)
            out[g] = sum_of(n, v);
        __syncthreads();
    }
}

struct pass {
    static size_t group(unsigned threads) { return threads; }
    template <typename S, typename A>
    static void launch(const S *x, size_t n, A *out, unsigned threads, unsigned blocks,
                       cudaStream_t stream)
    {
        fold_groups<<<blocks, lanes_for(threads), 0, stream>>>(x, n, out, threads);
    }
};

} // namespace

extern "C" {
extern const struct cuda_method sum_shuffle_cuda;
const struct cuda_method sum_shuffle_cuda = {passes_workspace<pass>, no_workspace,
                                             passes_enqueue<pass>};
}
