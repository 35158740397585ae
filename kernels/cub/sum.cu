/* cub/sum: cub::DeviceReduce::Reduce with our addition and the identity -0 as its initial value.
 *
 * Its input is a raw pointer, so that CUB loads it as wide as it can; it converts elements to the
 * accumulator's type itself, exactly for the pairs that are offered. */
#include <cub/device/device_reduce.cuh>

#include "kernels/cub/pairs.cuh"
#include "kernels/cub/storage.cuh"

namespace
{

template <typename S, typename A>
int reduce(void *storage, size_t *bytes, const struct cuda_task *t)
{
    return cub::DeviceReduce::Reduce(storage, *bytes, (const S *)t->of->in.data, (A *)t->out,
                                     t->of->in.n, rounded_addition<A>(), A(-0.0f),
                                     (cudaStream_t)t->stream);
}

int reduce_pair(void *storage, size_t *bytes, const struct cuda_task *t)
{
    return with_pair(
        t, [&](auto s, auto a) { return reduce<decltype(s), decltype(a)>(storage, bytes, t); });
}

} // namespace

extern "C" const struct cuda_method cub_sum_cuda = {storage_bytes<reduce_pair>, no_workspace,
                                                    enqueue_sum<reduce_pair>};
