/* GPUs as the rest of the program sees them. In a build without CUDA every call
 * answers that there is none. */
#pragma once

#include "kernels/method/method.h"
#include "reference/base/hash.h"

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
/* The version of cuBLAS ("13.0.2"), which this loads; NULL in a build without it, and where the
 * loader does not find it. */
const char *gpu_cublas(void);
/* The GPUs that methods of this program can use; 0 where there is no CUDA, driver or device. Those
 * that subjects in processes of their own can use, if `elsewhere`: a build without CUDA then asks
 * the driver. */
int gpu_count(bool elsewhere);
enum status gpu_describe(int device, struct gpu_facts *facts, struct problem *p);

/* An array in a GPU's memory, uploaded once and shared by all cases that use it. `offset`
 * elements precede the data in its allocation, which else is aligned to 256 bytes. */
struct gpu_input;
enum status gpu_upload(struct gpu_input **input, int device, const struct array *a, size_t offset,
                       struct problem *p);
/* Sets every byte of what lies before and behind its elements, 512 of them at least. No job may be
 * running. */
enum status gpu_surround(struct gpu_input *input, uint8_t byte, struct problem *p);
/* Gives it an operand of `of`, in host memory, for all its n elements, or overwrites the one that
 * it has. `offset`: of arrays of elements alone, where it is first given, as above. No job may be
 * running. */
enum status gpu_give(struct gpu_input *input, const struct operands *of, enum operand which,
                     size_t offset, struct problem *p);
void gpu_release(struct gpu_input *input);

/* Many executions of one method on one input. Executions are enqueued in batches and run while the
 * host digests the batch before: start, start, wait, start, wait, ... */
struct gpu_job;
enum { GPU_BATCH = 4096 };
/* Reads these members of the task: accumulator, shape, out.format and operands (NULL: the input
 * alone). Arrays of operands are the input's; what the method reads and the input was not given is
 * copied from host memory. Outputs of scans are of the accumulator's or the storage's format. */
enum status gpu_job_open(struct gpu_job **job, const struct gpu_input *input,
                         const struct method *m, const struct task *t, struct problem *p);
/* The most runs that a batch of this job may have, 1 .. GPU_BATCH: outputs that are arrays are kept
 * until they have been looked at. */
size_t gpu_job_batch(const struct gpu_job *job);
/* Bytes that a run takes beside the input and the output: of the device's memory, and of the host's
 * that the device writes to. */
size_t gpu_job_memory(const struct gpu_job *job);
/* Enqueues `runs` executions as one batch and returns. At most two batches may be waited for. */
enum status gpu_job_start(struct gpu_job *job, size_t runs, struct problem *p);
/* Waits for the oldest batch. digest[i] is the result of its i-th run: of a single output, the
 * canonical encoding in word[0], and 0 in word[1]; of an array, its hash (reference/base/hash.h),
 * computed on the device. time_ns[i] is the device time of the method alone; in batches of more
 * than one run it is the batch's, divided by its runs. */
enum status gpu_job_wait(struct gpu_job *job, struct hash128 *digest, double *time_ns,
                         struct problem *p);
/* Copies the whole output of run i of the batch last waited for to host memory: outputs(n, bins)
 * elements of the output's format. To be called before the next gpu_job_start. */
enum status gpu_job_output(struct gpu_job *job, size_t i, const struct array *to,
                           struct problem *p);
/* At most GPU_BATCH executions back to back, whose results are not kept; no batch may be under way.
 * time_ns is the device time of one. */
enum status gpu_job_time(struct gpu_job *job, size_t runs, double *time_ns, struct problem *p);
/* Hands out what a run enqueues, in that order: the names of kernels, as C++ writes them, and
 * "(copy)" and "(fill)". STATUS_DEVICE where the method does not let itself be asked; no batch may
 * be under way. */
typedef void gpu_kernel(void *context, const char *name);
enum status gpu_job_kernels(struct gpu_job *job, gpu_kernel *take, void *context,
                            struct problem *p);
void gpu_job_close(struct gpu_job *job);

/* The yardsticks: `runs` times, one after the other, a kernel that only reads the input, or a copy
 * of the input within the device's memory. time_ns is the device time of one. `arrays`: 1, or 2 to
 * read the second as well, in a launch of its own. */
enum status gpu_raw_read(const struct gpu_input *input, unsigned arrays, size_t runs,
                         double *time_ns, struct problem *p);
enum status gpu_copy(struct gpu_input *input, size_t runs, double *time_ns, struct problem *p);
