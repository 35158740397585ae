/* One running sum that many threads add to atomically: its encoding, as wide as its format,
 * changed by compare and exchange. */
#ifndef ULPSCOPE_SHARED_SUM_H
#define ULPSCOPE_SHARED_SUM_H

#include "kernels/method.h"

/* Adds all elements of t->in, or of dot products all products, rounded, with t->shape.threads
 * threads that start together, each taking a contiguous share of the groups of `group` (1 ..
 * ARRAY_BLOCK) consecutive elements. Each group is rounded, folded with `fold` and added
 * atomically, by whoever comes first. The running sum starts from -0, the identity; the sum of
 * nothing is +0. */
enum status shared_sum_run(const struct task *t, size_t group,
                           double (*fold)(enum format f, double *v, size_t count),
                           struct problem *p);

/* OS threads: 4 unless asked for, at most one for each group. */
unsigned shared_sum_threads(size_t n, size_t group, struct shape asked);

#endif
