/* sum/sequential: stride halving in shared memory.
 *
 * A block of T threads puts T elements into shared memory. The first half of the threads add the
 * values of the second half to their own, thread t the one s places on, where s is the largest
 * power of two below the number of elements; then the first quarter, and so on, until thread 0
 * holds the block's sum. The threads that work stay side by side, so that whole warps fall idle
 * and shared memory is read without bank conflicts: the one change that sum/interleaved asks for.
 * The block sums are summed by the same kernel, until one is left. */
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
        for (unsigned stride = block_lanes / 2; stride > 0; stride /= 2) {
            if (stride >= present)
                continue;
            if (t < stride && t + stride < present)
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
extern const struct cuda_method sum_sequential_cuda;
const struct cuda_method sum_sequential_cuda = {passes_workspace<pass>, no_workspace,
                                                passes_enqueue<pass>};
}
