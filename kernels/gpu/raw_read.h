/* The yardsticks on the CPU: reading every byte of an array and doing nothing else with it, and
 * copying it. (Those on a GPU are gpu_raw_read and gpu_copy, kernels/gpu/gpu.h.) */
#pragma once

#include "reference/format/array.h"
#include "reference/base/problem.h"

/* Reads with `threads` >= 1 threads. *mix depends on every byte, so that no load can be left out.
 * STATUS_DEVICE where threads cannot be had, STATUS_MEMORY where memory cannot. */
enum status raw_read(const struct array *a, unsigned threads, uint64_t *mix, struct problem *p);

/* Copies its bytes with `threads` >= 1 threads to `to`, which does not overlap it. */
enum status raw_copy(const struct array *a, void *to, unsigned threads, struct problem *p);
