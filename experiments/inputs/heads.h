/* Head flags for segmented scans. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "reference/base/problem.h"

/* Sets *heads to n flags, as a task's (kernels/method/method.h): 1 at 0, segment, 2 segment, ...,
 * else 0; to NULL where n is 0, or segment, which then stands for one segment. The caller frees
 * them. STATUS_MEMORY when memory is short. */
enum status heads_make(uint8_t **heads, size_t n, size_t segment, struct problem *p);
