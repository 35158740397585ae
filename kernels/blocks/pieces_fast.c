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

/* A tile's elements as values of f (not FP64). */
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

INLINE void load_singles(enum format storage, enum format f, const void *data, float *x)
{
    switch (storage) {
    case FP16:
        load_single(FP16, f, data, x);
        break;
    case BF16:
        load_single(BF16, f, data, x);
        break;
    case FP32:
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
}

INLINE void load_doubles(enum format storage, const void *data, double *x)
{
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
        load_double(FP64, data, x);
        break;
    case E4M3:
        load_double(E4M3, data, x);
        break;
    case E5M2:
        load_double(E5M2, data, x);
        break;
    }
}

union elements {
    float single[TILE];
    double twice[TILE];
};

/* A tile as floats, of FP64 as doubles: where it is stored, or in x. All rules share this code of a
 * variant, which takes longer to compile than any of them. */
INLINE const void *load(enum format storage, enum format f, const void *data, union elements *x)
{
    if (storage == f && f >= FP32)
        return data;
    switch ((enum accumulator)f) {
    case IN_FP16:
        load_singles(storage, FP16, data, x->single);
        break;
    case IN_BF16:
        load_singles(storage, BF16, data, x->single);
        break;
    case IN_FP32:
        load_singles(storage, FP32, data, x->single);
        break;
    case IN_FP64:
        load_doubles(storage, data, x->twice);
        break;
    }
    return x;
}
typedef const void *load_function(enum format storage, enum format f, const void *data,
                                  union elements *x);

INLINE void tiles_of_format(enum piece_kind kind, unsigned words, const struct array *in,
                            enum format f, size_t first, size_t count, struct piece *piece,
                            load_function *load)
{
    union elements room;
    size_t bytes = array_bytes(in->format, TILE);
    const char *data = (const char *)in->data + first * bytes;
    for (size_t i = 0; i < count; i++, data += bytes) {
        struct stored next = {data + bytes, i + 1 < count ? bytes / TILE_ROWS : 0};
        const void *x = load(in->format, f, data, &room);
        piece[i] =
            f == FP64 ? tile_double(kind, words, f, x, next) : tile_single(kind, words, f, x, next);
    }
}

INLINE void tiles_of_rule(enum piece_kind kind, unsigned words, const struct array *in,
                          enum format f, size_t first, size_t count, struct piece *piece,
                          load_function *load)
{
    switch ((enum accumulator)f) {
    case IN_FP16:
        tiles_of_format(kind, words, in, FP16, first, count, piece, load);
        break;
    case IN_BF16:
        tiles_of_format(kind, words, in, BF16, first, count, piece, load);
        break;
    case IN_FP32:
        tiles_of_format(kind, words, in, FP32, first, count, piece, load);
        break;
    case IN_FP64:
        tiles_of_format(kind, words, in, FP64, first, count, piece, load);
        break;
    }
}

INLINE void tiles(const struct piece_rule *rule, const struct array *in, enum format f,
                  size_t first, size_t count, struct piece *piece, load_function *load)
{
    switch (rule->kind) {
    case PIECE_KAHAN:
        tiles_of_rule(PIECE_KAHAN, 2, in, f, first, count, piece, load);
        break;
    case PIECE_NEUMAIER:
        tiles_of_rule(PIECE_NEUMAIER, 2, in, f, first, count, piece, load);
        break;
    case PIECE_DOUBLE_WORD:
        tiles_of_rule(PIECE_DOUBLE_WORD, 2, in, f, first, count, piece, load);
        break;
    case PIECE_SUM2:
        tiles_of_rule(PIECE_SUM2, 2, in, f, first, count, piece, load);
        break;
    case PIECE_SUMK:
        if (rule->words == 3)
            tiles_of_rule(PIECE_SUMK, 3, in, f, first, count, piece, load);
        else if (rule->words == 4)
            tiles_of_rule(PIECE_SUMK, 4, in, f, first, count, piece, load);
        else
            tiles_of_rule(PIECE_SUMK, 5, in, f, first, count, piece, load);
        break;
    case PIECE_PLAIN:
    case PIECE_BLOCKED: /* go other ways */
        break;
    }
}

static const void *load_baseline(enum format storage, enum format f, const void *data,
                                 union elements *x)
{
    return load(storage, f, data, x);
}

static void baseline(const struct piece_rule *rule, const struct array *in, enum format f,
                     size_t first, size_t count, struct piece *piece)
{
    tiles(rule, in, f, first, count, piece, load_baseline);
}

#ifdef __x86_64__
AVX2 static const void *load_avx2(enum format storage, enum format f, const void *data,
                                  union elements *x)
{
    return load(storage, f, data, x);
}

AVX2 static void avx2(const struct piece_rule *rule, const struct array *in, enum format f,
                      size_t first, size_t count, struct piece *piece)
{
    tiles(rule, in, f, first, count, piece, load_avx2);
}

AVX512 static const void *load_avx512(enum format storage, enum format f, const void *data,
                                      union elements *x)
{
    return load(storage, f, data, x);
}

AVX512 static void avx512(const struct piece_rule *rule, const struct array *in, enum format f,
                          size_t first, size_t count, struct piece *piece)
{
    tiles(rule, in, f, first, count, piece, load_avx512);
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
