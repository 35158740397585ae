/* Rows whose elements were permuted. */
#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/system/memory.h"
#include "kernels/method/matrix.h"

enum status check_lay_rows(const struct check *c, const struct array *copy, const uint32_t *keys,
                           struct problem *p)
{
    size_t n = c->at.n, length = matrix_length(n, c->at.setting.bins);
    size_t *next = calloc(c->at.setting.bins, sizeof *next);
    struct array moved;
    enum status status = memory_array(&moved, copy->format, n, "permuted rows", p);
    if (status != STATUS_OK || !next) {
        free(next);
        return status == STATUS_OK ? problem(p, STATUS_MEMORY, "check: out of memory") : status;
    }
    for (size_t i = 0; i < n; i++)
        array_set_bits(&moved, matrix_at(keys[i], next[keys[i]]++, length, c->made.of.stride),
                       array_bits(copy, i));
    memcpy(copy->data, moved.data, array_bytes(copy->format, n));
    free(moved.data);
    free(next);
    return STATUS_OK;
}
