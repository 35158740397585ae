/* Running sums in two or three doubles, many elements at a time.
 *
 * TwoSum (Knuth 1969; Moller 1965) splits a rounded sum into itself and its error without loss. A
 * cascade adds the elements to one running sum, the errors of those additions to a second, and the
 * errors of these to a third (SumK: Ogita, Rump, Oishi 2005). While the last additions made no
 * error, the words hold the exact sum; else what they miss is at most the sum of the magnitudes of
 * the last errors, and a pair is given out only where every value that near rounds to it. */
#pragma once

#include "reference/format/format.h"

struct cascade {
    double word[3]; /* the leading doubles of the sum */
    double error;   /* |word[0] + word[1] + word[2] - the exact sum| is at most this */
    int stage;      /* that did the last block, which the next begins with; 0: not known */
};

/* Adds x[0 .. count-1] and writes the pair (hi, lo) of each prefix: hi = the exact prefix rounded
 * to nearest double, lo = the rest rounded to nearest. False where that could not be shown for all
 * of them, as with any inf or NaN; the sum in *c is as it was then, hi and lo are undefined. */
bool cascade_block(struct cascade *c, const double *x, size_t count, double *hi, double *lo);

/* The ways of doing it, from the fastest to the last that is tried. The fourth knows what the third
 * only bounds: additions to the third word that lose nothing. */
enum { CASCADE_ONE = 1, CASCADE_TWO, CASCADE_LANES_THREE, CASCADE_THREE };

/* The third way, in vectors of several widths: count is a multiple of CASCADE_CHUNK up to
 * CASCADE_MOST. Where it returns false, *c, hi and lo are undefined. */
enum { CASCADE_CHUNK = 64, CASCADE_MOST = 512 };
typedef bool cascade_lanes(struct cascade *c, const double *x, size_t count, double *hi,
                           double *lo);
struct cascade_variant {
    const char *name;
    bool (*available)(void); /* on this machine */
    cascade_lanes *block;
};
extern const struct cascade_variant cascade_variant[]; /* the widest first; the last always is */
extern const size_t cascade_variants;
