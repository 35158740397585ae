/* The judge of prefix sums: a running MPFR sum that rounds nothing, read at every index. */
#pragma once

#include "reference/exact/prefix.h"

/* The first index in begin .. end-1 where pairs, written from p on, are not those of the array, or
 * `end`. exact[i - begin] != 0 (NULL: nowhere) says that hi + lo must be the prefix itself. */
size_t pairs_wrong(const struct array *a, const uint8_t *heads, size_t begin, size_t end,
                   const struct prefix_pairs *p, const uint8_t *exact);
