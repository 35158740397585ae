/* cub/sum: cub::DeviceReduce::Reduce with our addition and the identity -0 as its initial value.
 *
 * Its input is a raw pointer, so that CUB loads it as wide as it can; it converts elements to the
 * accumulator's type itself, exactly for the pairs that are offered. */
#include <cub/device/device_reduce.cuh>

#include "kernels/device.cuh"

namespace
{

template <typename A> struct rounded_addition {
    __device__ A operator()(A a, A b) const { return add(a, b); }
};

template <typename A> A host_minus_zero()
{
    return A(-0.0f);
}

/* Where `storage` is NULL, sets `bytes` to those of temporary storage that CUB needs. */
template <typename S, typename A>
int reduce(void *storage, size_t *bytes, const struct cuda_task *t)
{
    return cub::DeviceReduce::Reduce(storage, *bytes, (const S *)t->in, (A *)t->out, t->n,
                                     rounded_addition<A>(), A(-0.0f), (cudaStream_t)t->stream);
}

int reduce_pair(void *storage, size_t *bytes, const struct cuda_task *t)
{
    switch (FORMATS * t->storage + t->accumulator) {
    case FORMATS *FP16 + FP16:
        return reduce<__half, __half>(storage, bytes, t);
    case FORMATS *BF16 + BF16:
        return reduce<__nv_bfloat16, __nv_bfloat16>(storage, bytes, t);
    case FORMATS *FP32 + FP32:
        return reduce<float, float>(storage, bytes, t);
    case FORMATS *FP64 + FP64:
        return reduce<double, double>(storage, bytes, t);
    case FORMATS *FP16 + FP32:
        return reduce<__half, float>(storage, bytes, t);
    case FORMATS *BF16 + FP32:
        return reduce<__nv_bfloat16, float>(storage, bytes, t);
    case FORMATS *FP32 + FP64:
        return reduce<float, double>(storage, bytes, t);
    default:
        return cudaErrorInvalidValue;
    }
}

/* The size of the storage depends on n and the device. */
size_t workspace(const struct cuda_task *t)
{
    size_t bytes = 0;
    return reduce_pair(NULL, &bytes, t) == cudaSuccess ? bytes : 0;
}

int enqueue(const struct cuda_task *t)
{
    if (t->n == 0)
        return cudaMemsetAsync(t->out, 0, sizeof(double), (cudaStream_t)t->stream);
    size_t bytes = SIZE_MAX; /* enough: asking again at every run would be unfair to CUB */
    return reduce_pair(t->workspace, &bytes, t);
}

} // namespace

extern "C" {
extern const struct cuda_method cub_sum_cuda;
const struct cuda_method cub_sum_cuda = {workspace, no_workspace, enqueue};
}
