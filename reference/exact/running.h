/* An exact running sum that can be read at every step: a signed fixed-point number, added to one
 * double at a time, whose leading part comes out as doubles.
 *
 * Two's complement over the limbs of struct fixed: bit 0 of limb 0 is worth 2^FIXED_LOWEST. The
 * sum of 2^63 doubles ends at bit 2161, so that the sign keeps its place in the highest limb. */
#pragma once

#include "reference/exact/exact.h"

struct running {
    uint64_t limb[FIXED_LIMBS];
    int top;    /* the limbs above it repeat the sign */
    int bottom; /* the limbs below it are zero */
};

void running_zero(struct running *r);

/* Adds a finite double. */
void running_add(struct running *r, double x);

/* Adds the sum that `e` holds, or the sum of its magnitudes; what is not finite is left out. */
void running_add_exact(struct running *r, const struct exact *e, bool magnitudes);

/* Rounds the sum to nearest double, then the rest, and so on for `count` doubles; an infinity where
 * that overflows, +0 for what follows it, and +0 for an exact zero. Returns whether a rest was left
 * (not after an infinity); it is then at most half an ulp of the last double. */
bool running_read(const struct running *r, double *word, int count);

/* Adds x[0 .. count-1] one by one and reads two doubles after each. */
void running_block(struct running *r, const double *x, size_t count, double *hi, double *lo);
