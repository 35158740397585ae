/* Arrays added up element by element, as an all-reduce adds those of its ranks: the bits are those
 * of allreduce/exact and allreduce/binned, at the speed of vector code.
 *
 * Nearly every element's sum is decided in doubles: s is the rounded sum, e the sum of what its
 * additions lost, t bounds what the additions to e lost. Where the ends of an enclosure of s + e,
 * 4 t wide to either side, round to the same number, that is the result: rounding is monotone. What
 * that leaves open, as NaN, infinities and massive cancellation, goes through the superaccumulator
 * or the bins. (Knuth's error-free addition; after Ogita, Rump and Oishi 2005.) */
#pragma once

#include "reference/format/array.h"

/* array[k] has n elements of the format f, k < arrays. out[i] becomes the sum of the elements i,
 * rounded once to f: folds 0: the exact sum; 2, 3 or 4: that of allreduce/binned with so many folds
 * (kernels/blocks/binned.h, elements as fp64). With any NaN, or infinities of both signs, NaN; with
 * infinities of one sign that one; of no arrays, and where elements cancel, +0; of -0s alone -0.
 * NaN is the canonical one. `out` may be one of the arrays, and otherwise shares no memory with
 * them. Cannot fail. */
void arrays_sum(const void *const *array, size_t arrays, void *out, size_t n, enum format f,
                unsigned folds);

/* --- for tests --- */

/* The same, each compiled for another instruction set; returns how many elements doubles did not
 * decide. The first is the fastest that is available somewhere, the last is available everywhere.
 */
struct arrays_variant {
    const char *name;
    bool (*available)(void); /* on this machine */
    size_t (*sum)(const void *const *array, size_t arrays, void *out, size_t n, enum format f,
                  unsigned folds);
};
extern const struct arrays_variant arrays_variant[];
extern const size_t arrays_variants;
