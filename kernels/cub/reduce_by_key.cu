/* cub/reduce_by_key: CUB's sort, CUB's reduction by key with our addition, and what it leaves to
 * its caller: the sums of the keys that it found, which are packed, go to their bins. */
#include <cub/device/device_reduce.cuh>

#include "kernels/cub/pairs.cuh"
#include "kernels/scatter/sorted.cuh"

namespace
{

/* In the workspace: runs of equal keys, as many as `count`; then what sorting takes, then what
 * reducing takes. */
template <typename A> struct runs {
    unsigned long long *count;
    uint32_t *key;
    A *sum;
};

constexpr size_t alignment = 256, threads = 256;

size_t aligned(size_t bytes)
{
    return groups_of(bytes, alignment) * alignment;
}

size_t most_runs(const struct cuda_task *t)
{
    return min(t->of->in.n, t->of->bins);
}

size_t runs_bytes(const struct cuda_task *t)
{
    size_t most = most_runs(t);
    return alignment + aligned(most * sizeof(uint32_t)) + aligned(most * sizeof(double));
}

template <typename A> runs<A> runs_of(const struct cuda_task *t)
{
    char *place = (char *)t->workspace;
    uint32_t *key = (uint32_t *)(place + alignment);
    return {(unsigned long long *)place, key,
            (A *)((char *)key + aligned(most_runs(t) * sizeof *key))};
}

/* Where `storage` is NULL, sets `bytes` to those of temporary storage that it needs. */
template <typename S, typename A>
int reduce(void *storage, size_t *bytes, const struct cuda_task *t, const sorted &s)
{
    runs<A> r = runs_of<A>(t);
    return cub::DeviceReduce::ReduceByKey(storage, *bytes, s.keys, r.key, (const S *)s.values,
                                          r.sum, r.count, rounded_addition<A>(), t->of->in.n,
                                          (cudaStream_t)t->stream);
}

template <typename A>
__global__ void to_bins(const unsigned long long *count, const uint32_t *key, const A *sum, A *out)
{
    size_t i = (size_t)blockIdx.x * threads + threadIdx.x;
    if (i < *count)
        out[key[i]] = sum[i];
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    struct sorted s;
    size_t bytes = SIZE_MAX; /* enough: asking again at every run would be unfair to CUB */
    char *place = (char *)t->workspace + runs_bytes(t);
    int error = cudaMemsetAsync(t->out, 0, t->of->bins * sizeof(A), stream);
    if (error == cudaSuccess)
        error = sorted_pairs_enqueue(t, 0, place, &s);
    if (error == cudaSuccess)
        error = reduce<S, A>(place + aligned(sorted_workspace(t)), &bytes, t, s);
    if (error != cudaSuccess)
        return error;
    runs<A> r = runs_of<A>(t);
    to_bins<<<grid_for(groups_of(most_runs(t), threads)), threads, 0, stream>>>(r.count, r.key,
                                                                                r.sum, (A *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    size_t bytes = 0;
    int error = with_pair(t, [&](auto s, auto a) {
        return reduce<decltype(s), decltype(a)>(NULL, &bytes, t, sorted());
    });
    bytes = error == cudaSuccess ? bytes : 0; /* the first run will say why */
    return runs_bytes(t) + aligned(sorted_workspace(t)) + bytes;
}

int enqueue(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return enqueue_zeros(t);
    return with_pair(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

} // namespace

extern "C" const struct cuda_method cub_reduce_by_key_cuda = {workspace, no_workspace, enqueue};
