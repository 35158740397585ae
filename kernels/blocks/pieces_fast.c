/* Full tiles of pieces at speed: the columns of pieces_plain as arrays of float or double, in loops
 * that the compiler turns into vector code. Compiled with -O3.
 *
 * The functions marked INLINE are compiled once into each variant, with its instruction set, and
 * with rules and formats that are constants there. */
#include <math.h>

#include "kernels/blocks/element.h"
#include "kernels/blocks/pieces.h"
#include "reference/base/variants.h"

#define real        float
#define NAME(x)     x##_single
#define ROUND(f, x) round_single(f, x)
#define MAGNITUDE   fabsf
#include "kernels/blocks/piece_lanes.h"
#define real        double
#define NAME(x)     x##_double
#define ROUND(f, x) ((void)(f), (x))
#define MAGNITUDE   fabs
#include "kernels/blocks/piece_lanes.h"

INLINE void load_single(enum format storage, enum format f, const void *data, float *x)
{
    for (size_t i = 0; i < TILE; i++)
        x[i] = element_single(storage, f, data, i);
}

INLINE void load_double(enum format storage, const void *data, double *x)
{
    for (size_t i = 0; i < TILE; i++)
        x[i] = element_double(storage, data, i);
}

INLINE struct piece sum_single(enum piece_kind kind, unsigned words, enum format storage,
                               enum format f, const void *data, struct stored next)
{
    float x[TILE];
    switch (storage) {
    case FP16:
        load_single(FP16, f, data, x);
        break;
    case BF16:
        load_single(BF16, f, data, x);
        break;
    case FP32:
        if (f == FP32)
            return tile_single(kind, words, f, data, next);
        load_single(FP32, f, data, x);
        break;
    case FP64:
        load_single(FP64, f, data, x);
        break;
    case E4M3:
        load_single(E4M3, f, data, x);
        break;
    case E5M2:
        load_single(E5M2, f, data, x);
        break;
    }
    return tile_single(kind, words, f, x, next);
}

INLINE struct piece sum_double(enum piece_kind kind, unsigned words, enum format storage,
                               const void *data, struct stored next)
{
    double x[TILE];
    switch (storage) {
    case FP16:
        load_double(FP16, data, x);
        break;
    case BF16:
        load_double(BF16, data, x);
        break;
    case FP32:
        load_double(FP32, data, x);
        break;
    case FP64:
        return tile_double(kind, words, FP64, data, next);
    case E4M3:
        load_double(E4M3, data, x);
        break;
    case E5M2:
        load_double(E5M2, data, x);
        break;
    }
    return tile_double(kind, words, FP64, x, next);
}

INLINE void tiles_of_format(enum piece_kind kind, unsigned words, const struct array *in,
                            enum format f, size_t first, size_t count, struct piece *piece)
{
    size_t bytes = array_bytes(in->format, TILE);
    const char *data = (const char *)in->data + first * bytes;
    for (size_t i = 0; i < count; i++, data += bytes) {
        struct stored next = {data + bytes, i + 1 < count ? bytes / TILE_ROWS : 0};
        piece[i] = f == FP64 ? sum_double(kind, words, in->format, data, next)
                             : sum_single(kind, words, in->format, f, data, next);
    }
}

INLINE void tiles_of_rule(enum piece_kind kind, unsigned words, const struct array *in,
                          enum format f, size_t first, size_t count, struct piece *piece)
{
    switch ((enum accumulator)f) {
    case IN_FP16:
        tiles_of_format(kind, words, in, FP16, first, count, piece);
        break;
    case IN_BF16:
        tiles_of_format(kind, words, in, BF16, first, count, piece);
        break;
    case IN_FP32:
        tiles_of_format(kind, words, in, FP32, first, count, piece);
        break;
    case IN_FP64:
        tiles_of_format(kind, words, in, FP64, first, count, piece);
        break;
    }
}

INLINE void tiles(const struct piece_rule *rule, const struct array *in, enum format f,
                  size_t first, size_t count, struct piece *piece)
{
    switch (rule->kind) {
    case PIECE_KAHAN:
        tiles_of_rule(PIECE_KAHAN, 2, in, f, first, count, piece);
        break;
    case PIECE_NEUMAIER:
        tiles_of_rule(PIECE_NEUMAIER, 2, in, f, first, count, piece);
        break;
    case PIECE_DOUBLE_WORD:
        tiles_of_rule(PIECE_DOUBLE_WORD, 2, in, f, first, count, piece);
        break;
    case PIECE_SUM2:
        tiles_of_rule(PIECE_SUM2, 2, in, f, first, count, piece);
        break;
    case PIECE_SUMK:
        if (rule->words == 3)
            tiles_of_rule(PIECE_SUMK, 3, in, f, first, count, piece);
        else if (rule->words == 4)
            tiles_of_rule(PIECE_SUMK, 4, in, f, first, count, piece);
        else
            tiles_of_rule(PIECE_SUMK, 5, in, f, first, count, piece);
        break;
    case PIECE_PLAIN:
    case PIECE_BLOCKED: /* go other ways */
        break;
    }
}

static void baseline(const struct piece_rule *rule, const struct array *in, enum format f,
                     size_t first, size_t count, struct piece *piece)
{
    tiles(rule, in, f, first, count, piece);
}

#ifdef __x86_64__
AVX2 static void avx2(const struct piece_rule *rule, const struct array *in, enum format f,
                      size_t first, size_t count, struct piece *piece)
{
    tiles(rule, in, f, first, count, piece);
}

AVX512 static void avx512(const struct piece_rule *rule, const struct array *in, enum format f,
                          size_t first, size_t count, struct piece *piece)
{
    tiles(rule, in, f, first, count, piece);
}
#endif

const struct piece_variant piece_variant[] = {
#ifdef __x86_64__
    {"avx512", has_avx512, avx512},
    {"avx2", has_avx2, avx2},
#endif
    {"baseline", always, baseline},
};
const size_t piece_variants = sizeof piece_variant / sizeof *piece_variant;
