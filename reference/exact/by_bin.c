#include "reference/exact/by_bin.h"

#include <stdlib.h>

enum status by_bin_make(struct by_bin *b, const uint32_t *keys, size_t n, size_t bins,
                        struct problem *p)
{
    *b = (struct by_bin){.bins = bins,
                         .start = calloc(bins + 2, sizeof *b->start),
                         .element = calloc(n + 1, sizeof *b->element)};
    if (!b->start || !b->element) {
        by_bin_free(b);
        return problem(p, STATUS_MEMORY, "out of memory for the order of %zu keys of %zu bins", n,
                       bins);
    }
    /* Two places late: the count of a bin becomes its start, and that, when its elements have been
     * put down, the next one's. */
    size_t *next = b->start + 1;
    for (size_t i = 0; i < n; i++)
        b->start[keys[i] + 2]++;
    for (size_t k = 2; k < bins + 2; k++)
        b->start[k] += b->start[k - 1];
    for (size_t i = 0; i < n; i++)
        b->element[next[keys[i]]++] = i;
    return STATUS_OK;
}

void by_bin_free(struct by_bin *b)
{
    free(b->start);
    free(b->element);
    *b = (struct by_bin){0};
}

void by_bin_decode(const struct by_bin *b, const struct array *a, size_t bin, size_t begin,
                   size_t count, double *out)
{
    const size_t *element = b->element + b->start[bin] + begin;
    for (size_t i = 0; i < count; i++)
        out[i] = array_get(a, element[i]);
}

size_t by_bin_fullest(const struct by_bin *b)
{
    size_t fullest = 0;
    for (size_t k = 1; k < b->bins; k++)
        if (by_bin_count(b, k) > by_bin_count(b, fullest))
            fullest = k;
    return fullest;
}
