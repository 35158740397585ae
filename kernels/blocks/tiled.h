/* The tile of sum/tiled, its order and its fast paths. Included by C and by CUDA. */
#pragma once

/* They are the order: another value is another method. A full tile's tree is TILE_HEIGHT high. */
enum { TILE_ROWS = 8, TILE_COLUMNS = 256, TILE = TILE_ROWS * TILE_COLUMNS };
enum { TILE_HEIGHT = TILE_ROWS - 1 + 8 };

/* The launch shape on a GPU is a schedule: the most threads to a block; how many tiles are few
 * enough to have a block each, with a thread for each column. */
enum { TILE_THREADS_MAX = 512, TILE_FEW = 512 };

#ifndef __cplusplus
#include "kernels/method/method.h"

/* Shared by the methods that use this order: the tiles of n values; members of a descriptor. */
size_t tiled_tiles(size_t n);
struct shape tiled_shape(size_t n, enum device_kind device, struct shape asked);
size_t tiled_height(size_t n, struct shape shape);
void tiled_order(struct order *o, struct shape shape);

/* A thread's tiles of `tiles`: consecutive ones. */
struct tiled_share {
    size_t first, count;
};
struct tiled_share tiled_share(size_t tiles, unsigned thread, unsigned threads);

/* v[0] = the sum in f of `count` tile sums v[0 .. count-1], values of f, which are overwritten: the
 * tree above the tiles; of none +0. v has room for one. */
void tiled_fold(enum format f, double *v, size_t count);

/* *sum = the sum in f, a value of f, of the elements or, where `term` is not NULL, of their terms.
 */
enum status tiled_sum(const struct array *in, array_term *term, enum format f, unsigned threads,
                      double *sum, struct problem *p);

/* sum[i] = the sum, in f, of tile first + i, a value of f, for i < count. */
typedef void tile_sums(const struct array *in, enum format f, size_t first, size_t count,
                       double *sum);

/* The specification. The last tile may be short. */
tile_sums tiled_plain;

/* The same bits at speed, for full tiles only; each compiled for another instruction set. The
 * first is the fastest that is available somewhere, the last is available everywhere. */
struct tiled_variant {
    const char *name;
    bool (*available)(void); /* on this machine */
    tile_sums *sums;
};
extern const struct tiled_variant tiled_variant[];
extern const size_t tiled_variants;
tile_sums *tiled_fastest(void); /* that of this machine */
#endif
