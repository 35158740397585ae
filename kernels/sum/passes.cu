/* sum/pairwise, sum/interleaved, sum/sequential, sum/shuffle, sum/coarsened: one kernel each,
 * applied to x, then to its results, until one value is left (kernels/blocks/passes.cuh). */
#include "kernels/blocks/passes.cuh"
#include "kernels/sum/warps.cuh"

namespace
{

constexpr unsigned per_thread = 8; /* elements, of sum/coarsened and sum/pairwise */

/* sum/interleaved: the divergent textbook kernel.
 *
 * A block of T threads puts T elements into shared memory. In the first step every second thread
 * adds its right neighbour's value to its own, in the next every fourth thread the value two
 * places on, then every eighth the value four places on, until thread 0 holds the block's sum.
 * The threads that still work are scattered over all warps, so that nearly every warp is kept
 * busy for a few of its lanes: this is the kernel that every course begins with and none ends
 * with. The block sums are summed by the same kernel, until one is left. */
struct interleaved {
    template <typename A> static __device__ void fold(A *shared, unsigned t, unsigned present)
    {
        for (unsigned stride = 1; stride < present; stride *= 2) {
            if (t % (2 * stride) == 0 && t + stride < present)
                shared[t] = add(shared[t], shared[t + stride]);
            __syncthreads();
        }
    }
};

/* sum/sequential: stride halving in shared memory.
 *
 * A block of T threads puts T elements into shared memory. The first half of the threads add the
 * values of the second half to their own, thread t the one s places on, where s is the largest
 * power of two below the number of elements; then the first quarter, and so on, until thread 0
 * holds the block's sum. The threads that work stay side by side, so that whole warps fall idle
 * and shared memory is read without bank conflicts: the one change that sum/interleaved asks for.
 * The block sums are summed by the same kernel, until one is left. */
struct sequential {
    template <typename A> static __device__ void fold(A *shared, unsigned t, unsigned present)
    {
        for (unsigned stride = block_lanes / 2; stride > 0; stride /= 2) {
            if (stride >= present)
                continue;
            if (t < stride && t + stride < present)
                shared[t] = add(shared[t], shared[t + stride]);
            __syncthreads();
        }
    }
};

/* sum/shuffle: warps fold in registers.
 *
 * A block takes T consecutive elements, one a thread. Each warp folds its 32 elements by halving,
 * lanes 16, 8, 4, 2, 1 apart, with shuffles: values go from register to register, and no barrier
 * is needed, since the lanes of a warp wait for one another anyway. The warps' sums, 32 at most,
 * meet in shared memory, and the first warp folds them in the same way. The block sums are summed
 * by the same kernel, until one is left. */
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

struct shuffle_pass {
    static size_t group(unsigned threads) { return threads; }
    template <typename S, typename A>
    static void launch(const S *x, size_t n, A *out, unsigned threads, unsigned blocks,
                       cudaStream_t stream)
    {
        fold_groups<<<blocks, lanes_for(threads), 0, stream>>>(x, n, out, threads);
    }
};

/* sum/coarsened: more work for each thread.
 *
 * A block takes a chunk of 8 T consecutive elements. Thread t first adds elements t, t + T,
 * t + 2 T, ..., t + 7 T of the chunk, one after the other, in a register; only then do the
 * threads fold their sums by halving in shared memory. Seven in eight additions need no other
 * thread and no barrier, and eight loads a thread are on their way at once. The chunks' sums are
 * summed by the same kernel, until one is left. */
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

struct coarsened_pass {
    static size_t group(unsigned threads) { return (size_t)per_thread * threads; }
    template <typename S, typename A>
    static void launch(const S *x, size_t n, A *out, unsigned threads, unsigned blocks,
                       cudaStream_t stream)
    {
        fold_chunks<<<blocks, lanes_for(threads), 0, stream>>>(x, n, out, threads);
    }
};

/* sum/pairwise: neighbours first, over the whole array.
 *
 * Elements are added in pairs, the pair sums in pairs, and so on; one that has no partner passes
 * on as it is. Since every pair starts at an even place, every aligned run of 2048 elements is a
 * subtree of its own: a block folds it, and the results, neighbours again, are folded the same
 * way. In a block each thread folds 8 neighbours, then lanes 1, 2, 4, 8, 16 apart meet by
 * shuffles, then the 8 warps do. So its groups, unlike those of sum/shuffle, do not depend on T. */
constexpr unsigned block_threads = 256, group_size = per_thread * block_threads;

/* Neighbouring lanes first. Places without an element hold -0. */
template <typename A> __device__ A adjacent_lanes(A v, unsigned lanes)
{
    for (unsigned stride = 1; stride < lanes; stride *= 2)
        v = add(v, __shfl_xor_sync(whole_warp, v, stride));
    return v;
}

template <typename S, typename A> __device__ A adjacent_elements(const S *x, size_t present)
{
    A v[per_thread];
#pragma unroll
    for (unsigned k = 0; k < per_thread; k++)
        v[k] = k < present ? convert<A>(x[k]) : minus_zero<A>();
#pragma unroll
    for (unsigned stride = 1; stride < per_thread; stride *= 2)
#pragma unroll
        for (unsigned k = 0; k < per_thread; k += 2 * stride)
            v[k] = add(v[k], v[k + stride]);
    return v[0];
}

template <typename S, typename A> __global__ void fold_groups(const S *x, size_t n, A *out)
{
    constexpr unsigned warps = block_threads / warp_lanes;
    __shared__ A shared[warps];
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    for (size_t g = blockIdx.x; g == 0 || g * group_size < n; g += gridDim.x) {
        size_t begin = g * group_size + threadIdx.x * per_thread;
        A v = adjacent_elements<S, A>(x + begin, begin < n ? n - begin : 0);
        v = adjacent_lanes(v, warp_lanes);
        if (lane == 0)
            shared[warp] = v;
        __syncthreads();
        if (warp == 0) {
            v = adjacent_lanes(lane < warps ? shared[lane] : minus_zero<A>(), warps);
            if (lane == 0)
                out[g] = sum_of(n, v);
        }
        __syncthreads();
    }
}

struct pairwise_pass {
    static size_t group(unsigned) { return group_size; }
    template <typename S, typename A>
    static void launch(const S *x, size_t n, A *out, unsigned, unsigned blocks, cudaStream_t stream)
    {
        fold_groups<<<blocks, block_threads, 0, stream>>>(x, n, out);
    }
};

template <typename Pass>
constexpr struct cuda_method by_passes = {passes_workspace<Pass>, no_workspace,
                                          passes_enqueue<Pass>};

} // namespace

extern "C" const struct cuda_method sum_pairwise_cuda = by_passes<pairwise_pass>;
extern "C" const struct cuda_method sum_interleaved_cuda = by_passes<pass_in_shared<interleaved>>;
extern "C" const struct cuda_method sum_sequential_cuda = by_passes<pass_in_shared<sequential>>;
extern "C" const struct cuda_method sum_shuffle_cuda = by_passes<shuffle_pass>;
extern "C" const struct cuda_method sum_coarsened_cuda = by_passes<coarsened_pass>;
