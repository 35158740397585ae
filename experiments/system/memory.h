/* Memory for arrays, refused in time rather than granted and then paid for with the process. */
#pragma once

#include <stdint.h>

#include "reference/format/array.h"
#include "reference/base/problem.h"

/* More elements than any machine has room for; array_bytes and memory_array say so. */
#define MEMORY_ELEMENTS_MAX (UINT64_C(1) << 60)

/* Bytes of host memory before and behind an array under study that a check fills anew: a subject
 * that reads them gives other bits. */
enum { MEMORY_AROUND = 512 };

/* Sets *a to n elements with data from malloc, 64-byte aligned, its contents undefined.
 * STATUS_MEMORY, with `what` (a file, an input) in the message, where the machine has not that
 * much left. */
enum status memory_array(struct array *a, enum format f, size_t n, const char *what,
                         struct problem *p);

/* Could so many bytes be had now? Linux grants memory that it does not have, and kills the
 * process that then uses it: a large request asks here first. */
bool memory_has(size_t bytes);
