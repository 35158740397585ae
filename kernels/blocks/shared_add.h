/* The atomic addition: a sum's encoding, as wide as its format, changed by compare and exchange. */
#pragma once

#include <stdatomic.h>

#include "reference/format/format.h"

static inline uint64_t shared_bits(enum format f, uint64_t bits, double x)
{
    return format_encode(f, format_add(f, format_decode(f, bits), x));
}

/* Adds x, a value of f, to the value of f that is encoded at `to`, an object of an _Atomic unsigned
 * integer of f's width, or of one that is not _Atomic: these have one representation. */
static inline void shared_add(enum format f, void *to, double x)
{
    switch ((enum accumulator)f) {
    case IN_FP16:
    case IN_BF16: {
        _Atomic uint16_t *at = to;
        uint16_t seen = atomic_load(at);
        while (!atomic_compare_exchange_weak(at, &seen, (uint16_t)shared_bits(f, seen, x)))
            ;
        break;
    }
    case IN_FP32: {
        _Atomic uint32_t *at = to;
        uint32_t seen = atomic_load(at);
        while (!atomic_compare_exchange_weak(at, &seen, (uint32_t)shared_bits(f, seen, x)))
            ;
        break;
    }
    case IN_FP64: {
        _Atomic uint64_t *at = to;
        uint64_t seen = atomic_load(at);
        while (!atomic_compare_exchange_weak(at, &seen, shared_bits(f, seen, x)))
            ;
    }
    }
}
