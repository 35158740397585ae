/* The batches of a job, enqueued while the host digests the batch before.
 *
 * What differs between the executions of a batch is the place of the result alone. Results that are
 * arrays are hashed where they lie, after the executions. A large batch of single results is
 * enqueued as launches of a graph of GRAPH_RUNS executions, whose results are then copied to their
 * places on the device. That spares the host most of the work, and keeps the launch queue, which
 * holds about a thousand kernels, from making it wait. */
#include "kernels/gpu/job.h"

enum { GRAPH_RUNS = 256, GRAPH_WORTHWHILE = 4 * GRAPH_RUNS };

static cudaError_t enqueue(const struct gpu_job *job, uint64_t *results, size_t runs)
{
    struct cuda_task task = job->task;
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < runs && error == cudaSuccess; i++) {
        task.out = results + i;
        error = (cudaError_t)job->cuda->enqueue(&task);
    }
    return error;
}

static cudaError_t make_graph(struct gpu_job *job)
{
    cudaStream_t stream = job->channel->stream;
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaMalloc((void **)&job->graph_results, GRAPH_RUNS * sizeof(uint64_t));
    /* A first run may load kernels, which a capture need not allow. */
    if (error == cudaSuccess)
        error = enqueue(job, job->graph_results, 1);
    /* Bytes that a method does not write must be the same in every launch. */
    if (error == cudaSuccess)
        error = cudaMemsetAsync(job->graph_results, 0xff, GRAPH_RUNS * sizeof(uint64_t), stream);
    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    error = enqueue(job, job->graph_results, GRAPH_RUNS);
    cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (error == cudaSuccess)
        error = ended;
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&job->graph, graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error;
}

