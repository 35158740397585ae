/* sum/coarsened: more work for each thread.
 *
 * A block takes a chunk of 8 T consecutive elements. Thread t first adds elements t, t + T,
 * t + 2 T, ..., t + 7 T of the chunk, one after the other, in a register; only then do the
 * threads fold their sums by halving in shared memory. Seven in eight additions need no other
 * thread and no barrier, and eight loads a thread are on their way at once. The chunks' sums are
 * summed by the same kernel, until one is left. */
#include "kernels/blocks/passes.cuh"

namespace
{

constexpr unsigned per_thread = 8;

template <typename S, typename A>
__global__ void fold_chunks(const S *x, size_t n, A *out, unsigned threads)
{
    __shared__ A shared[block_lanes];
    size_t chunk = (size_t)per_thread * threads;
    for (size_t g = blockIdx.x; g == 0 || g * chunk < n; g += gridDim.x) {
        size_t first = g * chunk + threadIdx.x;
        A sum = minus_zero<A>();
#pragma unroll
        for (unsigned k = 0; k < per_thread; k++) {
            size_t i = first + (size_t)k * threads;
            if (threadIdx.x < threads && i < n)
                sum = add(sum, convert<A>(x[i]));
        }
        sum = block_halving(sum, shared);
        if (threadIdx.x == 0)
            out[g] = sum_of(n, sum);
        __syncthreads();
    }
}

struct pass {
    static size_t group(unsigned threads) { return (size_t)per_thread * threads; }
    template <typename S, typename A>
    static void launch(const S *x, size_t n, A *out, unsigned threads, unsigned blocks,
                       cudaStream_t stream)
    {
        fold_chunks<<<blocks, lanes_for(threads), 0, stream>>>(x, n, out, threads);
    }
};

} // namespace

extern "C" {
extern const struct cuda_method sum_coarsened_cuda;
const struct cuda_method sum_coarsened_cuda = {passes_workspace<pass>, no_workspace,
                                               passes_enqueue<pass>};
}
