/* A job as the files that make it up see it. */
#pragma once

#include "kernels/device/cuda.h"
#include "kernels/gpu/channel.h"
#include "kernels/gpu/output.h"
#include "reference/exact/scales.h"

struct gpu_job {
    const struct method *method;
    const struct cuda_method *cuda;
    struct operands of;    /* device addresses: the input's, and copies of its own */
    struct cuda_task task; /* its `out` is set for each execution */
    struct gpu_channel *channel;
    void *copy[OPERANDS];             /* on the device, or NULL */
    float *scale;                     /* those of A and B; on the device, or NULL */
    struct matrices_scales scales[2]; /* `of`'s, where they lie there */
    struct gpu_outputs outputs; /* of operations whose result is an array; else its batch is 0 */
    size_t started, waited;     /* batches so far */
    size_t runs[2];             /* of the batches under way */
    size_t at_hand;             /* runs of the batch last waited for; 0 once another is started */
    uint64_t *graph_results;    /* on the device; NULL until there is a graph */
    cudaGraphExec_t graph;
};

/* Is the result an array? */
static inline bool gpu_job_array(const struct gpu_job *job)
{
    return job->outputs.batch > 0;
}

/* gpu_failed, running the method. */
enum status gpu_job_failed(const struct gpu_job *job, cudaError_t error, struct problem *p);
