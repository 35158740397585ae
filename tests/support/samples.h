/* Random arrays for tests: each kind hits other roundings. */
#pragma once

#include "reference/format/array.h"

enum sample {
    SAMPLE_NEAR,      /* both signs, exponents -2 .. 1, all significand bits random */
    SAMPLE_TIES,      /* halfway between neighbours of the accumulator, and just beside */
    SAMPLE_WIDE,      /* exponents over the whole common range */
    SAMPLE_CANCEL,    /* the same short of the largest, each of the second half undoing one of the
                         first: what is left is what additions lost */
    SAMPLE_SUBNORMAL, /* below the accumulator's smallest normal number; signed zeros */
    SAMPLE_ZERO,      /* zeros: all -0, or of both signs */
    SAMPLE_BITS,      /* any encodings: NaN with payloads, infinities, subnormals */
    SAMPLES
};
extern const char *const sample_name[SAMPLES];

/* Fills `a`, meant to be accumulated in `accumulator`. The same seed gives the same bits. */
void sample_fill(const struct array *a, enum sample kind, enum format accumulator, uint64_t seed);

/* splitmix64: the next of a sequence of well-mixed numbers. */
uint64_t sample_next(uint64_t *state);
