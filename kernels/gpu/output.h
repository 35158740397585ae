/* The places of array outputs of a job's two batches. */
#pragma once

#include "kernels/gpu/device.h"

struct gpu_outputs {
    int device;
    enum format format;
    size_t n, stride; /* elements of an output; bytes from one to the next */
    size_t batch;     /* outputs that a batch has places for */
    char *place[2];   /* of either batch; NULL until it is needed */
};

/* Plans for outputs of n elements in f: as many to a batch as stay within some memory.
 * STATUS_MEMORY where one is too large for any. */
enum status gpu_outputs_plan(struct gpu_outputs *o, int device, enum format f, size_t n,
                             struct problem *p);
/* Sees to it that batch 0 or 1 has places. `what` they are for, in the line of a failure. */
enum status gpu_outputs_make(struct gpu_outputs *o, size_t batch, const char *what,
                             struct problem *p);
void gpu_outputs_free(struct gpu_outputs *o);

void *gpu_output_at(const struct gpu_outputs *o, size_t batch, size_t i);

/* Enqueues the filling of the first places with ones: NaNs, which show what a method does not
 * write. */
cudaError_t gpu_outputs_clear(const struct gpu_outputs *o, size_t batch, size_t runs,
                              cudaStream_t stream);
/* Enqueues the hashing of the first places: the hash of place i goes to the words 2 i and 2 i + 1
 * of `hash`, device memory. */
cudaError_t gpu_outputs_hash(const struct gpu_outputs *o, size_t batch, size_t runs, uint64_t *hash,
                             cudaStream_t stream);
