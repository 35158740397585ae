/* A team of threads that starts together. */
#pragma once

#include "reference/base/problem.h"

/* Calls work(context, i) for i = 0 .. threads-1, each on a thread of its own (0 on the caller's),
 * and returns when all are done. None begins before all exist; all round as the caller does.
 * Threads stay, asleep, for the next team. Where a thread cannot be had, no work is done:
 * STATUS_DEVICE; nor by a team of 0: STATUS_USAGE. */
enum status team_run(unsigned threads, void (*work)(void *context, unsigned thread), void *context,
                     struct problem *p);
