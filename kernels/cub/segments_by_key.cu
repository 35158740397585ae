/* cub/segments_by_key: CUB's sort, where each key's elements begin and end (sorted_enqueue), and
 * CUB's sums of segments with our addition and the identity -0 as their initial value; keys without
 * elements get +0 behind it. */
#include <cub/device/device_segmented_reduce.cuh>

#include "kernels/cub/pairs.cuh"
#include "kernels/scatter/sorted.cuh"

namespace
{

constexpr size_t threads = 256;

/* Where `storage` is NULL, sets `bytes` to those of temporary storage that it needs. */
template <typename S, typename A>
int reduce(void *storage, size_t *bytes, const struct cuda_task *t, const sorted &s)
{
    return cub::DeviceSegmentedReduce::Reduce(
        storage, *bytes, (const S *)s.values, (A *)t->out, (int64_t)t->of->bins, s.begin, s.end,
        rounded_addition<A>(), A(-0.0f), (cudaStream_t)t->stream);
}

template <typename A> __global__ void empty_to_zero(sorted s, size_t bins, A *out)
{
    size_t b = (size_t)blockIdx.x * threads + threadIdx.x;
    if (b < bins && s.begin[b] == s.end[b])
        out[b] = rounded<A>(0.0f);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    struct sorted s;
    size_t bytes = SIZE_MAX; /* enough: asking again at every run would be unfair to CUB */
    int error = sorted_enqueue(t, t->workspace, &s);
    if (error == cudaSuccess)
        error = reduce<S, A>((char *)t->workspace + sorted_workspace(t), &bytes, t, s);
    if (error != cudaSuccess)
        return error;
    empty_to_zero<<<grid_for(groups_of(t->of->bins, threads)), threads, 0, stream>>>(s, t->of->bins,
                                                                                     (A *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    size_t bytes = 0;
    int error = with_pair(t, [&](auto s, auto a) {
        return reduce<decltype(s), decltype(a)>(NULL, &bytes, t, sorted());
    });
    return sorted_workspace(t) +
           (error == cudaSuccess ? bytes : 0); /* the first run will say why */
}

int enqueue(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return enqueue_zeros(t);
    return with_pair(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

} // namespace

extern "C" const struct cuda_method cub_segments_by_key_cuda = {workspace, no_workspace, enqueue};
