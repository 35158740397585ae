/* Full tiles of dot/tiled at speed: columns as arrays of float or double, in loops that the
 * compiler turns into vector code, as kernels/blocks/tiled_fast.c. */
#include "kernels/dot/tiled.h"
#include "kernels/blocks/element.h"
#include "kernels/blocks/tiled.h"
#include "reference/base/variants.h"

/* Products of at most 24 bits have no error in float, but for some of bf16 below 2^-134, which
 * become 0 in fp16 and bf16 all the same. */
bool dot_tiles_fast(const struct task *t)
{
    enum format s = t->of->in.format, f = t->accumulator;
    bool narrow = 2 * format_facts[s].precision <= format_facts[FP32].precision;
    return t->of->product == PRODUCT_ROUNDED && (f == FP64 || (f == FP32 && s != FP64) || narrow);
}

INLINE float product_single(enum format storage, enum format f, const void *x, const void *y,
                            size_t i)
{
    return round_single(f,
                        element_single(storage, FP32, x, i) * element_single(storage, FP32, y, i));
}

/* Both arrays' next tiles, or what of them has not been fetched yet. */
struct stored_both {
    struct stored x, y;
};

INLINE void fetch_rows(struct stored_both *next)
{
    fetch_row(&next->x);
    fetch_row(&next->y);
}

/* Meanwhile the next tiles are fetched, a row at a time. */
INLINE double tile_single(enum format storage, enum format f, const void *x, const void *y,
                          struct stored_both next)
{
    fetch_rows(&next);
    float column[TILE_COLUMNS];
    for (size_t c = 0; c < TILE_COLUMNS; c++)
        column[c] = product_single(storage, f, x, y, c);
    for (size_t row = TILE_COLUMNS; row < TILE; row += TILE_COLUMNS) {
        fetch_rows(&next);
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            column[c] = round_single(f, column[c] + product_single(storage, f, x, y, row + c));
    }
    for (size_t stride = TILE_COLUMNS / 2; stride > 0; stride /= 2)
        for (size_t c = 0; c < stride; c++)
            column[c] = round_single(f, column[c] + column[c + stride]);
    return column[0];
}

INLINE double tile_double(enum format storage, const void *x, const void *y,
                          struct stored_both next)
{
    fetch_rows(&next);
    double column[TILE_COLUMNS];
    for (size_t c = 0; c < TILE_COLUMNS; c++)
        column[c] = element_double(storage, x, c) * element_double(storage, y, c);
    for (size_t row = TILE_COLUMNS; row < TILE; row += TILE_COLUMNS) {
        fetch_rows(&next);
        for (size_t c = 0; c < TILE_COLUMNS; c++)
            column[c] += element_double(storage, x, row + c) * element_double(storage, y, row + c);
    }
    for (size_t stride = TILE_COLUMNS / 2; stride > 0; stride /= 2)
        for (size_t c = 0; c < stride; c++)
            column[c] += column[c + stride];
    return column[0];
}

INLINE void tiles_of_pair(enum format storage, enum format f, const char *x, const char *y,
                          size_t count, double *sum)
{
    size_t bytes = (size_t)TILE * (size_t)format_facts[storage].bytes;
    for (size_t i = 0; i < count; i++, x += bytes, y += bytes) {
        size_t row_bytes = i + 1 < count ? bytes / TILE_ROWS : 0;
        struct stored_both next = {{x + bytes, row_bytes}, {y + bytes, row_bytes}};
        sum[i] = f == FP64 ? tile_double(storage, x, y, next) : tile_single(storage, f, x, y, next);
    }
}

INLINE void tiles_of_storage(enum format storage, const struct task *t, size_t first, size_t count,
                             double *sum)
{
    size_t begin = array_bytes(t->of->in.format, first * TILE);
    const char *x = (const char *)t->of->in.data + begin,
               *y = (const char *)t->of->in2.data + begin;
    switch ((enum accumulator)t->accumulator) {
    case IN_FP16:
        tiles_of_pair(storage, FP16, x, y, count, sum);
        break;
    case IN_BF16:
        tiles_of_pair(storage, BF16, x, y, count, sum);
        break;
    case IN_FP32:
        tiles_of_pair(storage, FP32, x, y, count, sum);
        break;
    case IN_FP64:
        tiles_of_pair(storage, FP64, x, y, count, sum);
        break;
    }
}

INLINE void tiles(const struct task *t, size_t first, size_t count, double *sum)
{
    switch (t->of->in.format) {
    case FP16:
        tiles_of_storage(FP16, t, first, count, sum);
        break;
    case BF16:
        tiles_of_storage(BF16, t, first, count, sum);
        break;
    case FP32:
        tiles_of_storage(FP32, t, first, count, sum);
        break;
    case FP64:
        tiles_of_storage(FP64, t, first, count, sum);
        break;
    case E4M3:
        tiles_of_storage(E4M3, t, first, count, sum);
        break;
    case E5M2:
        tiles_of_storage(E5M2, t, first, count, sum);
        break;
    }
}

static void baseline(const struct task *t, size_t first, size_t count, double *sum)
{
    tiles(t, first, count, sum);
}

#ifdef __x86_64__
AVX2 static void avx2(const struct task *t, size_t first, size_t count, double *sum)
{
    tiles(t, first, count, sum);
}

AVX512 static void avx512(const struct task *t, size_t first, size_t count, double *sum)
{
    tiles(t, first, count, sum);
}
#endif

const struct dot_variant dot_variant[] = {
#ifdef __x86_64__
    {"avx512", has_avx512, avx512},
    {"avx2", has_avx2, avx2},
#endif
    {"baseline", always, baseline},
};
const size_t dot_variants = sizeof dot_variant / sizeof *dot_variant;
