/* A run of a shared object's subject on device memory. */
#include <cuda_runtime_api.h>
#include <string.h>

#include "experiments/subjects/object.h"
#include "experiments/system/memory.h"
#include "kernels/gpu/device.h"

enum { ALIGNMENT = 256 };
_Static_assert(MEMORY_AROUND % ALIGNMENT == 0, "alignment");

/* Kept from run to run. */
static struct {
    int device;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    struct memory {
        void *address;
        size_t bytes;
    } in, in2, out;
} held;

static enum status open_stream(int device, struct problem *p)
{
    enum status status = gpu_choose(device, p);
    if (status != STATUS_OK || held.stream)
        return status;
    held.device = device;
    cudaError_t error = cudaStreamCreate(&held.stream);
    if (error == cudaSuccess)
        error = cudaEventCreate(&held.begin);
    if (error == cudaSuccess)
        error = cudaEventCreate(&held.end);
    return error == cudaSuccess ? STATUS_OK : gpu_failed(device, "opening a stream", error, p);
}

static enum status grow(struct memory *m, size_t bytes, const char *what, struct problem *p)
{
    if (m->address && m->bytes >= bytes)
        return STATUS_OK;
    cudaFree(m->address);
    *m = (struct memory){NULL, bytes};
    return gpu_allocate(&m->address, held.device, bytes, what, p);
}

/* Uploads the input, and what lies around it in the probe that it is of, to a place as far from 256
 * bytes' alignment as the host's. */
static enum status upload(const struct task *t, struct ulpscope_task *call, struct problem *p)
{
    size_t in = array_bytes(t->of->in.format, t->of->in.n),
           out = array_bytes(t->out.format, t->out.n);
    size_t ahead = (uintptr_t)t->of->in.data % ALIGNMENT, all = MEMORY_AROUND + in + MEMORY_AROUND;
    enum status status = grow(&held.in, ahead + all, "the input", p);
    size_t second = (uintptr_t)t->of->in2.data % ALIGNMENT;
    if (status == STATUS_OK && t->of->in2.data)
        status = grow(&held.in2, second + all, "the second array", p);
    if (status == STATUS_OK)
        status = grow(&held.out, out + 1, "the results", p);
    if (status != STATUS_OK)
        return status;
    char *to = (char *)held.in.address + ahead;
    call->in = to + MEMORY_AROUND;
    call->out = held.out.address;
    call->device = held.device;
    call->stream = held.stream;
    cudaError_t error = cudaMemcpyAsync(to, (const char *)t->of->in.data - MEMORY_AROUND, all,
                                        cudaMemcpyHostToDevice, held.stream);
    if (error == cudaSuccess && t->of->in2.data) {
        char *to2 = (char *)held.in2.address + second;
        call->in2 = to2 + MEMORY_AROUND;
        error = cudaMemcpyAsync(to2, (const char *)t->of->in2.data - MEMORY_AROUND, all,
                                cudaMemcpyHostToDevice, held.stream);
    }
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(call->out, t->out.data, out, cudaMemcpyHostToDevice, held.stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(held.stream);
    return error == cudaSuccess ? STATUS_OK : gpu_failed(held.device, "uploading", error, p);
}

/* What is wrong from here on is the subject's doing. */
static enum status call_it(const struct ulpscope_subject *s, const struct task *t,
                           const struct ulpscope_task *call, uint64_t *time_ns, struct problem *p)
{
    float milliseconds = 0;
    cudaEventRecord(held.begin, held.stream);
    enum status status = object_returned(t->method, s->run(call), p);
    cudaEventRecord(held.end, held.stream);
    cudaError_t error = cudaStreamSynchronize(held.stream);
    if (error == cudaSuccess)
        error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&milliseconds, held.begin, held.end);
    *time_ns = (uint64_t)(1e6 * (double)milliseconds);
    return status == STATUS_OK && error != cudaSuccess
               ? problem(p, STATUS_DATA, "%s: its work on cuda:%d failed: %s", t->method->name,
                         held.device, cudaGetErrorString(error))
               : status;
}

enum status object_run_cuda(const struct ulpscope_subject *s, const struct task *t,
                            struct ulpscope_task *call, uint64_t *time_ns, struct problem *p)
{
    enum status status = open_stream(t->device, p);
    if (status == STATUS_OK)
        status = upload(t, call, p);
    if (status == STATUS_OK)
        status = call_it(s, t, call, time_ns, p);
    if (status != STATUS_OK)
        return status;
    cudaError_t error = cudaMemcpy(t->out.data, call->out, array_bytes(t->out.format, t->out.n),
                                   cudaMemcpyDeviceToHost);
    return error == cudaSuccess ? STATUS_OK : gpu_failed(held.device, "downloading", error, p);
}
