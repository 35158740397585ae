#include "kernels/gpu/device_load.h"

#include <stdlib.h>

#include "kernels/gpu/device.h"

enum { NUMBERS = 1 << 24, SINKS = 64, KERNELS = 64 };

struct gpu_load {
    int device;
    unsigned multiprocessors;
    cudaStream_t stream;
    cudaEvent_t done[2]; /* behind the rounds of either parity */
    uint64_t rounds;
    uint64_t random;
    float *data, *sinks;
};

static enum status prepare(struct gpu_load *l, struct problem *p)
{
    int multiprocessors = 0;
    enum status status =
        gpu_allocate((void **)&l->data, l->device, NUMBERS * sizeof *l->data, "a load", p);
    if (status == STATUS_OK)
        status = gpu_allocate((void **)&l->sinks, l->device, SINKS * sizeof *l->sinks, "a load", p);
    if (status != STATUS_OK)
        return status;
    cudaError_t error =
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, l->device);
    l->multiprocessors = (unsigned)multiprocessors;
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking);
    for (int i = 0; i < 2 && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&l->done[i], cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(l->data, 0, NUMBERS * sizeof *l->data, l->stream);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(l->sinks, 0, SINKS * sizeof *l->sinks, l->stream);
    return error == cudaSuccess ? STATUS_OK : gpu_failed(l->device, "making a load", error, p);
}

enum status gpu_load_open(struct gpu_load **load, int device, struct problem *p)
{
    *load = NULL;
    enum status status = gpu_choose(device, p);
    if (status != STATUS_OK)
        return status;
    struct gpu_load *l = calloc(1, sizeof *l);
    if (!l)
        return problem(p, STATUS_MEMORY, "device cuda:%d: no memory for a load", device);
    l->device = device;
    status = prepare(l, p);
    if (status == STATUS_OK)
        *load = l;
    else
        gpu_load_close(l);
    return status;
}

/* Up to four blocks for each multiprocessor, which has room for more. */
static unsigned blocks_next(struct gpu_load *l)
{
    l->random = l->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 1 + (unsigned)((l->random >> 33) % (4 * l->multiprocessors));
}

enum status gpu_load_round(struct gpu_load *l, struct problem *p)
{
    enum status status = gpu_choose(l->device, p); /* it is the thread's own choice */
    if (status != STATUS_OK)
        return status;
    cudaEvent_t done = l->done[l->rounds++ % 2];
    cudaError_t error = cudaEventSynchronize(done);
    for (int i = 0; i < KERNELS && error == cudaSuccess; i++)
        error = (cudaError_t)load_enqueue(l->data, NUMBERS, l->sinks, blocks_next(l), l->stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(done, l->stream);
    return error == cudaSuccess ? STATUS_OK : gpu_failed(l->device, "a load", error, p);
}

/* Destroying what was never made is harmless. */
void gpu_load_close(struct gpu_load *l)
{
    if (!l)
        return;
    (void)cudaSetDevice(l->device);
    if (l->stream) {
        (void)cudaStreamSynchronize(l->stream);
        (void)cudaStreamDestroy(l->stream);
    }
    for (int i = 0; i < 2; i++)
        if (l->done[i])
            (void)cudaEventDestroy(l->done[i]);
    (void)cudaFree(l->data);
    (void)cudaFree(l->sinks);
    (void)cudaGetLastError();
    free(l);
}
