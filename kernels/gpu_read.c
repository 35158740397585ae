/* The raw read rate: the yardstick for the time of a method. */
#include "kernels/cuda.h"
#include "kernels/gpu_channel.h"

static cudaError_t read_all(const struct gpu_input *input, struct gpu_channel *c, size_t runs,
                            float *ms)
{
    const struct array *a = &input->array;
    struct gpu_buffer *b = &c->buffer[0];
    size_t bytes = array_bytes(a->format, a->n);
    cudaError_t error = cudaEventRecord(b->begin, c->stream);
    for (size_t i = 0; i < runs && error == cudaSuccess; i++)
        error = (cudaError_t)raw_read_enqueue(a->data, bytes, b->on_device, c->stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(b->end, c->stream);
    if (error == cudaSuccess)
        error = cudaEventSynchronize(b->end);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(ms, b->begin, b->end);
    return error;
}

enum status gpu_raw_read(const struct gpu_input *input, size_t runs, double *time_ns,
                         struct problem *p)
{
    struct gpu_channel *channel = NULL;
    enum status status = gpu_choose(input->device, p);
    if (status == STATUS_OK)
        status = gpu_channel_take(&channel, input->device, p);
    if (status != STATUS_OK)
        return status;
    float ms = 0;
    cudaError_t error = read_all(input, channel, runs, &ms);
    gpu_channel_give_back(channel);
    if (error != cudaSuccess)
        return gpu_failed(input->device, "reading an input", error, p);
    *time_ns = 1e6 * (double)ms / (double)runs;
    return STATUS_OK;
}
