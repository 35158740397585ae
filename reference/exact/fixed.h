/* A magnitude in fixed point: wide enough for the sum of 2^63 doubles without rounding.
 *
 * Bit 0 of limb 0 is worth 2^-1074, the smallest subnormal double. The largest
 * double ends at bit 2097, so 34 limbs leave 78 bits for carries. Carries are
 * propagated at once: what makes many additions cheap is to gather them first
 * (exact.c). */
#pragma once

#include "reference/format/format.h"

enum { FIXED_LIMBS = 34, FIXED_LOWEST = -1074 };

struct fixed {
    uint64_t limb[FIXED_LIMBS];
};

/* Adds value * 2^(position + FIXED_LOWEST); the sum must stay below 2^1102. */
void fixed_add_at(struct fixed *to, unsigned __int128 value, unsigned position);

void fixed_add(struct fixed *to, const struct fixed *from);

/* Sets `to` to |a - b|. Returns the sign of a - b: -1, 0 or 1. */
int fixed_difference(struct fixed *to, const struct fixed *a, const struct fixed *b);

/* The position of the highest bit set, or -1. */
int fixed_highest(const struct fixed *x);

/* The value rounded once to f, to nearest, ties to even; inf from f's overflow threshold on. */
double fixed_round(const struct fixed *x, enum format f);
