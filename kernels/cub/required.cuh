/* What the methods share that ask CUB for a level of determinism: its
 * calls that take an environment.
 *
 * Such a call takes no temporary storage; it asks a memory resource for it. Ours hands out the
 * workspace. With a level CUB adds by cuda::std::plus alone; elements of another format than the
 * accumulator's are converted by an iterator, exactly for the pairs that are offered.
 *
 * Compiled against the headers in ULPSCOPE_CCCL_DIR (tried: 3.1.4, 3.2.0 and 3.5.0). */
#pragma once

#include <new>
#include <type_traits>

#include <cub/device/device_reduce.cuh>
#include <cuda/memory_resource>
#include <cuda/stream_ref>

#include "kernels/cub/elements.cuh"
#include "kernels/cub/pairs.cuh"

namespace required
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

/* The level, the task's stream, and the memory, as CUB wants to be told. */
template <typename Level> auto environment(const struct cuda_task *t, one_block memory)
{
    namespace execution = cuda::std::execution;
    execution::env told{
        cuda::execution::require(Level{}),
        execution::prop{cuda::get_stream_t{}, cuda::stream_ref((cudaStream_t)t->stream)},
        execution::prop{cuda::mr::get_memory_resource_t{}, memory}};
    typedef decltype(cuda::mr::get_memory_resource(told)) found;
    static_assert(std::is_same<typename std::decay<found>::type, one_block>::value,
                  "CUB looks elsewhere");
    return told;
}

template <typename Level, typename S, typename A>
int reduce(one_block memory, const struct cuda_task *t)
{
    if ((count)t->of->in.n != t->of->in.n)
        return cudaErrorInvalidValue;
    return with_elements<S, A>(t, [&](auto in) -> int {
        return cub::DeviceReduce::Reduce(in, (A *)t->out, (count)t->of->in.n, cuda::std::plus<A>(),
                                         A(-0.0f), environment<Level>(t, memory));
    });
}

/* Additions in fp32 and fp64. */
template <typename Level> int reduce_wide(one_block memory, const struct cuda_task *t)
{
    return with_wide_pair(
        t, [&](auto s, auto a) { return reduce<Level, decltype(s), decltype(a)>(memory, t); });
}

/* Additions in fp16 and bf16. */
template <typename Level> int reduce_narrow(one_block memory, const struct cuda_task *t)
{
    return with_narrow_pair(
        t, [&](auto s, auto a) { return reduce<Level, decltype(s), decltype(a)>(memory, t); });
}

typedef int call(one_block memory, const struct cuda_task *t);

/* The size of the storage depends on n and the device. */
template <call *Call> size_t workspace(const struct cuda_task *t)
{
    size_t bytes = 0;
    if (t->of->in.n > 0)
        (void)Call(one_block{NULL, &bytes}, t);
    return bytes;
}

template <call *Call> int enqueue_sum(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return cudaMemsetAsync(t->out, 0, sizeof(double), (cudaStream_t)t->stream);
    size_t bytes;
    return Call(one_block{t->workspace, &bytes}, t);
}

template <call *Call> int enqueue_scan(const struct cuda_task *t)
{
    size_t bytes;
    return t->of->in.n == 0 ? (int)cudaSuccess : Call(one_block{t->workspace, &bytes}, t);
}

} // namespace required
