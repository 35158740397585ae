/* Elements of an array by their bits: what was computed of one holds of all that are like it. */
#pragma once

#include "reference/format/array.h"

struct alike {
    const struct array *of;
    size_t *place, slots; /* 0: none, else the element's index and 1 */
};

/* Of all elements of an array, which outlives it; false where there is no memory. */
bool alike_begin(struct alike *k, const struct array *of);
void alike_end(struct alike *k);

/* The first element with the bits of number i, among those that were asked for; number i itself
 * where there was none. */
size_t alike_first(struct alike *k, size_t i);
