/* The rates that methods are held against: reading the input, and copying it. */
#include "kernels/cuda.h"
#include "kernels/gpu_channel.h"

/* `to`: where to copy the input; NULL: it is only read. */
static cudaError_t enqueue(const struct gpu_input *input, void *to, struct gpu_channel *c)
{
    const struct array *a = &input->array;
    size_t bytes = array_bytes(a->format, a->n);
    if (to)
        return cudaMemcpyAsync(to, a->data, bytes, cudaMemcpyDeviceToDevice, c->stream);
    return (cudaError_t)raw_read_enqueue(a->data, bytes, c->buffer[0].on_device, c->stream);
}

static cudaError_t time_all(const struct gpu_input *input, void *to, struct gpu_channel *c,
                            size_t runs, float *ms)
{
    struct gpu_buffer *b = &c->buffer[0];
    cudaError_t error = cudaEventRecord(b->begin, c->stream);
    for (size_t i = 0; i < runs && error == cudaSuccess; i++)
        error = enqueue(input, to, c);
    if (error == cudaSuccess)
        error = cudaEventRecord(b->end, c->stream);
    if (error == cudaSuccess)
        error = cudaEventSynchronize(b->end);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(ms, b->begin, b->end);
    return error;
}

static enum status measure(const struct gpu_input *input, void *to, size_t runs, double *time_ns,
                           struct problem *p)
{
    struct gpu_channel *channel = NULL;
    enum status status = gpu_channel_take(&channel, input->device, p);
    if (status != STATUS_OK)
        return status;
    float ms = 0;
    cudaError_t error = time_all(input, to, channel, runs, &ms);
    gpu_channel_give_back(channel);
    if (error != cudaSuccess)
        return gpu_failed(input->device, to ? "copying an input within it" : "reading an input",
                          error, p);
    *time_ns = 1e6 * (double)ms / (double)runs;
    return STATUS_OK;
}

enum status gpu_raw_read(const struct gpu_input *input, size_t runs, double *time_ns,
                         struct problem *p)
{
    enum status status = gpu_choose(input->device, p);
    return status == STATUS_OK ? measure(input, NULL, runs, time_ns, p) : status;
}

/* The copy stays until the input is released: fresh memory would make copying slower. */
enum status gpu_copy(struct gpu_input *input, size_t runs, double *time_ns, struct problem *p)
{
    size_t bytes = array_bytes(input->array.format, input->array.n);
    enum status status = gpu_choose(input->device, p);
    if (status == STATUS_OK && !input->copy)
        status = gpu_allocate(&input->copy, input->device, bytes, "the copy of an input", p);
    return status == STATUS_OK ? measure(input, input->copy, runs, time_ns, p) : status;
}
