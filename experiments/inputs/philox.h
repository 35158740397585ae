/* Random numbers by counting: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers:
 * as easy as 1, 2, 3", SC 2011), from Random123.
 *
 * What element i draws depends on the seed, the stream and i alone: not on what was drawn before,
 * not on block sizes, not on the machine. */
#pragma once

#include <stdint.h>

/* What the numbers are for: two uses of one seed and one index draw different numbers. The values
 * are part of the bits of every input. */
enum random_stream {
    RANDOM_VALUES,    /* the elements of an input */
    RANDOM_ARRANGING, /* order=shuffled */
    RANDOM_PLACING,   /* where a family puts its special elements */
    RANDOM_MIXING,    /* the shuffle that is part of a family */
    RANDOM_KEYS,      /* the bins that elements go to */
    RANDOM_MASK,      /* which elements are kept */
    RANDOM_ROUNDING   /* which way a step of `run steps` is rounded */
};

/* 128 random bits as two words. */
struct draw {
    uint64_t word[2];
};

/* Philox4x32-10 itself: one counter and one key give one block. */
void random_block(const uint32_t counter[4], const uint32_t key[2], uint32_t block[4]);

/* The draw of element i. */
struct draw random_draw(uint64_t seed, enum random_stream stream, uint64_t i);

/* Uniform on the multiples of 2^-53 in [0, 1), from a random word. */
static inline double random_unit(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

/* Uniform on 0 .. bound-1, from a random word; a value's probability is off by less than 2^-64. */
static inline uint64_t random_below(uint64_t word, uint64_t bound)
{
    return (uint64_t)((unsigned __int128)word * bound >> 64);
}

/* Standard normal (Box and Muller 1958); |result| < RANDOM_NORMAL_MOST. */
#define RANDOM_NORMAL_MOST 8.58
double random_normal(struct draw d);
