#include "kernels/gpu/output.h"

#include <stdio.h>

#include "kernels/device/cuda.h"

/* Results are looked at, progress is shown and interruptions are noticed between batches; keeping
 * more outputs in memory has no use. */
enum { PLACES_MOST = 64 };
static const size_t memory_most = (size_t)256 << 20;

enum status gpu_outputs_plan(struct gpu_outputs *o, int device, enum format f, size_t n,
                             struct problem *p)
{
    enum { ALIGNMENT = 256 };
    size_t bytes = array_bytes(f, n);
    if (bytes > SIZE_MAX - ALIGNMENT)
        return problem(p, STATUS_MEMORY, "device cuda:%d: an output of %zu elements is too large",
                       device, n);
    size_t stride = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t batch = stride > 0 ? memory_most / stride : PLACES_MOST;
    batch = batch > PLACES_MOST ? PLACES_MOST : batch;
    *o = (struct gpu_outputs){device, f, n, stride, batch ? batch : 1, {NULL, NULL}};
    return STATUS_OK;
}

enum status gpu_outputs_make(struct gpu_outputs *o, size_t batch, const char *what,
                             struct problem *p)
{
    char text[128];
    if (o->place[batch])
        return STATUS_OK;
    snprintf(text, sizeof text, "an array of outputs of %s", what);
    return gpu_allocate((void **)&o->place[batch], o->device, o->batch * o->stride, text, p);
}

void gpu_outputs_free(struct gpu_outputs *o)
{
    for (int i = 0; i < 2; i++)
        (void)cudaFree(o->place[i]);
    *o = (struct gpu_outputs){0};
}

void *gpu_output_at(const struct gpu_outputs *o, size_t batch, size_t i)
{
    return o->place[batch] + i * o->stride;
}

cudaError_t gpu_outputs_clear(const struct gpu_outputs *o, size_t batch, size_t runs,
                              cudaStream_t stream)
{
    return cudaMemsetAsync(o->place[batch], 0xff, runs * o->stride, stream);
}

cudaError_t gpu_outputs_hash(const struct gpu_outputs *o, size_t batch, size_t runs, uint64_t *hash,
                             cudaStream_t stream)
{
    return (cudaError_t)hash_enqueue(o->place[batch], o->stride, runs, o->format, o->n, hash,
                                     stream);
}
