/* Generated inputs kept in memory, so that the next subject or attempt on the same input copies it.
 * A check generates the same few hundred arrays for each kind of attempt and each method. One
 * thread at a time. */
#pragma once

#include "experiments/inputs/input.h"

struct input_cache;

/* Keeps the arrays used last, at most `bytes` in all; none that is larger than a quarter of that.
 * NULL where there is no memory. input_cache_free: NULL is fine. */
struct input_cache *input_cache_new(size_t bytes);
void input_cache_free(struct input_cache *cache);

/* As input_generate, or with `pair` as input_generate_pair, with the family's default condition
 * number: the same bits, the same statuses. cache NULL: generates. */
enum status input_cached(struct input_cache *cache, const struct input *in, const struct array *to,
                         uint64_t seed, bool pair, struct problem *p);
