/* Full tiles of sum/tiled at memory speed: the columns of tiled_plain as arrays of float or
 * double, in loops that the compiler turns into vector code. This file alone is compiled with -O3.
 *
 * The functions marked INLINE are compiled once into each variant, with its instruction set, and
 * with formats that are constants there. */
#include "kernels/blocks/element.h"
#include "kernels/blocks/tiled.h"
#include "reference/base/variants.h"

/* Meanwhile the next tile is fetched, a row at a time. */
INLINE double tile_single(enum format storage, enum format f, const void *tile, struct stored next)
{
    fetch_row(&next);
    float column[TILE_COLUMNS];
    for (size_t c = 0; c < TILE_COLUMNS; c++)
        column[c] = element_single(storage, f, tile, c);
    for (size_t row = TILE_COLUMNS; row < TILE; row += TILE_COLUMNS) {
        fetch_row(&next);
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            column[c] = round_single(f, column[c] + element_single(storage, f, tile, row + c));
    }
    for (size_t stride = TILE_COLUMNS / 2; stride > 0; stride /= 2)
        for (size_t c = 0; c < stride; c++)
            column[c] = round_single(f, column[c] + column[c + stride]);
    return column[0];
}

INLINE double tile_double(enum format storage, const void *tile, struct stored next)
{
    fetch_row(&next);
    double column[TILE_COLUMNS];
    for (size_t c = 0; c < TILE_COLUMNS; c++)
        column[c] = element_double(storage, tile, c);
    for (size_t row = TILE_COLUMNS; row < TILE; row += TILE_COLUMNS) {
        fetch_row(&next);
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            column[c] += element_double(storage, tile, row + c);
    }
    for (size_t stride = TILE_COLUMNS / 2; stride > 0; stride /= 2)
        for (size_t c = 0; c < stride; c++)
            column[c] += column[c + stride];
    return column[0];
}

INLINE void tiles_of_pair(enum format storage, enum format f, const char *data, size_t count,
                          double *sum)
{
    size_t bytes = (size_t)TILE * (size_t)format_facts[storage].bytes;
    for (size_t i = 0; i < count; i++, data += bytes) {
        struct stored next = {data + bytes, i + 1 < count ? bytes / TILE_ROWS : 0};
        sum[i] = f == FP64 ? tile_double(storage, data, next) : tile_single(storage, f, data, next);
    }
}

INLINE void tiles_of_storage(enum format storage, const struct array *in, enum format f,
                             size_t first, size_t count, double *sum)
{
    const char *data = (const char *)in->data + array_bytes(in->format, first * TILE);
    switch ((enum accumulator)f) {
    case IN_FP16:
        tiles_of_pair(storage, FP16, data, count, sum);
        break;
    case IN_BF16:
        tiles_of_pair(storage, BF16, data, count, sum);
        break;
    case IN_FP32:
        tiles_of_pair(storage, FP32, data, count, sum);
        break;
    case IN_FP64:
        tiles_of_pair(storage, FP64, data, count, sum);
        break;
    }
}

INLINE void tiles(const struct array *in, enum format f, size_t first, size_t count, double *sum)
{
    switch (in->format) {
    case FP16:
        tiles_of_storage(FP16, in, f, first, count, sum);
        break;
    case BF16:
        tiles_of_storage(BF16, in, f, first, count, sum);
        break;
    case FP32:
        tiles_of_storage(FP32, in, f, first, count, sum);
        break;
    case FP64:
        tiles_of_storage(FP64, in, f, first, count, sum);
        break;
    case E4M3:
        tiles_of_storage(E4M3, in, f, first, count, sum);
        break;
    case E5M2:
        tiles_of_storage(E5M2, in, f, first, count, sum);
        break;
    }
}

static void baseline(const struct array *in, enum format f, size_t first, size_t count, double *sum)
{
    tiles(in, f, first, count, sum);
}

#ifdef __x86_64__
AVX2 static void avx2(const struct array *in, enum format f, size_t first, size_t count,
                      double *sum)
{
    tiles(in, f, first, count, sum);
}

AVX512 static void avx512(const struct array *in, enum format f, size_t first, size_t count,
                          double *sum)
{
    tiles(in, f, first, count, sum);
}
#endif

const struct tiled_variant tiled_variant[] = {
#ifdef __x86_64__
    {"avx512", has_avx512, avx512},
    {"avx2", has_avx2, avx2},
#endif
    {"baseline", always, baseline},
};
const size_t tiled_variants = sizeof tiled_variant / sizeof *tiled_variant;
