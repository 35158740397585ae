/* CUB's calls that are given temporary storage: the workspace. */
#pragma once

#include "kernels/device/device.cuh"

namespace
{

/* Where `storage` is NULL, sets `bytes` to those of temporary storage that it needs. */
typedef int stored_call(void *storage, size_t *bytes, const struct cuda_task *t);

/* The size of the storage depends on n and the device. */
template <stored_call *Call> size_t storage_bytes(const struct cuda_task *t)
{
    size_t bytes = 0;
    return Call(NULL, &bytes, t) == cudaSuccess ? bytes : 0;
}

template <stored_call *Call> int enqueue_scan(const struct cuda_task *t)
{
    size_t bytes = SIZE_MAX; /* enough: asking again at every run would be unfair to CUB */
    return t->of->in.n == 0 ? (int)cudaSuccess : Call(t->workspace, &bytes, t);
}

template <stored_call *Call> int enqueue_sum(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return cudaMemsetAsync(t->out, 0, sizeof(double), (cudaStream_t)t->stream);
    return enqueue_scan<Call>(t);
}

} // namespace
