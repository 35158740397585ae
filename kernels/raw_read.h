/* The yardstick on the CPU: reads every byte of an array and does nothing else with it. (That on
 * a GPU is gpu_raw_read, kernels/gpu.h.) */
#ifndef ULPSCOPE_RAW_READ_H
#define ULPSCOPE_RAW_READ_H

#include "reference/array.h"
#include "reference/problem.h"

/* Reads with `threads` >= 1 threads. *mix depends on every byte, so that no load can be left out.
 * STATUS_DEVICE where threads or memory cannot be had. */
enum status raw_read(const struct array *a, unsigned threads, uint64_t *mix, struct problem *p);

#endif
