/* One running sum that many threads add to atomically: its encoding, as wide as its format,
 * changed by compare and exchange. */
#pragma once

#include "kernels/method/method.h"

/* Adds all elements of t->of->in, or all rounded products of a dot product, with t->shape.threads
 * threads that start together, each taking a contiguous share of the groups of `group` (1 ..
 * ARRAY_BLOCK) consecutive elements. Each group is rounded, folded with `fold` and added
 * atomically, in the order of arrival. The running sum starts from -0, the identity; the sum of
 * nothing is +0. */
enum status shared_sum_run(const struct task *t, size_t group,
                           double (*fold)(enum format f, double *v, size_t count),
                           struct problem *p);

/* The launch shape for groups of `group` elements. On a GPU 256 threads to a block unless asked
 * for; on the CPU OS threads: 4 unless asked for, at most one for each group. */
struct shape shared_sum_shape(size_t n, size_t group, enum device_kind device, struct shape asked);

/* For groups of one element or product: members of a descriptor. */
enum status shared_sum_each(const struct task *t, struct problem *p);
struct shape shared_sum_each_shape(size_t n, enum device_kind device, struct shape asked);
