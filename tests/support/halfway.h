/* Arrays whose sum is half-way between two neighbours of a format, but for one element that is far
 * below all others: whoever loses that one, and does not know it, rounds to the other neighbour. */
#pragma once

#include "reference/format/array.h"

/* Fills `in`, of at least 16 elements, for sums in f. Elements are integers times 2^-20, drawn from
 * `seed`, of as many bits as the storage has (40 for fp64); the last ones make the sum half-way.
 * One element in between is +-2^-(20 + below); 0, where below is 0: then the sum is half-way
 * exactly. `tells`: its sign is the one that rounding to even, which is what happens where it is
 * lost, gets wrong; else the other. Returns false where the sum has no more digits than f. */
bool halfway_fill(const struct array *in, enum format f, int below, bool tells, uint64_t seed);
