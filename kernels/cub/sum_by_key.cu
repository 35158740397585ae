/* cub/sum_by_key: cub::DeviceReduce::ReduceByKey with our addition. Its keys are read from an
 * iterator, not from memory. */
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/constant_iterator.h>

#include "kernels/cub/pairs.cuh"
#include "kernels/cub/storage.cuh"

namespace
{

/* The workspace begins with two results that are not needed: the one key and the number of runs. */
struct found {
    int key;
    unsigned long long runs;
};
constexpr size_t found_bytes = 256;

template <typename S, typename A>
int reduce(void *storage, size_t *bytes, const struct cuda_task *t)
{
    struct found *found = (struct found *)t->workspace;
    void *rest = storage ? (char *)storage + found_bytes : NULL;
    cudaError_t error = cub::DeviceReduce::ReduceByKey(
        rest, *bytes, thrust::constant_iterator<int>(0), &found->key, (const S *)t->of->in.data,
        (A *)t->out, &found->runs, rounded_addition<A>(), t->of->in.n, (cudaStream_t)t->stream);
    if (!storage)
        *bytes += found_bytes;
    return error;
}

int reduce_pair(void *storage, size_t *bytes, const struct cuda_task *t)
{
    return with_pair(
        t, [&](auto s, auto a) { return reduce<decltype(s), decltype(a)>(storage, bytes, t); });
}

} // namespace

extern "C" const struct cuda_method cub_sum_by_key_cuda = {storage_bytes<reduce_pair>, no_workspace,
                                                           enqueue_sum<reduce_pair>};
