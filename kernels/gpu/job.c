/* Jobs: executions of one method on one input, and the memory that they need. */
#include "kernels/gpu/job.h"

#include "kernels/gemm/scales.h"
#include "kernels/mma/mma.h"

#include <stdio.h>
#include <stdlib.h>

enum status gpu_job_failed(const struct gpu_job *job, cudaError_t error, struct problem *p)
{
    const struct heuristic *h = &job->of.heuristic;
    char doing[256], workspace[64] = "", algorithm[64] = "";
    if (h->has_algorithm)
        snprintf(algorithm, sizeof algorithm, ", algorithm %zu of its heuristic", h->algorithm);
    if (h->has_workspace)
        snprintf(workspace, sizeof workspace, ", at most %zu bytes of workspace", h->workspace);
    snprintf(doing, sizeof doing, "running %s%s%s", job->method->name, algorithm, workspace);
    return gpu_failed(job->channel->device, doing, error, p);
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

/* Sets everything of the task but its memory. */
static enum status describe(struct gpu_job *job, const struct gpu_input *input,
                            const struct task *t, struct problem *p)
{
    const struct method *m = job->method;
    enum format s = input->of.in.format, f = t->accumulator, o = t->out.format;
    char why[OPERANDS_TEXT];
    if (!job->cuda || !method_supports(m, DEVICE_CUDA, s, f))
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s does not support %s in %s there",
                       input->device, m->name, format_facts[s].name, format_facts[f].name);
    if (o != f && (!operation_rounds_outputs(m->operation) || o != s))
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s does not support outputs in %s there",
                       input->device, m->name, format_facts[o].name);
    if (t->of)
        job->of = *t->of;
    job->of.in = input->of.in;
    for (enum operand k = 0; k < OPERANDS; k++)
        if (operand_data(&input->of, k) || !operation_has(m->operation, k))
            operand_set(&job->of, k,
                        operation_has(m->operation, k) ? operand_data(&input->of, k) : NULL);
    if (!operation_fits(m->operation, &job->of, why) || !method_scales_fit(m, &job->of, why))
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s: %s", input->device, m->name, why);
    job->task = (struct cuda_task){.of = &job->of,
                                   .accumulator = f,
                                   .threads = t->shape.threads,
                                   .blocks = t->shape.blocks,
                                   .output = o};
    size_t outputs = m->operation->outputs(job->of.in.n, job->of.bins);
    return operation_makes_array(m->operation)
               ? gpu_outputs_plan(&job->outputs, input->device, o, outputs, p)
               : STATUS_OK;
}

/* A GPU has its own chip's instructions and no other's. */
static enum status check_chip(const struct gpu_job *job, int device, struct problem *p)
{
    const char *chip = job->of.chip ? job->of.chip : MMA_CHIP;
    const int asked = mma_capability(chip);
    int major = 0, minor = 0;
    if (!job->method->of_chip)
        return STATUS_OK;
    cudaError_t error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (error != cudaSuccess)
        return gpu_failed(device, "asking for its compute capability", error, p);
    if (10 * major + minor == asked)
        return STATUS_OK;
    return problem(p, STATUS_DEVICE,
                   "device cuda:%d: %s: found compute capability %d.%d, expected that of chip %s, "
                   "%d.%d (--chip)",
                   device, job->method->name, major, minor, chip, asked / 10, asked % 10);
}

/* An operand that the method reads and the input does not have. */
static enum status copy_operand(struct gpu_job *job, enum operand which, struct problem *p)
{
    size_t bytes = operand_bytes(&job->of, which);
    const void *from = operand_data(&job->of, which);
    enum status status =
        gpu_allocate(&job->copy[which], job->channel->device, bytes, operand_name[which], p);
    if (status != STATUS_OK)
        return status;
    operand_set(&job->of, which, job->copy[which]);
    cudaError_t error = cudaMemcpyAsync(job->copy[which], from, bytes, cudaMemcpyHostToDevice,
                                        job->channel->stream);
    return error == cudaSuccess ? STATUS_OK : gpu_job_failed(job, error, p);
}

/* All scales, whoever's they are, as if they were from files: B's begin as aligned as A's. */
static enum status copy_scales(struct gpu_job *job, struct problem *p)
{
    const size_t step = 256 / sizeof *job->scale;
    struct gemm_shape *s = &job->of.gemm;
    if (!operation_has(job->method->operation, OPERAND_C) || s->scaling == GEMM_UNSCALED)
        return STATUS_OK;
    const size_t count[2] = {gemm_scales_count(s, 0), gemm_scales_count(s, 1)};
    const size_t of_b = (count[0] + step - 1) / step * step;
    enum status status = gpu_allocate((void **)&job->scale, job->channel->device,
                                      (of_b + count[1]) * sizeof *job->scale, "scales", p);
    for (int side = 0; side < 2 && status == STATUS_OK; side++) {
        float *to = job->scale + (side == 0 ? 0 : of_b);
        const struct matrices_scales from = gemm_scales(&job->of, side);
        const cudaError_t error = cudaMemcpyAsync(to, from.of, count[side] * sizeof *to,
                                                  cudaMemcpyHostToDevice, job->channel->stream);
        if (error != cudaSuccess)
            status = gpu_job_failed(job, error, p);
        job->scales[side] = from;
        job->scales[side].of = to;
    }
    s->given = job->scales;
    return status;
}

enum status gpu_job_open(struct gpu_job **opened, const struct gpu_input *input,
                         const struct method *m, const struct task *t, struct problem *p)
{
    *opened = NULL;
    struct gpu_job *job = calloc(1, sizeof *job);
    if (!job)
        return problem(p, STATUS_MEMORY, "no memory for the record of a job");
    job->method = m;
    job->cuda = method_cuda(m);
    enum status status = describe(job, input, t, p);
    if (status == STATUS_OK)
        status = gpu_choose(input->device, p);
    if (status == STATUS_OK)
        status = check_chip(job, input->device, p);
    if (status == STATUS_OK)
        status = gpu_channel_take(&job->channel, input->device, p);
    for (enum operand k = 0; k < OPERANDS && status == STATUS_OK; k++)
        if (operation_has(m->operation, k) && operand_data(&job->of, k) &&
            !operand_data(&input->of, k))
            status = copy_operand(job, k, p);
    if (status == STATUS_OK)
        status = copy_scales(job, p);
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
    return gpu_job_array(job) ? job->outputs.batch : GPU_BATCH;
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
        for (enum operand k = 0; k < OPERANDS; k++)
            (void)cudaFree(job->copy[k]);
        (void)cudaFree(job->scale);
        (void)cudaFree(job->task.workspace);
        (void)cudaFreeHost(job->task.host_workspace);
    }
    gpu_channel_give_back(job->channel);
    (void)cudaGetLastError();
    free(job);
}
