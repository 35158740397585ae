/* Masks: which elements a compaction keeps. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "reference/base/problem.h"

enum { MASK_ALL = 100 };

/* Sets *mask to n flags, 1 with a probability of `percent` hundredths, else 0, drawn for each index
 * by the seed; and *kept to how many are 1. The caller frees them. STATUS_MEMORY
 * when memory is short. */
enum status mask_make(uint8_t **mask, size_t *kept, size_t n, size_t percent, uint64_t seed,
                      struct problem *p);
