/* Elements as float or double, in loops that the compiler turns into vector code: where the format
 * and the storage are constants, none of it branches.
 *
 * fp16 and bf16 accumulators are carried in float, rounded after each addition: 24 >= 2p + 2, so
 * that a sum rounded first to float and then to the format is correctly rounded, as it is when
 * carried in double. What is rounded to one of them from fp64 is rounded from the double: through
 * float it would be rounded twice. */
#pragma once

#include "reference/format/array.h"
#include "reference/base/variants.h"

INLINE uint32_t float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* A choice by mask: a branch with floating-point work in it would not become vector code. */
INLINE uint32_t choose(bool condition, uint32_t yes, uint32_t no)
{
    uint32_t mask = 0u - (uint32_t)condition;
    return (yes & mask) | (no & ~mask);
}

/* Nearest, ties to even, by the carry of an integer addition. Where a format has float's exponents,
 * as bf16, this serves its subnormals and overflows too; in another's subnormal range, adding and
 * subtracting 2^23 of its smallest numbers rounds. NaN is kept. */
INLINE float round_single(enum format f, float x)
{
    if (f == FP32)
        return x;
    const struct format_facts *facts = &format_facts[f];
    const float normal = (float)facts->smallest_normal, magic = (float)(0x1p23 * facts->smallest);
    uint32_t drop = (uint32_t)(24 - facts->precision), infinity = 0x7f800000;
    uint32_t bits = float_bits(x), sign = bits & 0x80000000, size = bits ^ sign;
    uint32_t up = (1u << (drop - 1)) - 1 + (size >> drop & 1);
    uint32_t rounded = (size + up) & ~((1u << drop) - 1);
    if (facts->emax < format_facts[FP32].emax) {
        rounded = choose(rounded > float_bits((float)facts->largest),
                         float_bits((float)facts->too_large), rounded);
        rounded = choose(size < float_bits(normal),
                         float_bits((float_from_bits(size) + magic) - magic), rounded);
    }
    rounded = choose(size > infinity, size, rounded);
    return float_from_bits(rounded | sign);
}

/* Element i, rounded to f (not FP64). */
INLINE float element_single(enum format storage, enum format f, const void *data, size_t i)
{
    switch (storage) {
    case FP16:
        return round_single(f, format_decode_narrow(FP16, ((const uint16_t *)data)[i]));
    case BF16:
        return round_single(f, float_from_bits((uint32_t)((const uint16_t *)data)[i] << 16));
    case FP32:
        return round_single(f, ((const float *)data)[i]);
    case E4M3:
        return round_single(f, format_decode_narrow(E4M3, ((const uint8_t *)data)[i]));
    case E5M2:
        return round_single(f, format_decode_narrow(E5M2, ((const uint8_t *)data)[i]));
    case FP64:
        break;
    }
    return (float)format_round(f, ((const double *)data)[i]);
}

INLINE double element_double(enum format storage, const void *data, size_t i)
{
    return storage == FP64 ? ((const double *)data)[i]
                           : (double)element_single(storage, FP32, data, i);
}

/* A tile as it is stored, or what of it has not been fetched yet. */
struct stored {
    const char *data;
    size_t row_bytes; /* 0: there is nothing to fetch */
};

/* Left to itself, the processor stops reading ahead where the columns of a tile are folded, which
 * costs half the speed on data in main memory; so it does where a whole tile is asked for at once.
 */
INLINE void fetch_row(struct stored *tile)
{
    for (size_t line = 0; line < tile->row_bytes; line += 64)
        __builtin_prefetch(tile->data + line);
    tile->data += tile->row_bytes;
}