static cudaError_t launch_graph(const struct gpu_job *job, uint64_t *results)
{
    cudaError_t error = cudaGraphLaunch(job->graph, job->channel->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(results, job->graph_results, GRAPH_RUNS * sizeof *results,
                                cudaMemcpyDeviceToDevice, job->channel->stream);
    return error;
}

/* Single results. */
static cudaError_t enqueue_singles(struct gpu_job *job, struct gpu_buffer *b, size_t runs)
{
    cudaStream_t stream = job->channel->stream;
    size_t done = 0;
    cudaError_t error = cudaSuccess;
    if (runs >= GRAPH_WORTHWHILE && !job->graph && !job->cuda->waits)
        error = make_graph(job);
    /* A result that is not written must not look like the one before: all ones are a NaN. */
    if (error == cudaSuccess)
        error = cudaMemsetAsync(b->on_device, 0xff, runs * sizeof *b->on_device, stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(b->begin, stream);
    for (; job->graph && runs - done >= GRAPH_RUNS && error == cudaSuccess; done += GRAPH_RUNS)
        error = launch_graph(job, b->on_device + done);
    if (error == cudaSuccess)
        error = enqueue(job, b->on_device + done, runs - done);
    return error == cudaSuccess ? cudaEventRecord(b->end, stream) : error;
}

static cudaError_t enqueue_arrays(struct gpu_job *job, size_t batch, size_t runs)
{
    struct gpu_buffer *b = &job->channel->buffer[batch];
    cudaStream_t stream = job->channel->stream;
    struct cuda_task task = job->task;
    cudaError_t error = gpu_outputs_clear(&job->outputs, batch, runs, stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(b->begin, stream);
    for (size_t i = 0; i < runs && error == cudaSuccess; i++) {
        task.out = gpu_output_at(&job->outputs, batch, i);
        error = (cudaError_t)job->cuda->enqueue(&task);
    }
    if (error == cudaSuccess)
        error = cudaEventRecord(b->end, stream);
    return error == cudaSuccess ? gpu_outputs_hash(&job->outputs, batch, runs, b->on_device, stream)
                                : error;
}

/* 64-bit words that a run's digest takes on its way to the host. */
static size_t digest_words(const struct gpu_job *job)
{
    return gpu_job_array(job) ? 2 : 1;
}

static cudaError_t enqueue_batch(struct gpu_job *job, size_t batch, size_t runs)
{
    struct gpu_buffer *b = &job->channel->buffer[batch];
    cudaStream_t stream = job->channel->stream;
    size_t bytes = runs * digest_words(job) * sizeof *b->on_device;
    cudaError_t error =
        gpu_job_array(job) ? enqueue_arrays(job, batch, runs) : enqueue_singles(job, b, runs);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(b->on_host, b->on_device, bytes, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(b->arrived, stream);
    return error;
}

/* Prepares everything that a batch needs before it is enqueued. */
static enum status prepare(struct gpu_job *job, size_t batch, struct problem *p)
{
    enum status status = gpu_choose(job->channel->device, p);
    if (status == STATUS_OK && gpu_job_array(job))
        status = gpu_outputs_make(&job->outputs, batch, job->method->name, p);
    return status;
}

enum status gpu_job_start(struct gpu_job *job, size_t runs, struct problem *p)
{
    size_t batch = job->started % 2;
    if (runs < 1 || runs > gpu_job_batch(job) || job->started - job->waited >= 2)
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s: no room for a batch of %zu runs",
                       job->channel->device, job->method->name, runs);
    job->at_hand = 0;
    enum status status = prepare(job, batch, p);
    if (status != STATUS_OK)
        return status;
    cudaError_t error = enqueue_batch(job, batch, runs);
    if (error != cudaSuccess)
        return gpu_job_failed(job, error, p);
    job->runs[batch] = runs;
    job->started++;
    return STATUS_OK;
}

/* The result of run i. */
static struct hash128 digest_of(const struct gpu_job *job, const uint64_t *words, size_t i)
{
    enum format f = job->task.output;
    uint64_t mask = UINT64_MAX >> (64 - 8 * format_facts[f].bytes);
    if (gpu_job_array(job))
        return (struct hash128){{words[2 * i], words[2 * i + 1]}};
    return (struct hash128){{format_canonical(f, words[i] & mask), 0}};
}

enum status gpu_job_wait(struct gpu_job *job, struct hash128 *digest, double *time_ns,
                         struct problem *p)
{
    if (job->waited == job->started)
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s: no batch to wait for",
                       job->channel->device, job->method->name);
    const struct gpu_buffer *b = &job->channel->buffer[job->waited % 2];
    size_t runs = job->runs[job->waited++ % 2];
    float ms = 0;
    cudaError_t error = cudaEventSynchronize(b->arrived);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&ms, b->begin, b->end);
    if (error != cudaSuccess)
        return gpu_job_failed(job, error, p);
    job->at_hand = runs;
    for (size_t i = 0; i < runs; i++) {
        digest[i] = digest_of(job, b->on_host, i);
        time_ns[i] = 1e6 * (double)ms / (double)runs;
    }
    return STATUS_OK;
}

enum status gpu_job_output(struct gpu_job *job, size_t i, const struct array *to, struct problem *p)
{
    const struct gpu_outputs *o = &job->outputs;
    if (!gpu_job_array(job) || i >= job->at_hand || to->format != o->format || to->n != o->n)
        return problem(
            p, STATUS_DEVICE, "device cuda:%d: %s: no output %zu of %zu elements in %s at hand",
            job->channel->device, job->method->name, i, to->n, format_facts[to->format].name);
    enum status status = gpu_choose(job->channel->device, p);
    if (status != STATUS_OK)
        return status;
    /* Not on the job's stream, where it would wait for the batch that is under way. */
    cudaError_t error = cudaMemcpy(to->data, gpu_output_at(o, (job->waited - 1) % 2, i),
                                   array_bytes(o->format, o->n), cudaMemcpyDeviceToHost);
    return error == cudaSuccess ? STATUS_OK : gpu_job_failed(job, error, p);
}

static cudaError_t time_arrays(struct gpu_job *job, struct gpu_buffer *b, size_t runs)
{
    struct cuda_task task = job->task;
    task.out = gpu_output_at(&job->outputs, 0, 0);
    cudaError_t error = cudaEventRecord(b->begin, job->channel->stream);
    for (size_t i = 0; i < runs && error == cudaSuccess; i++)
        error = (cudaError_t)job->cuda->enqueue(&task);
    return error == cudaSuccess ? cudaEventRecord(b->end, job->channel->stream) : error;
}

enum status gpu_job_time(struct gpu_job *job, size_t runs, double *time_ns, struct problem *p)
{
    struct gpu_buffer *b = &job->channel->buffer[0];
    if (runs < 1 || runs > GPU_BATCH || job->started != job->waited)
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s: no room for %zu runs to be timed",
                       job->channel->device, job->method->name, runs);
    job->at_hand = 0;
    enum status status = prepare(job, 0, p);
    if (status != STATUS_OK)
        return status;
    float ms = 0;
    cudaError_t error =
        gpu_job_array(job) ? time_arrays(job, b, runs) : enqueue_singles(job, b, runs);
    if (error == cudaSuccess)
        error = cudaEventSynchronize(b->end);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&ms, b->begin, b->end);
    if (error != cudaSuccess)
        return gpu_job_failed(job, error, p);
    *time_ns = 1e6 * (double)ms / (double)runs;
    return STATUS_OK;
}
