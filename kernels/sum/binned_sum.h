/* What sum/binned, sum/binned2 and sum/binned4 share. Included by C and by CUDA. */
#ifndef ULPSCOPE_SUM_BINNED_SUM_H
#define ULPSCOPE_SUM_BINNED_SUM_H

#include "kernels/device/cuda.h"

/* On a GPU the launch shape is a schedule: the most threads to a block; elements that are worth a
 * lane; and as many blocks as a large GPU holds at once, unless others are asked for. */
enum { BINNED_THREADS = 256, BINNED_PER_LANE = 32, BINNED_BLOCKS = 3 * 132 };

#ifdef __cplusplus
extern "C" {
#endif

size_t binned_workspace_bytes(const struct cuda_task *t);
int binned_enqueue(const struct cuda_task *t, unsigned folds);

#ifdef __cplusplus
}
#else
#include "kernels/method/method.h"

enum status binned_sum(const struct task *t, unsigned folds, struct problem *p);
struct shape binned_shape(size_t n, enum device_kind device, struct shape asked);
#endif

#endif
