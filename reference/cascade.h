/* Running sums in two or three doubles, many elements at a time. Private to reference/.
 *
 * TwoSum (Knuth 1969; Moller 1965) splits a rounded sum into itself and its error without loss. A
 * cascade adds the elements to one running sum, the errors of those additions to a second, and the
 * errors of these to a third (SumK: Ogita, Rump, Oishi 2005). While the last additions made no
 * error, the words hold the exact sum; else what they miss is at most the sum of the magnitudes of
 * the last errors, and a pair is given out only where every value that near rounds to it. */
#ifndef ULPSCOPE_CASCADE_H
#define ULPSCOPE_CASCADE_H

#include "reference/format.h"

struct cascade {
    double word[3]; /* the leading doubles of the sum */
    double error;   /* |word[0] + word[1] + word[2] - the exact sum| is at most this */
    int words;      /* that the last block took; a block begins with as many. 0: not known */
};

/* Adds x[0 .. count-1] and writes the pair (hi, lo) of each prefix: hi = the exact prefix rounded
 * to nearest double, lo = the rest rounded to nearest. False where that could not be shown for all
 * of them, as with any inf or NaN; the sum in *c is as it was then, hi and lo are undefined. */
bool cascade_block(struct cascade *c, const double *x, size_t count, double *hi, double *lo);

#endif
