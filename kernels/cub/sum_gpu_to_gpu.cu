/* cub/sum_gpu_to_gpu: cub::DeviceReduce::Reduce, required to be deterministic from GPU to GPU.
 *
 * Such a reduction takes no temporary storage; it asks a memory resource for it. Ours hands out the
 * workspace. CUB adds by cuda::std::plus alone, in fp32 and fp64 alone; elements of other formats
 * are converted by an iterator, exactly for the pairs that are offered.
 *
 * Compiled against the headers in ULPSCOPE_CCCL_DIR (tried: 3.1.4 and 3.5.0). */
#include <new>
#include <type_traits>

#include <cub/device/device_reduce.cuh>
#include <cuda/memory_resource>
#include <cuda/stream_ref>
#include <thrust/iterator/transform_iterator.h>

#include "kernels/device.cuh"

namespace cub_sum
{

/* Gives its memory to whoever asks; where there is none, only notes how much was asked for. */
struct one_block {
    void *memory;
    size_t *asked;

    void *allocate(cuda::stream_ref, size_t bytes, size_t = 0)
    {
        *asked = bytes;
        return memory ? memory : throw std::bad_alloc();
    }
    void deallocate(cuda::stream_ref, void *, size_t, size_t = 0) {}
    void *allocate_sync(size_t bytes, size_t = 0)
    {
        return allocate(cuda::stream_ref(cudaStream_t()), bytes);
    }
    void deallocate_sync(void *, size_t, size_t = 0) {}
    bool operator==(const one_block &b) const { return memory == b.memory; }
    bool operator!=(const one_block &b) const { return memory != b.memory; }
    friend void get_property(const one_block &, cuda::mr::device_accessible) noexcept {}
};
static_assert(cuda::mr::resource<one_block>, "else CUB allocates its storage itself");

/* CUB's count of elements. In CCCL 3.1 it has 32 bits. */
typedef std::conditional<(CCCL_VERSION >= 3005000), size_t, unsigned>::type count;

template <typename A> struct converted {
    template <typename S> __device__ A operator()(S x) const { return convert<A>(x); }
};

template <typename A, typename Input>
int reduce(Input in, one_block memory, const struct cuda_task *t)
{
    if ((count)t->n != t->n)
        return cudaErrorInvalidValue;
    namespace execution = cuda::std::execution;
    execution::env environment{
        cuda::execution::require(cuda::execution::determinism::gpu_to_gpu),
        execution::prop{cuda::get_stream_t{}, cuda::stream_ref((cudaStream_t)t->stream)},
        execution::prop{cuda::mr::get_memory_resource_t{}, memory}};
    typedef decltype(cuda::mr::get_memory_resource(environment)) found;
    static_assert(std::is_same<typename std::decay<found>::type, one_block>::value,
                  "CUB looks elsewhere");
    return cub::DeviceReduce::Reduce(in, (A *)t->out, (count)t->n, cuda::std::plus<A>(), A(-0.0f),
                                     environment);
}

template <typename S, typename A> int reduce_as(one_block memory, const struct cuda_task *t)
{
    const S *in = (const S *)t->in;
    if constexpr (std::is_same<S, A>::value)
        return reduce<A>(in, memory, t);
    else
        return reduce<A>(thrust::make_transform_iterator(in, converted<A>()), memory, t);
}

inline int reduce_pair(one_block memory, const struct cuda_task *t)
{
    switch (FORMATS * t->storage + t->accumulator) {
    case FORMATS *FP32 + FP32:
        return reduce_as<float, float>(memory, t);
    case FORMATS *FP64 + FP64:
        return reduce_as<double, double>(memory, t);
    case FORMATS *FP16 + FP32:
        return reduce_as<__half, float>(memory, t);
    case FORMATS *BF16 + FP32:
        return reduce_as<__nv_bfloat16, float>(memory, t);
    case FORMATS *FP32 + FP64:
        return reduce_as<float, double>(memory, t);
    default:
        return cudaErrorInvalidValue;
    }
}

/* The size of the storage depends on n and the device. */
inline size_t workspace(const struct cuda_task *t)
{
    size_t bytes = 0;
    if (t->n > 0)
        (void)reduce_pair(one_block{NULL, &bytes}, t);
    return bytes;
}

inline int enqueue(const struct cuda_task *t)
{
    if (t->n == 0)
        return cudaMemsetAsync(t->out, 0, sizeof(double), (cudaStream_t)t->stream);
    size_t bytes;
    return reduce_pair(one_block{t->workspace, &bytes}, t);
}

} // namespace cub_sum

extern "C" {
extern const struct cuda_method cub_sum_gpu_to_gpu_cuda;
const struct cuda_method cub_sum_gpu_to_gpu_cuda = {cub_sum::workspace, no_workspace,
                                                    cub_sum::enqueue};
}
