/* The rates that methods are held against: reading the input, and copying it. */
#include "kernels/device/cuda.h"
#include "kernels/gpu/channel.h"

/* The work: how many arrays are read, or where the first is copied to. */
struct work {
    unsigned read;
    void *to;
};

static cudaError_t enqueue(const struct gpu_input *input, struct work w, struct gpu_channel *c)
{
    const struct array *a = &input->of.in;
    size_t bytes = array_bytes(a->format, a->n);
    if (w.to)
        return cudaMemcpyAsync(w.to, a->data, bytes, cudaMemcpyDeviceToDevice, c->stream);
    int error = raw_read_enqueue(a->data, bytes, c->buffer[0].on_device, c->stream);
    if (w.read == 2 && error == cudaSuccess)
        error = raw_read_enqueue(input->of.in2.data, bytes, c->buffer[0].on_device, c->stream);
    return (cudaError_t)error;
}

static cudaError_t time_all(const struct gpu_input *input, struct work w, struct gpu_channel *c,
                            size_t runs, float *ms)
{
    struct gpu_buffer *b = &c->buffer[0];
    cudaError_t error = cudaEventRecord(b->begin, c->stream);
    for (size_t i = 0; i < runs && error == cudaSuccess; i++)
        error = enqueue(input, w, c);
    if (error == cudaSuccess)
        error = cudaEventRecord(b->end, c->stream);
    if (error == cudaSuccess)
        error = cudaEventSynchronize(b->end);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(ms, b->begin, b->end);
    return error;
}

static enum status measure(const struct gpu_input *input, struct work w, size_t runs,
                           double *time_ns, struct problem *p)
{
    struct gpu_channel *channel = NULL;
    enum status status = gpu_channel_take(&channel, input->device, p);
    if (status != STATUS_OK)
        return status;
    float ms = 0;
    cudaError_t error = time_all(input, w, channel, runs, &ms);
    gpu_channel_give_back(channel);
    if (error != cudaSuccess)
        return gpu_failed(input->device, w.to ? "copying an input within it" : "reading an input",
                          error, p);
    *time_ns = 1e6 * (double)ms / (double)runs;
    return STATUS_OK;
}

enum status gpu_raw_read(const struct gpu_input *input, unsigned arrays, size_t runs,
                         double *time_ns, struct problem *p)
{
    enum status status = gpu_choose(input->device, p);
    return status == STATUS_OK ? measure(input, (struct work){.read = arrays}, runs, time_ns, p)
                               : status;
}

/* The copy stays until the input is released: fresh memory would make copying slower. */
enum status gpu_copy(struct gpu_input *input, size_t runs, double *time_ns, struct problem *p)
{
    size_t bytes = array_bytes(input->of.in.format, input->of.in.n);
    enum status status = gpu_choose(input->device, p);
    if (status == STATUS_OK && !input->copy)
        status = gpu_allocate(&input->copy, input->device, bytes, "the copy of an input", p);
    return status == STATUS_OK ? measure(input, (struct work){.to = input->copy}, runs, time_ns, p)
                               : status;
}
