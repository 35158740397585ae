/* kernels/blocks/passes.h as launches: the pass is applied to x, then to its results, back and
 * forth between two buffers, until one value is left.
 *
 * A pass is a type with
 *     static size_t group(unsigned threads);   elements of a group, at least 2
 *     template <typename S, typename A>        folds groups of x[0 .. n-1] into out[], one
 *     static void launch(const S *x, size_t n, A *out, unsigned threads, unsigned blocks,
 *                        cudaStream_t stream); result each; with n = 0 one result, +0 */
#pragma once

#include "kernels/device/device.cuh"

/* Where the second buffer begins. The first holds the results of the first pass. */
inline size_t second_buffer(const struct cuda_task *t, size_t group)
{
    return groups_of(groups_of(t->of->in.n, group) * sizeof(double), 256) * 256;
}

template <typename Pass> size_t passes_workspace(const struct cuda_task *t)
{
    size_t group = Pass::group(t->threads);
    return second_buffer(t, group) +
           groups_of(groups_of(t->of->in.n, group), group) * sizeof(double);
}

template <typename Pass, typename S, typename A> int passes_run(const struct cuda_task *t)
{
    size_t group = Pass::group(t->threads), count = groups_of(t->of->in.n, group);
    if (group < 2)
        return cudaErrorInvalidValue;
    char *workspace = (char *)t->workspace;
    A *from = (A *)workspace, *to = (A *)(workspace + second_buffer(t, group));
    A *out = (A *)t->out;
    cudaStream_t stream = (cudaStream_t)t->stream;

    Pass::launch((const S *)t->of->in.data, t->of->in.n, count > 1 ? from : out, t->threads,
                 grid_for(count), stream);
    while (count > 1) {
        size_t n = count;
        count = groups_of(n, group);
        Pass::launch((const A *)from, n, count > 1 ? to : out, t->threads, grid_for(count), stream);
        A *results = to;
        to = from;
        from = results;
    }
    return cudaGetLastError();
}

template <typename Pass> int passes_enqueue(const struct cuda_task *t)
{
    return with_types(
        t, [t](auto s, auto a) { return passes_run<Pass, decltype(s), decltype(a)>(t); });
}

/* A pass over groups of T elements, one a thread, that meet in shared memory. All threads call
 * Fold::fold(shared, thread, present) behind a barrier; it leaves the sum of the first `present`
 * elements in shared[0], which thread 0 reads. */
template <typename Fold, typename S, typename A>
__global__ void fold_in_shared(const S *x, size_t n, A *out)
{
    __shared__ A shared[block_lanes];
    unsigned t = threadIdx.x, threads = blockDim.x;
    for (size_t g = blockIdx.x; g == 0 || g * threads < n; g += gridDim.x) {
        size_t begin = g * threads;
        unsigned present = n - begin < threads ? (unsigned)(n - begin) : threads;
        shared[t] = t < present ? convert<A>(x[begin + t]) : minus_zero<A>();
        __syncthreads();
        Fold::fold(shared, t, present);
        if (t == 0)
            out[g] = sum_of(n, shared[0]);
        __syncthreads();
    }
}

template <typename Fold> struct pass_in_shared {
    static size_t group(unsigned threads) { return threads; }
    template <typename S, typename A>
    static void launch(const S *x, size_t n, A *out, unsigned threads, unsigned blocks,
                       cudaStream_t stream)
    {
        fold_in_shared<Fold><<<blocks, threads, 0, stream>>>(x, n, out);
    }
};
