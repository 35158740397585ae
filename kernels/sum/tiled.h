/* The tile of sum/tiled, and its fast paths. Included by C and by CUDA. */
#ifndef ULPSCOPE_TILED_H
#define ULPSCOPE_TILED_H

/* They are the order: another value is another method. */
enum { TILE_ROWS = 8, TILE_COLUMNS = 256, TILE = TILE_ROWS * TILE_COLUMNS };

/* The launch shape on a GPU is a schedule: the most threads to a block; how many tiles are few
 * enough to have a block each, with a thread for each column. */
enum { TILE_THREADS_MAX = 512, TILE_FEW = 512 };

#ifndef __cplusplus
#include "kernels/method.h"

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
#endif

#endif
