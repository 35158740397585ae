#include "kernels/gpu/channel.h"

#include <stdlib.h>

static struct gpu_channel *spare;

static struct gpu_channel *take_spare(int device)
{
    for (struct gpu_channel **at = &spare; *at; at = &(*at)->next)
        if ((*at)->device == device) {
            struct gpu_channel *found = *at;
            *at = found->next;
            return found;
        }
    return NULL;
}

/* Destroying what was never made is harmless. */
static void destroy(struct gpu_channel *c)
{
    for (int i = 0; i < 2; i++) {
        struct gpu_buffer *b = &c->buffer[i];
        cudaEvent_t event[] = {b->begin, b->end, b->arrived};
        for (int k = 0; k < 3; k++)
            if (event[k])
                (void)cudaEventDestroy(event[k]);
        (void)cudaFree(b->on_device);
        (void)cudaFreeHost(b->on_host);
    }
    if (c->stream)
        (void)cudaStreamDestroy(c->stream);
    (void)cudaGetLastError();
    free(c);
}

static enum status make_buffer(struct gpu_buffer *b, int device, struct problem *p)
{
    size_t bytes = GPU_BATCH * sizeof *b->on_device;
    enum status status = gpu_allocate((void **)&b->on_device, device, bytes, "results", p);
    if (status != STATUS_OK)
        return status;
    cudaError_t error = cudaMallocHost((void **)&b->on_host, bytes);
    cudaEvent_t *event[] = {&b->begin, &b->end, &b->arrived};
    for (int k = 0; k < 3 && error == cudaSuccess; k++)
        error = cudaEventCreate(event[k]);
    return error == cudaSuccess ? STATUS_OK : gpu_failed(device, "making a channel", error, p);
}

enum status gpu_channel_take(struct gpu_channel **channel, int device, struct problem *p)
{
    *channel = take_spare(device);
    if (*channel)
        return STATUS_OK;
    struct gpu_channel *c = calloc(1, sizeof *c);
    if (!c)
        return problem(p, STATUS_MEMORY, "no memory for the record of a channel");
    c->device = device;
    cudaError_t error = cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking);
    enum status status =
        error == cudaSuccess ? STATUS_OK : gpu_failed(device, "making a stream", error, p);
    for (int i = 0; i < 2 && status == STATUS_OK; i++)
        status = make_buffer(&c->buffer[i], device, p);
    if (status == STATUS_OK)
        *channel = c;
    else
        destroy(c);
    return status;
}

void gpu_channel_give_back(struct gpu_channel *c)
{
    if (!c)
        return;
    if (cudaStreamSynchronize(c->stream) != cudaSuccess) {
        destroy(c);
        return;
    }
    c->next = spare;
    spare = c;
}
