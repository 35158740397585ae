/* cub/sum_segment: cub::DeviceSegmentedReduce::Reduce with our addition and the identity -0 as its
 * initial value, over the segment [0, n). */
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/constant_iterator.h>

#include "kernels/cub/pairs.cuh"
#include "kernels/cub/storage.cuh"

namespace
{

template <typename S, typename A>
int reduce(void *storage, size_t *bytes, const struct cuda_task *t)
{
    typedef thrust::constant_iterator<size_t> offset;
    return cub::DeviceSegmentedReduce::Reduce(
        storage, *bytes, (const S *)t->of->in.data, (A *)t->out, 1, offset(0), offset(t->of->in.n),
        rounded_addition<A>(), A(-0.0f), (cudaStream_t)t->stream);
}

int reduce_pair(void *storage, size_t *bytes, const struct cuda_task *t)
{
    return with_pair(
        t, [&](auto s, auto a) { return reduce<decltype(s), decltype(a)>(storage, bytes, t); });
}

} // namespace

extern "C" const struct cuda_method cub_sum_segment_cuda = {storage_bytes<reduce_pair>,
                                                            no_workspace, enqueue_sum<reduce_pair>};
