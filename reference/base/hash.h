/* A 128-bit hash of a whole array of encodings, the same in every order, on every device and
 * by however many threads the elements are taken.
 *
 * It is the sum, modulo 2^64 in each of two words, of a hash of every (index, encoding). Arrays of
 * one length that differ in one element have different hashes; others collide with a probability of
 * about 2^-128. It does not resist deliberate collisions. Every NaN is taken as the
 * canonical one (format.h).
 *
 * Plain integer arithmetic that means the same in C, C++ and CUDA. The header needs no other. */
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#define HASH_FUNCTION static inline __host__ __device__
#else
#define HASH_FUNCTION static inline
#endif

struct hash128 {
    uint64_t word[2]; /* of no elements: 0, 0 */
};

/* A bijection whose every output bit depends on every input bit: variant 13 of the finalizer of
 * MurmurHash3, by David Stafford (2011); the mixer of splitmix64. */
HASH_FUNCTION uint64_t hash_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The encoding with every NaN replaced by the canonical one; `last` is the greatest that is no NaN
 * (format.h): of +inf, all of whose bits below the exponent's are 0, or one below all ones. */
HASH_FUNCTION uint64_t hash_canonical(uint64_t bits, uint64_t last)
{
    uint64_t lowest = last & (~last + 1), magnitude = bits & (last | (lowest - 1));
    return magnitude > last ? last | lowest >> 1 : bits;
}

/* Adds element i, whose encoding (canonical) is `bits`. */
HASH_FUNCTION void hash_add(struct hash128 *h, uint64_t i, uint64_t bits)
{
    uint64_t key = hash_mix((i + 1) * UINT64_C(0x9e3779b97f4a7c15)); /* odd: 2^64 / golden ratio */
    uint64_t first = hash_mix(key ^ bits);
    h->word[0] += first;
    h->word[1] += hash_mix(first ^ (key << 32 | key >> 32));
}

/* Adds what another part of the elements gave. */
HASH_FUNCTION void hash_merge(struct hash128 *h, const struct hash128 *part)
{
    h->word[0] += part->word[0];
    h->word[1] += part->word[1];
}
