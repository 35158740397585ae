/* Jobs: executions of one method on one input, and the memory that they need. */
#include "kernels/gpu/job.h"

#include <stdio.h>
#include <stdlib.h>

enum status gpu_job_failed(const struct gpu_job *job, cudaError_t error, struct problem *p)
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
    if (job->cuda->prepare && error == cudaSuccess)
        error = (cudaError_t)job->cuda->prepare(&job->task);
    return error == cudaSuccess ? STATUS_OK : gpu_job_failed(job, error, p);
}

/* Is the method told what it has to be told of rows and masks? */
static bool whole_matrix(const struct operation *o, size_t n, const struct operands *of)
{
    if (o->mask)
        return n == 0 || of->mask;
    return !o->matrix || (of->bins > 0 && n % of->bins == 0 &&
                          (o != &operation_rows || (of->stride > 0 && of->bins % of->stride == 0)));
}

/* Sets everything of the task but its memory. */
static enum status describe(struct gpu_job *job, const struct gpu_input *input,
                            const struct task *t, struct problem *p)
{
    const struct method *m = job->method;
    enum format s = input->array.format, f = t->accumulator, o = t->out.format;
    if (!job->cuda || !method_supports(m, DEVICE_CUDA, s, f))
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s does not support %s in %s there",
                       input->device, m->name, format_facts[s].name, format_facts[f].name);
    if (o != f && (!m->operation->array || m->operation->keys || o != s))
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s does not support outputs in %s there",
                       input->device, m->name, format_facts[o].name);
    if (m->operation->inputs == 2 && !input->second_allocation)
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s reads two arrays, found one",
                       input->device, m->name);
    if (m->operation->keys && !input->keys)
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s reads keys, found none", input->device,
                       m->name);
    if (!whole_matrix(m->operation, input->array.n, t->of))
        return problem(
            p, STATUS_DEVICE,
            "device cuda:%d: %s: found %zu elements in %zu rows, stride %zu, and %s mask",
            input->device, m->name, input->array.n, t->of->bins, t->of->stride,
            t->of->mask ? "a" : "no");
    job->task = (struct cuda_task){.in = input->array.data,
                                   .in2 = input->second.data,
                                   .product = t->of->product,
                                   .n = input->array.n,
                                   .storage = s,
                                   .accumulator = f,
                                   .threads = t->shape.threads,
                                   .blocks = t->shape.blocks,
                                   .output = o,
                                   .exclusive = t->of->exclusive,
                                   .bins = t->of->bins,
                                   .stride = t->of->stride,
                                   .keys = input->keys};
    return m->operation->array
               ? gpu_outputs_plan(&job->outputs, input->device, o,
                                  m->operation->outputs(input->array.n, t->of->bins), p)
               : STATUS_OK;
}

/* The heads or the mask. */
static enum status copy_flags(struct gpu_job *job, const uint8_t *flags, struct problem *p)
{
    size_t n = job->task.n;
    if (!flags)
        return STATUS_OK;
    enum status status = gpu_allocate(&job->flags, job->channel->device, n, "an array of flags", p);
    if (status != STATUS_OK)
        return status;
    job->task.heads = job->task.mask = job->flags;
    cudaError_t error =
        cudaMemcpyAsync(job->flags, flags, n, cudaMemcpyHostToDevice, job->channel->stream);
    return error == cudaSuccess ? STATUS_OK : gpu_job_failed(job, error, p);
}

enum status gpu_job_open(struct gpu_job **opened, const struct gpu_input *input,
                         const struct method *m, const struct task *t, struct problem *p)
{
    *opened = NULL;
    struct gpu_job *job = calloc(1, sizeof *job);
    if (!job)
        return problem(p, STATUS_DEVICE, "no memory for the record of a job");
    job->method = m;
    job->cuda = cuda_side(m);
    enum status status = describe(job, input, t, p);
    if (status == STATUS_OK)
        status = gpu_choose(input->device, p);
    if (status == STATUS_OK)
        status = gpu_channel_take(&job->channel, input->device, p);
    if (status == STATUS_OK)
        status = copy_flags(job, t->of->heads ? t->of->heads : t->of->mask, p);
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

size_t gpu_job_batch(const struct gpu_job *job)
{
    return job->method->operation->array ? job->outputs.batch : GPU_BATCH;
}

size_t gpu_job_memory(const struct gpu_job *job)
{
    return job->cuda->workspace(&job->task) + job->cuda->host_workspace(&job->task);
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
        gpu_outputs_free(&job->outputs);
        (void)cudaFree(job->flags);
        (void)cudaFree(job->task.workspace);
        (void)cudaFreeHost(job->task.host_workspace);
    }
    gpu_channel_give_back(job->channel);
    (void)cudaGetLastError();
    free(job);
}
