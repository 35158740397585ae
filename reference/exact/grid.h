/* Exact elements of D = A B + C, many at a time, where they are integers of at most 127 bits times
 * a power of two.
 *
 * The elements of a row of A, or a column of B, are integers times a power of two of the line's
 * own. An integer is cut into at most GRID_SLICES slices, doubles of whole numbers up to
 * 2^GRID_DIGITS; then each product of slices, and the sum of GRID_DEPTH of them, is a whole number
 * up to 2^53, so that doubles add them without an error, in any order, fused or not. (Ozaki, Ogita,
 * Oishi and Rump 2012 cut matrices so, and round in the end; here the sums of products are gathered
 * as integers.)
 */
#pragma once

#include "reference/exact/matrices.h"

enum { GRID_DIGITS = 22, GRID_SLICES = 3, GRID_DEPTH = 512, GRID_ROWS = 6, GRID_COLUMNS = 8 };

/* sum, and that of the magnitudes of its terms, C's with them, times 2^lowest. */
struct grid_sum {
    __int128 sum, sum_abs;
    int lowest;
    /* Lines are too wide for this, the numbers in them or in C are too far apart, or not finite; or
     * the sum is a zero, whose sign other rules say. Then nothing else is set. */
    bool unknown;
};

/* How many elements to ask for at a time: whole rows, as many as are cut together, unless rows are
 * very long. */
size_t grid_window(const struct matrices_packed *p);

/* Elements begin .. begin+count-1, count > 0. Without magnitudes, sum_abs is not set. Where memory
 * is short all are unknown. */
void grid_sums(const struct matrices_packed *p, size_t begin, size_t count, bool magnitudes,
               struct grid_sum *to);

/* The sum, or that of the magnitudes, rounded to nearest double, and the rest of it rounded so.
 * Returns whether they are all of it. */
bool grid_pair(const struct grid_sum *s, bool magnitudes, double *hi, double *lo);

/* The sum rounded once to f. */
double grid_round(const struct grid_sum *s, enum format f);

/* sum[i][j] is that of a[l][i] b[l][j], l < depth <= GRID_DEPTH. The first is the fastest that is
 * available somewhere, the last is available everywhere. */
struct grid_variant {
    const char *name;
    bool (*available)(void); /* on this machine */
    void (*tile)(size_t depth, const double *a, const double *b,
                 double sum[GRID_ROWS][GRID_COLUMNS]);
};
extern const struct grid_variant grid_variant[];
extern const size_t grid_variants;
void grid_sums_by(const struct grid_variant *v, const struct matrices_packed *p, size_t begin,
                  size_t count, bool magnitudes, struct grid_sum *to);
