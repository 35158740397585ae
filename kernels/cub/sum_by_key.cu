/* cub/sum_by_key: cub::DeviceReduce::ReduceByKey with our addition. Its keys are read from an
 * iterator, not from memory. */
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/constant_iterator.h>

#include "kernels/cub/pairs.cuh"

namespace
{

/* The workspace begins with what nobody asks for: the one key and the number of runs. */
struct found {
    int key;
    unsigned long long runs;
};
constexpr size_t found_bytes = 256;

/* Where `storage` is NULL, sets `bytes` to those of temporary storage that CUB needs. */
template <typename S, typename A>
int reduce(void *storage, size_t *bytes, const struct cuda_task *t)
{
    struct found *found = (struct found *)t->workspace;
    return cub::DeviceReduce::ReduceByKey(storage, *bytes, thrust::constant_iterator<int>(0),
                                          &found->key, (const S *)t->in, (A *)t->out, &found->runs,
                                          rounded_addition<A>(), t->n, (cudaStream_t)t->stream);
}

int reduce_pair(void *storage, size_t *bytes, const struct cuda_task *t)
{
    return with_pair(
        t, [&](auto s, auto a) { return reduce<decltype(s), decltype(a)>(storage, bytes, t); });
}

size_t workspace(const struct cuda_task *t)
{
    size_t bytes = 0;
    return reduce_pair(NULL, &bytes, t) == cudaSuccess ? found_bytes + bytes : 0;
}

int enqueue(const struct cuda_task *t)
{
    if (t->n == 0)
        return cudaMemsetAsync(t->out, 0, sizeof(double), (cudaStream_t)t->stream);
    size_t bytes = SIZE_MAX; /* enough: asking again at every run would be unfair to CUB */
    return reduce_pair((char *)t->workspace + found_bytes, &bytes, t);
}

} // namespace

extern "C" {
extern const struct cuda_method cub_sum_by_key_cuda;
const struct cuda_method cub_sum_by_key_cuda = {workspace, no_workspace, enqueue};
}
