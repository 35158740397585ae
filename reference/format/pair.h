/* Two doubles at a time, in vectors that gcc and clang both compile to vector instructions of any
 * 64-bit machine. A comparison gives all ones (-1) or 0 for each. */
#pragma once

#include "reference/format/format.h"

typedef double pair __attribute__((vector_size(16)));
typedef int64_t pair_bits __attribute__((vector_size(16)));

static inline pair pair_load(const void *two_doubles)
{
    pair x;
    memcpy(&x, two_doubles, sizeof x);
    return x;
}

static inline pair pair_abs(pair x)
{
    const pair_bits magnitude = {INT64_MAX, INT64_MAX};
    return (pair)((pair_bits)x & magnitude);
}

/* a where the mask is set, b where it is not. Added, not or-ed: gcc 12 knows a | b for a selection
 * and makes scalar code of it. */
static inline pair pair_select(pair_bits mask, pair a, pair b)
{
    return (pair)(((pair_bits)a & mask) + ((pair_bits)b & ~mask));
}
