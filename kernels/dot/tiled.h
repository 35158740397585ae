/* Tiles of dot/tiled, and fast paths for full ones. */
#pragma once

#include "kernels/method/method.h"

/* sum[i] = that of tile first + i, a value of the accumulator, for i < count. */
typedef void dot_tiles(const struct task *t, size_t first, size_t count, double *sum);

/* The specification. The last tile may be short. */
dot_tiles dot_tiles_plain;

/* Is there a fast path for what the task asks? Where products are rounded, and are so by one
 * multiplication of floats or doubles, or have no error there. */
bool dot_tiles_fast(const struct task *t);

/* The same bits at speed, for full tiles; each compiled for another instruction set. The first is
 * the fastest that is available somewhere, the last is available everywhere. */
struct dot_variant {
    const char *name;
    bool (*available)(void); /* on this machine */
    dot_tiles *tiles;
};
extern const struct dot_variant dot_variant[];
extern const size_t dot_variants;

/* This machine's fastest function for the task, which takes full tiles; the specification if there
 * is no fast path. */
dot_tiles *dot_tiles_fastest(const struct task *t);
