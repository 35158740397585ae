/* The elements of an array by the bins that their keys name. */
#pragma once

#include <stdint.h>

#include "reference/format/array.h"
#include "reference/base/problem.h"

struct by_bin {
    size_t bins;
    size_t *start;   /* of bins + 1 places in element[]: bin b's are start[b] .. start[b+1]-1 */
    size_t *element; /* n indices, each bin's ascending */
};

/* Sorts n keys, each below `bins`, stably. STATUS_MEMORY when memory is short (8 (n + bins) bytes);
 * by_bin_free is due on success. */
enum status by_bin_make(struct by_bin *b, const uint32_t *keys, size_t n, size_t bins,
                        struct problem *p);
void by_bin_free(struct by_bin *b);

/* How many elements a bin has. */
static inline size_t by_bin_count(const struct by_bin *b, size_t bin)
{
    return b->start[bin + 1] - b->start[bin];
}

/* Elements begin .. begin+count-1 of a bin, as doubles. */
void by_bin_decode(const struct by_bin *b, const struct array *a, size_t bin, size_t begin,
                   size_t count, double *out);

/* The lowest bin with the most elements. */
size_t by_bin_fullest(const struct by_bin *b);
