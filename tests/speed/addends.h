/* What programs that time all-reduces have in common: their addends, and how they take turns. */
#pragma once

#include <math.h>

#include "reference/format/format.h"
#include "tests/support/hard_addends.h"

/* Numbers of one magnitude; what one expects of gradients; and exponents anywhere. */
enum input { UNIFORM, NORMAL, WIDE, INPUTS };
static const char *const input_name[INPUTS] = {"uniform", "normal", "wide"};

static inline double addend(enum format f, enum input input, size_t of_rank, size_t i)
{
    const struct format_facts *is = &format_facts[f];
    uint64_t r = hard_mixed((uint64_t)of_rank << 40 ^ (uint64_t)i);
    double sum = 0; /* of 8 bytes: about normal, a deviation of 0.3 */
    switch (input) {
    case UNIFORM:
        return (double)(r >> 11) * 0x1p-53;
    case WIDE:
        return ldexp((double)(int32_t)r * 0x1p-31,
                     is->emin + (int)(r >> 33) % (is->emax - is->emin - 2));
    case NORMAL:
    case INPUTS:
        break;
    }
    for (int k = 0; k < 8; k++)
        sum += (double)(int8_t)(r >> 8 * k);
    return sum * 0x1p-8 * 0.37 + (double)(int32_t)hard_mixed(r) * 0x1p-40;
}

/* Of a median; and calls of short messages that a turn times together. */
enum { TURNS_MOST = 101, WARM_UP = 2, LOG2_LEAST = 10 };
static inline int turns_of(size_t n)
{
    return n <= 1 << 16 ? TURNS_MOST : 17;
}
static inline unsigned batch_of(size_t n)
{
    return n <= 1 << 12 ? 20 : n <= 1 << 16 ? 4 : 1;
}

static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
