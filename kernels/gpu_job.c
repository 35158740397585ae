/* Jobs: batches of executions of one method, enqueued while the host digests the batch before.
 *
 * What differs between the executions of a batch is the place of the result alone. A large batch
 * is therefore enqueued as launches of a graph of GRAPH_RUNS executions, whose results are then
 * copied to their places on the device. That spares the host most of the work, and keeps the
 * launch queue, which holds about a thousand kernels, from making it wait. */
#include "kernels/gpu_channel.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda.h"

enum { GRAPH_RUNS = 256, GRAPH_WORTHWHILE = 4 * GRAPH_RUNS };

struct gpu_job {
    const struct method *method;
    const struct cuda_method *cuda;
    struct cuda_task task; /* its `out` is set for each execution */
    struct gpu_channel *channel;
    size_t started, waited;  /* batches so far */
    size_t runs[2];          /* of the batches under way */
    uint64_t *graph_results; /* on the device; NULL until there is a graph */
    cudaGraphExec_t graph;
};

static enum status job_failed(const struct gpu_job *job, cudaError_t error, struct problem *p)
{
    char doing[128];
    snprintf(doing, sizeof doing, "running %s", job->method->name);
    return gpu_failed(job->channel->device, doing, error, p);
}

static const struct cuda_method *cuda_side(const struct method *m)
{
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i] == m)
            return cuda_registry[i];
    return NULL;
}

/* Memory for the task; the device's part is zero-filled, as methods expect it. */
static enum status make_workspace(struct gpu_job *job, struct problem *p)
{
    size_t bytes = job->cuda->workspace(&job->task);
    size_t host_bytes = job->cuda->host_workspace(&job->task);
    if (bytes > 0) {
        enum status status =
            gpu_allocate(&job->task.workspace, job->channel->device, bytes, job->method->name, p);
        if (status != STATUS_OK)
            return status;
    }
    cudaError_t error = cudaSuccess;
    if (bytes > 0)
        error = cudaMemsetAsync(job->task.workspace, 0, bytes, job->channel->stream);
    if (host_bytes > 0 && error == cudaSuccess)
        error = cudaMallocHost(&job->task.host_workspace, host_bytes);
    return error == cudaSuccess ? STATUS_OK : job_failed(job, error, p);
}

enum status gpu_job_open(struct gpu_job **opened, const struct gpu_input *input,
                         const struct method *m, enum format accumulator, struct shape shape,
                         struct problem *p)
{
    *opened = NULL;
    const struct cuda_method *cuda = cuda_side(m);
    if (!cuda || !method_supports(m, DEVICE_CUDA, input->array.format, accumulator))
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s does not support %s in %s there",
                       input->device, m->name, format_facts[input->array.format].name,
                       format_facts[accumulator].name);
    enum status status = gpu_choose(input->device, p);
    if (status != STATUS_OK)
        return status;
    struct gpu_job *job = calloc(1, sizeof *job);
    if (!job)
        return problem(p, STATUS_DEVICE, "no memory for the record of a job");
    job->method = m;
    job->cuda = cuda;
    job->task = (struct cuda_task){.in = input->array.data,
                                   .n = input->array.n,
                                   .storage = input->array.format,
                                   .accumulator = accumulator,
                                   .output = accumulator,
                                   .threads = shape.threads,
                                   .blocks = shape.blocks};
    status = gpu_channel_take(&job->channel, input->device, p);
    if (status == STATUS_OK) {
        job->task.stream = job->channel->stream;
        status = make_workspace(job, p);
    }
    if (status == STATUS_OK)
        *opened = job;
    else
        gpu_job_close(job);
    return status;
}

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
    /* What a method does not write must be the same in every launch. */
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

static cudaError_t enqueue_batch(struct gpu_job *job, struct gpu_buffer *b, size_t runs)
{
    cudaStream_t stream = job->channel->stream;
    size_t done = 0, bytes = runs * sizeof *b->on_device;
    cudaError_t error = cudaSuccess;
    if (runs >= GRAPH_WORTHWHILE && !job->graph)
        error = make_graph(job);
    /* A result that is not written must not look like the one before: all ones are a NaN. */
    if (error == cudaSuccess)
        error = cudaMemsetAsync(b->on_device, 0xff, bytes, stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(b->begin, stream);
    for (; job->graph && runs - done >= GRAPH_RUNS && error == cudaSuccess; done += GRAPH_RUNS)
        error = launch_graph(job, b->on_device + done);
    if (error == cudaSuccess)
        error = enqueue(job, b->on_device + done, runs - done);
    if (error == cudaSuccess)
        error = cudaEventRecord(b->end, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(b->on_host, b->on_device, bytes, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(b->arrived, stream);
    return error;
}

enum status gpu_job_start(struct gpu_job *job, size_t runs, struct problem *p)
{
    if (runs < 1 || runs > GPU_BATCH || job->started - job->waited >= 2)
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s: no room for a batch of %zu runs",
                       job->channel->device, job->method->name, runs);
    enum status status = gpu_choose(job->channel->device, p);
    if (status != STATUS_OK)
        return status;
    cudaError_t error = enqueue_batch(job, &job->channel->buffer[job->started % 2], runs);
    if (error != cudaSuccess)
        return job_failed(job, error, p);
    job->runs[job->started++ % 2] = runs;
    return STATUS_OK;
}

enum status gpu_job_wait(struct gpu_job *job, uint64_t *bits, double *time_ns, struct problem *p)
{
    if (job->waited == job->started)
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s: no batch to wait for",
                       job->channel->device, job->method->name);
    const struct gpu_buffer *b = &job->channel->buffer[job->waited % 2];
    size_t runs = job->runs[job->waited++ % 2];
    enum format f = job->task.accumulator;
    float ms = 0;
    cudaError_t error = cudaEventSynchronize(b->arrived);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&ms, b->begin, b->end);
    if (error != cudaSuccess)
        return job_failed(job, error, p);
    uint64_t mask = UINT64_MAX >> (64 - 8 * format_facts[f].bytes);
    for (size_t i = 0; i < runs; i++) {
        bits[i] = format_canonical(f, b->on_host[i] & mask);
        time_ns[i] = 1e6 * (double)ms / (double)runs;
    }
    return STATUS_OK;
}

void gpu_job_close(struct gpu_job *job)
{
    if (!job)
        return;
    if (job->channel && cudaSetDevice(job->channel->device) == cudaSuccess) {
        /* First of all wait: nothing may be freed under a running kernel. */
        (void)cudaStreamSynchronize(job->channel->stream);
        if (job->graph)
            (void)cudaGraphExecDestroy(job->graph);
        (void)cudaFree(job->graph_results);
        (void)cudaFree(job->task.workspace);
        (void)cudaFreeHost(job->task.host_workspace);
    }
    gpu_channel_give_back(job->channel);
    (void)cudaGetLastError();
    free(job);
}
