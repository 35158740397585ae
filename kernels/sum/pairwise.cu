/* sum/pairwise: neighbours first, over the whole array.
 *
 * Elements are added in pairs, the pair sums in pairs, and so on; one that has no partner passes
 * on as it is. Since every pair starts at an even place, every aligned run of 2048 elements is a
 * subtree of its own: a block folds it, and the results, neighbours again, are folded the same
 * way. In a block each thread folds 8 neighbours, then lanes 1, 2, 4, 8, 16 apart meet by
 * shuffles, then the 8 warps do. */
#include "kernels/blocks/passes.cuh"

namespace
{

constexpr unsigned per_thread = 8, block_threads = 256, group_size = per_thread * block_threads;

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

struct pass {
    static size_t group(unsigned) { return group_size; }
    template <typename S, typename A>
    static void launch(const S *x, size_t n, A *out, unsigned, unsigned blocks, cudaStream_t stream)
    {
        fold_groups<<<blocks, block_threads, 0, stream>>>(x, n, out);
    }
};

} // namespace

extern "C" {
extern const struct cuda_method sum_pairwise_cuda;
const struct cuda_method sum_pairwise_cuda = {passes_workspace<pass>, no_workspace,
                                              passes_enqueue<pass>};
}
