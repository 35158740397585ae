/* The kernels that a run launches, found by capturing it into a graph that is never launched.
 *
 * The nodes of a library that links the runtime for itself are not this program's runtime's, so
 * that names are asked of the driver. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/job.h"

/* The C++ runtime's. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

struct driver {
    CUresult (*parameters)(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters);
    CUresult (*function_name)(const char **name, CUfunction function);
    CUresult (*kernel_name)(const char **name, CUkernel kernel);
};

/* A function of the driver, as it was in that version of CUDA. */
static cudaError_t find(void *function, const char *symbol, unsigned version)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    void *address = NULL;
    cudaError_t error =
        cudaGetDriverEntryPointByVersion(symbol, &address, version, cudaEnableDefault, &found);
    memcpy(function, &address, sizeof address);
    return error != cudaSuccess || (found == cudaDriverEntryPointSuccess && address)
               ? error
               : cudaErrorSymbolNotFound;
}

static cudaError_t find_driver(struct driver *d)
{
    cudaError_t error = find(&d->parameters, "cuGraphKernelNodeGetParams", 12000);
    if (error == cudaSuccess)
        error = find(&d->function_name, "cuFuncGetName", 12030);
    return error == cudaSuccess ? find(&d->kernel_name, "cuKernelGetName", 12030) : error;
}

static cudaError_t tell_kernel(const struct driver *d, cudaGraphNode_t node, gpu_kernel *take,
                               void *context)
{
    CUDA_KERNEL_NODE_PARAMS p = {0};
    const char *name = NULL;
    CUresult result = d->parameters(node, &p);
    if (result == CUDA_SUCCESS)
        result = p.func ? d->function_name(&name, p.func) : d->kernel_name(&name, p.kern);
    if (result != CUDA_SUCCESS || !name)
        return cudaErrorUnknown;
    int failed = 0;
    char *readable = __cxa_demangle(name, NULL, NULL, &failed);
    take(context, readable ? readable : name);
    free(readable);
    return cudaSuccess;
}

static cudaError_t tell_node(const struct driver *d, cudaGraphNode_t node, gpu_kernel *take,
                             void *context)
{
    enum cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    cudaError_t error = cudaGraphNodeGetType(node, &type);
    if (error == cudaSuccess && type == cudaGraphNodeTypeKernel)
        return tell_kernel(d, node, take, context);
    if (error == cudaSuccess && type == cudaGraphNodeTypeMemcpy)
        take(context, "(copy)");
    if (error == cudaSuccess && type == cudaGraphNodeTypeMemset)
        take(context, "(fill)");
    return error;
}

static cudaError_t tell_graph(const struct driver *d, cudaGraph_t graph, gpu_kernel *take,
                              void *context)
{
    size_t count = 0;
    cudaError_t error = cudaGraphGetNodes(graph, NULL, &count);
    if (error != cudaSuccess || count == 0)
        return error;
    cudaGraphNode_t *node = calloc(count, sizeof *node);
    if (!node)
        return cudaErrorMemoryAllocation;
    error = cudaGraphGetNodes(graph, node, &count);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = tell_node(d, node[i], take, context);
    free(node);
    return error;
}

/* Runs it once, since a first run may load kernels, and then captures a run. */
static cudaError_t capture(struct gpu_job *job, cudaGraph_t *graph)
{
    cudaStream_t stream = job->channel->stream;
    struct cuda_task task = job->task;
    task.out =
        gpu_job_array(job) ? gpu_output_at(&job->outputs, 0, 0) : job->channel->buffer[0].on_device;
    cudaError_t error = (cudaError_t)job->cuda->enqueue(&task);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    error = (cudaError_t)job->cuda->enqueue(&task);
    cudaError_t ended = cudaStreamEndCapture(stream, graph);
    return error == cudaSuccess ? ended : error;
}

enum status gpu_job_kernels(struct gpu_job *job, gpu_kernel *take, void *context, struct problem *p)
{
    if (job->started != job->waited || job->cuda->waits)
        return problem(p, STATUS_DEVICE, "device cuda:%d: %s: %s", job->channel->device,
                       job->method->name,
                       job->cuda->waits ? "its kernels are not known, since it waits for its "
                                          "result, which no capture allows"
                                        : "a batch is under way");
    enum status status = gpu_choose(job->channel->device, p);
    if (status == STATUS_OK && gpu_job_array(job))
        status = gpu_outputs_make(&job->outputs, 0, job->method->name, p);
    if (status != STATUS_OK)
        return status;
    struct driver d;
    cudaGraph_t graph = NULL;
    cudaError_t error = find_driver(&d);
    if (error == cudaSuccess)
        error = capture(job, &graph);
    if (error == cudaSuccess)
        error = tell_graph(&d, graph, take, context);
    if (graph)
        (void)cudaGraphDestroy(graph);
    return error == cudaSuccess ? STATUS_OK : gpu_job_failed(job, error, p);
}
