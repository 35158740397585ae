/* sum/interleaved: the divergent textbook kernel.
 *
 * A block of T threads puts T elements into shared memory. In the first step every second thread
 * adds its right neighbour's value to its own, in the next every fourth thread the value two
 * places on, then every eighth the value four places on, until thread 0 holds the block's sum.
 * The threads that still work are scattered over all warps, so that nearly every warp is kept
 * busy for a few of its lanes: this is the kernel that every course begins with and none ends
 * with. The block sums are summed by the same kernel, until one is left. */
#include "kernels/sum/passes.cuh"

namespace
{

template <typename S, typename A> __global__ void fold_groups(const S *x, size_t n, A *out)
{
    __shared__ A shared[block_lanes];
    unsigned t = threadIdx.x, threads = blockDim.x;
    for (size_t g = blockIdx.x; g == 0 || g * threads < n; g += gridDim.x) {
        size_t begin = g * threads;
        unsigned present = n - begin < threads ? (unsigned)(n - begin) : threads;
        shared[t] = t < present ? convert<A>(x[begin + t]) : minus_zero<A>();
        __syncthreads();
        for (unsigned stride = 1; stride < present; stride *= 2) {
            if (t % (2 * stride) == 0 && t + stride < present)
                shared[t] = add(shared[t], shared[t + stride]);
            __syncthreads();
        }
        if (t == 0)
            out[g] = sum_of(n, shared[0]);
        __syncthreads();
    }
}

struct pass {
    static size_t group(unsigned threads) { return threads; }
    template <typename S, typename A>
    static void launch(const S *x, size_t n, A *out, unsigned threads, unsigned blocks,
                       cudaStream_t stream)
    {
        fold_groups<<<blocks, threads, 0, stream>>>(x, n, out);
    }
};

} // namespace

extern "C" {
extern const struct cuda_method sum_interleaved_cuda;
const struct cuda_method sum_interleaved_cuda = {passes_workspace<pass>, no_workspace,
                                                 passes_enqueue<pass>};
}
