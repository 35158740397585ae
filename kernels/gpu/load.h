/* Other work for a device, while sums run on it: what is not fixed shows itself under load. */
#pragma once

#include <stdint.h>

#include "reference/base/problem.h"

/* Other work that a device does while sums run. */
enum load_kind { LOAD_IDLE, LOAD_BUSY, LOAD_KINDS };
extern const char *const load_name[LOAD_KINDS];

struct load;

/* Begins it, and returns when it is under way. device: -1: the CPU, where a thread on
 * each processor adds up numbers in memory, but that one of them, each in turn, rests for half of
 * the time; k >= 0: cuda:k, where kernels of all sizes, which read
 * memory and add atomically, follow each other on a stream of their own. It leaves room: sums are
 * slower, none waits for the end of the load. STATUS_DEVICE where there is no such device
 * or threads are short, STATUS_MEMORY where memory is. */
enum status load_begin(struct load **load, int device, struct problem *p);

/* How often its work was done so far, by all threads; tenths of a millisecond each time. */
uint64_t load_rounds(const struct load *load);

/* Ends it and waits for that. NULL is fine. */
void load_end(struct load *load);
