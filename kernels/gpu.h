/* GPUs as the rest of the program sees them. In a build without CUDA every call
 * answers that there is none. */
#ifndef ULPSCOPE_GPU_H
#define ULPSCOPE_GPU_H

#include "kernels/method.h"

struct gpu_facts {
    char name[256];
    int multiprocessors, capability_major, capability_minor;
    size_t memory_total, memory_free, l2_bytes;
    char uuid[64];
};

/* Was this program built with CUDA? And if so with which version ("13.0"), else NULL. */
const char *gpu_build(void);
/* The driver's CUDA version ("13.0"), or why there is none. */
const char *gpu_driver(void);
int gpu_count(void); /* 0 where there is no CUDA, driver or device */
enum status gpu_describe(int device, struct gpu_facts *facts, struct problem *p);

/* An array in a GPU's memory, uploaded once and shared by all cases that use it. `offset`
 * elements precede the data in its allocation, which else is aligned to 256 bytes. */
struct gpu_input;
enum status gpu_upload(struct gpu_input **input, int device, const struct array *a, size_t offset,
                       struct problem *p);
void gpu_release(struct gpu_input *input);

/* Many executions of one method on one input. Executions are enqueued in batches of at most
 * GPU_BATCH and run while the host digests the batch before: start, start, wait, start, wait, ...
 */
struct gpu_job;
enum { GPU_BATCH = 4096 };
enum status gpu_job_open(struct gpu_job **job, const struct gpu_input *input,
                         const struct method *m, enum format accumulator, struct shape shape,
                         struct problem *p);
/* Enqueues `runs` executions as one batch and returns. At most two batches may be waited for. */
enum status gpu_job_start(struct gpu_job *job, size_t runs, struct problem *p);
/* Waits for the oldest batch: bits[i] is the result of its i-th run (canonical encoding in the
 * accumulator's format), time_ns[i] its device time. In batches of more than one run the time is
 * the batch's, divided by its runs. */
enum status gpu_job_wait(struct gpu_job *job, uint64_t *bits, double *time_ns, struct problem *p);
void gpu_job_close(struct gpu_job *job);

/* The yardstick: `runs` times, one after the other, a kernel that only reads the input. time_ns is
 * the device time of one. */
enum status gpu_raw_read(const struct gpu_input *input, size_t runs, double *time_ns,
                         struct problem *p);

#endif
