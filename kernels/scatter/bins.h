/* Shared by the methods of scatter-adds: bins that atomics add to, and bins taken one by one. */
#pragma once

#include "kernels/method/method.h"

/* Makes of t->out what atomics begin with: -0, the identity, in every bin that has an element, and
 * +0, the sum of nothing, in all others. */
void scatter_begin(const struct task *t);

/* A thread's consecutive share of elements begin .. end-1. */
struct scatter_share {
    size_t begin, end;
};
struct scatter_share scatter_share(size_t begin, size_t end, unsigned thread, unsigned threads);

/* Rounds the elements of a share to `bins`.format and adds each atomically to its bin there. */
void scatter_add_atomically(const struct task *t, const struct array *bins,
                            struct scatter_share share);

/* The sum of the elements of one bin in the accumulator, a value of it. x: their values, in FP64,
 * n >= 1, and element[] their indices, ascending. STATUS_MEMORY when memory is short. */
typedef enum status scatter_bin(const struct task *t, const struct array *x, const size_t *element,
                                double *sum, struct problem *p);

/* Sorts the elements by bin, stably, and sums each bin. Threads are a schedule: each has
 * consecutive bins. */
enum status scatter_each(const struct task *t, scatter_bin *sum, struct problem *p);

/* A bin's sum in the order of scatter/sort, that of sum/tiled, and its `bin_height`. tiled_alone:
 * the same, of x in f, by one thread. */
scatter_bin scatter_sum_tiled;
size_t scatter_tiled_height(const size_t *element, size_t terms, size_t n, size_t bins);
enum status tiled_alone(const struct array *x, enum format f, double *sum, struct problem *p);

/* Members of a descriptor. On the CPU, threads: 4 of atomics, 1 of schedules unless asked for, at
 * most one an element; blocks: 8 unless asked for. On a GPU 256 threads to a block. */
struct shape scatter_atomic_shape(size_t n, enum device_kind device, struct shape asked);
struct shape scatter_each_shape(size_t n, enum device_kind device, struct shape asked);
