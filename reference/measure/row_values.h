/* The exact values of the rows of an array, or of their elements, each by itself. */
#pragma once

#include "reference/exact/by_bin.h"
#include "reference/exact/reference.h"

struct row_values {
    size_t outputs;          /* as many as rows, or as elements */
    const uint32_t *place;   /* the row of each element, where each has an output; else NULL */
    struct reference *value; /* of each output */
};

/* of_each: each element has an output, where it lies. The rows and their place[] are kept, not
 * copied. STATUS_MEMORY when memory is short, STATUS_FAILED as reference_compute_of;
 * row_values_free is due on success. */
enum status row_values_make(struct row_values *v, enum exact_value of, bool of_each,
                            const struct array *in, const struct by_bin *rows,
                            const uint32_t *place, unsigned threads, struct problem *p);
void row_values_free(struct row_values *v);

/* The row of an output. */
static inline size_t row_values_row(const struct row_values *v, size_t output)
{
    return v->place ? v->place[output] : output;
}
