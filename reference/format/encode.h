/* Encodings, as loops over arrays need them: compiled for one format each. */
#pragma once

#include <math.h>

#include "reference/format/format.h"

/* Of a format whose exponent is narrower than a double's. */
static inline uint64_t encode_narrow(enum format f, double x)
{
    const struct format_facts *facts = &format_facts[f];
    double rounded = format_round_narrow(f, x), size = fabs(rounded);
    uint64_t sign = double_bits(rounded) >> 63 << (8 * facts->bytes - 1);
    uint64_t bits =
        double_bits(size * (0x1p-1022 / facts->smallest_normal)) >> (53 - facts->precision);
    bits = size > facts->largest ? facts->specials : bits;
    return rounded != rounded ? facts->nan : sign | bits;
}

static inline uint32_t encode_single(double rounded)
{
    float x = (float)rounded;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint64_t encode_bf16(double x)
{
    return isnan(x) ? format_facts[BF16].nan : encode_single(format_round_narrow(BF16, x)) >> 16;
}
