/* Other work for a GPU, in rounds of some tenths of a millisecond: see load.h. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "reference/base/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_load;

enum status gpu_load_open(struct gpu_load **load, int device, struct problem *p);

/* Enqueues a round, and waits until the one before the last is done, so that there is always work.
 * Called by one thread. */
enum status gpu_load_round(struct gpu_load *load, struct problem *p);

/* Waits for what is under way. NULL is fine. */
void gpu_load_close(struct gpu_load *load);

/* Enqueues one kernel: `blocks` blocks that read n numbers at `data`, a power of two of them, all
 * device memory, and add to sinks[0 .. 63] atomically. A cudaError_t. */
int load_enqueue(const float *data, size_t n, float *sinks, unsigned blocks, void *stream);

#ifdef __cplusplus
}
#endif
