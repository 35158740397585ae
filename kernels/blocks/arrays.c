/* Blocks of elements, whose sums lie in the first-level cache. Compiled with -O3; the functions
 * marked INLINE are compiled once into each variant, with a format that is a constant there. */
#include "kernels/blocks/arrays.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif
#include <math.h>

#include "kernels/blocks/binned_state.h"
#include "kernels/blocks/element.h"
#include "reference/exact/exact.h"

/* So many addends of fp16 add up to 53 bits at most: nothing is lost. */
enum { BLOCK = 256, PLAIN_MOST = 4096 };

/* Of each element of a block: s + e + what t bounds; t is 0 where e lost nothing. */
struct sums {
    double s[BLOCK], e[BLOCK], t[BLOCK];
    uint64_t any_e, any_t; /* 0: all are 0 */
};

/* Of each element of a block, what addends are rounded to multiples of: 2^52 times that. */
struct units {
    double anchor[BLOCK];
};

/* The numbers of fp16, or some of them: every addend is a multiple of every unit that there can be
 * (binned.h), and PLAIN_MOST of them add up without a loss. Other formats have a float's exponents
 * or are fp64; a row of the table that is neither has to be handled here. */
INLINE bool narrow(enum format f)
{
    return format_facts[f].emin >= format_facts[FP16].emin &&
           format_facts[f].emax <= format_facts[FP16].emax &&
           format_facts[f].smallest >= format_facts[FP16].smallest;
}
#define FORMAT(constant, name, bits, precision, least, greatest, ...)                              \
    _Static_assert((least <= 14 && greatest <= 15 && least + precision <= 25) ||                   \
                       (least == 126 && greatest == 127 && bits >= 16) || bits == 64,              \
                   "sums of arrays do not know such exponents");
#include "reference/format/formats.def"

/* *a = a + b rounded; what that lost, exactly. */
INLINE double lost(double *a, double b)
{
    double sum = *a + b, part = sum - *a, rest = (*a - (sum - part)) + (b - part);
    *a = sum;
    return rest;
}

INLINE const void *place(enum format f, const void *array, size_t i)
{
    return (const char *)array + i * (size_t)format_facts[f].bytes;
}

/* Element i. Subnormal numbers of narrow formats go through integers: as subnormal floats they
 * would cost the processor a hundred cycles each. */
INLINE float single(enum format f, const void *data, size_t i)
{
    const struct format_facts *facts = &format_facts[f];
    if (!narrow(f))
        return element_single(f, FP32, data, i);
    const int drop = 24 - facts->precision;
    const uint32_t specials = (uint32_t)facts->specials, normal = 1u << (facts->precision - 1);
    uint32_t bits = facts->bytes == 2 ? ((const uint16_t *)data)[i] : ((const uint8_t *)data)[i];
    uint32_t negative = bits >> (8 * facts->bytes - 1), size = bits & FORMAT_BITS(8 * facts->bytes);
    float small = (float)(int32_t)size * (float)facts->smallest;
    uint32_t is = (size << drop) + ((uint32_t)(126 + facts->emin) << 23);
    is = choose((size & specials) == specials, is | 0x7f800000, is);
    is = choose(size < normal, float_bits(small), is);
    return float_from_bits(is | negative << 31);
}

INLINE double element(enum format f, const void *data, size_t i)
{
    return f == FP64 ? ((const double *)data)[i] : (double)single(f, data, i);
}

/* The encoding of x rounded to f, to nearest, ties to even: by the carry of an integer addition
 * and, below the normal numbers, by adding 2^23 of the smallest ones. */
INLINE void store_single(enum format f, void *out, size_t i, float x)
{
    const struct format_facts *facts = &format_facts[f];
    const int drop = 24 - facts->precision;
    const float magic = (float)(0x1p23 * facts->smallest);
    const uint32_t offset = narrow(f) ? (uint32_t)(126 + facts->emin) << 23 : 0;
    const uint32_t most = (uint32_t)facts->specials, half = (1u << drop) / 2;
    uint32_t size = float_bits(x) & 0x7fffffff, negative = float_bits(x) >> 31;
    uint32_t bits = (size - offset + half - (drop > 0) + (size >> drop & (drop > 0))) >> drop;
    if (narrow(f)) {
        uint32_t below = float_bits(float_from_bits(size) + magic) - float_bits(magic);
        bits = choose(size < float_bits((float)facts->smallest_normal), below, bits);
        bits = bits < most ? bits : most; /* infinity or, where there is none, NaN */
    }
    bits = choose(size > 0x7f800000, (uint32_t)facts->nan, bits);
    bits |= choose(bits == (uint32_t)facts->nan, 0, negative) << (8 * facts->bytes - 1);
    if (facts->bytes == 4)
        ((uint32_t *)out)[i] = bits;
    else if (facts->bytes == 2)
        ((uint16_t *)out)[i] = (uint16_t)bits;
    else
        ((uint8_t *)out)[i] = (uint8_t)bits;
}

INLINE void store_double(enum format f, void *out, size_t i, double x)
{
    if (f == FP64)
        ((double *)out)[i] = x == x ? x : double_from_bits(format_facts[FP64].nan);
    else
        store_single(f, out, i, (float)x);
}

/* --- adding --- */

INLINE int digits_kept(enum format f, unsigned folds)
{
    int digits = (int)folds * format_facts[f].precision;
    return digits < 53 ? 53 : digits;
}

/* Is every addend of the block a multiple of the unit of every other one? Then none is cut, and the
 * binned sums are the exact ones. Of nearly all blocks it is so. */
#define SURVEY(word)                                                                               \
    do {                                                                                           \
        word most = 0, least = (word)-1; /* of nothing but zeros */                                \
        for (size_t k = 0; k < arrays; k++) {                                                      \
            const word *from = (const word *)array[k] + begin;                                     \
            for (size_t i = 0; i < count; i++) {                                                   \
                word size = (word)(from[i] << 1) >> 1, below = (word)(size - 1);                   \
                most = size > most ? size : most;                                                  \
                least = below < least ? below : least;                                             \
            }                                                                                      \
        }                                                                                          \
        top = (int)(most >> (precision - 1));                                                      \
        low = least == (word)-1 ? top : (int)((word)(least + 1) >> (precision - 1));               \
    } while (0)

INLINE bool alike(const void *const *array, size_t arrays, size_t begin, size_t count,
                  enum format f, unsigned folds)
{
    const int precision = format_facts[f].precision;
    int top, low; /* exponents */
    if (f == FP64)
        SURVEY(uint64_t);
    else if (f == FP32)
        SURVEY(uint32_t);
    else
        SURVEY(uint16_t);
    return (top < 1 ? 1 : top) - (low < 1 ? 1 : low) <= digits_kept(f, folds) - precision;
}

/* Of two arrays none need be cut where more than twice the digits are kept: a number that would be
 * is below a quarter ulp of the other one, and the sum rounds to that with it and without. */
INLINE bool cuts_show(size_t arrays, enum format f, unsigned folds)
{
    return arrays > 2 || digits_kept(f, folds) <= 2 * format_facts[f].precision + 2;
}

INLINE void find_units(const void *const *array, size_t arrays, size_t begin, size_t count,
                       enum format f, unsigned folds, struct units *u)
{
    const int width = f == FP64 ? 50 : 21, digits = digits_kept(f, folds);
    const int fraction = format_facts[f].precision - 1, bias = 1 - format_facts[f].emin;
    uint64_t most[BLOCK];
    uint32_t most_of_narrow[BLOCK];
    int exponent[BLOCK]; /* the encoding's; where all are zeros, 0 */
    if (f == FP64) {
        memset(most, 0, count * sizeof *most);
        for (size_t k = 0; k < arrays; k++)
            for (size_t i = 0; i < count; i++) {
                uint64_t size = ((const uint64_t *)array[k])[begin + i] << 1;
                most[i] = size > most[i] ? size : most[i];
            }
        for (size_t i = 0; i < count; i++)
            exponent[i] = (int)(most[i] >> (fraction + 1));
    } else {
        memset(most_of_narrow, 0, count * sizeof *most_of_narrow);
        for (size_t k = 0; k < arrays; k++) {
            const void *from = place(f, array[k], begin);
            for (size_t i = 0; i < count; i++) {
                uint32_t size = f == FP32 ? ((const uint32_t *)from)[i] & 0x7fffffff
                                          : ((const uint16_t *)from)[i] & 0x7fffu;
                most_of_narrow[i] = size > most_of_narrow[i] ? size : most_of_narrow[i];
            }
        }
        for (size_t i = 0; i < count; i++)
            exponent[i] = (int)(most_of_narrow[i] >> fraction);
    }
    for (size_t i = 0; i < count; i++) { /* binned_window, whose lowest bin is 0 */
        int above = exponent[i] - bias - digits + 1 - BINNED_LOWEST;
        int window = (above < 0 ? 0 : above) / width;
        int anchor = window * width + BINNED_LOWEST + 52 + 1023;
        /* Of subnormal numbers and zeros alone nothing is cut: 0 stands above none. */
        exponent[i] = exponent[i] == 0 ? 0 : anchor;
    }
    for (size_t i = 0; i < count; i++)
        u->anchor[i] = double_from_bits((uint64_t)exponent[i] << 52);
}

/* x rounded to a multiple of the unit, ties to even. */
INLINE double cut(double x, double anchor)
{
    double with_sign = copysign(anchor, x), rounded = (x + with_sign) - with_sign;
    return fabs(x) < anchor ? rounded : x;
}

INLINE void add_one(const void *array, size_t begin, size_t count, enum format f,
                    const struct units *u, struct sums *to)
{
    const void *from = place(f, array, begin);
    for (size_t i = 0; i < count; i++) {
        double x = element(f, from, i), s = to->s[i], e = to->e[i];
        x = u ? cut(x, u->anchor[i]) : x;
        double t = fabs(lost(&e, lost(&s, x)));
        to->t[i] += t;
        to->s[i] = s;
        to->e[i] = e;
    }
}

/* The first two arrays: one addition, whose error is e. */
INLINE void add_two(const void *const *array, size_t begin, size_t count, enum format f,
                    const struct units *u, struct sums *to)
{
    const void *a = place(f, array[0], begin), *b = place(f, array[1], begin);
    for (size_t i = 0; i < count; i++) {
        double x = element(f, a, i), y = element(f, b, i);
        x = u ? cut(x, u->anchor[i]) : x;
        y = u ? cut(y, u->anchor[i]) : y;
        to->e[i] = lost(&x, y);
        to->s[i] = x;
        to->t[i] = 0;
    }
}

INLINE void add(const void *const *array, size_t arrays, size_t begin, size_t count, enum format f,
                const struct units *u, struct sums *to)
{
    uint64_t any_e = 0, any_t = 0;
    add_two(array, begin, count, f, u, to);
    for (size_t k = 2; k < arrays; k++)
        add_one(array[k], begin, count, f, u, to);
    for (size_t i = 0; i < count; i++) {
        any_e |= double_bits(to->e[i]) << 1;
        any_t |= double_bits(to->t[i]);
    }
    to->any_e = any_e;
    to->any_t = any_t;
}

INLINE void add_plain(const void *const *array, size_t arrays, size_t begin, size_t count,
                      enum format f, struct sums *to)
{
    for (size_t k = 0; k < arrays; k++) {
        const void *from = place(f, array[k], begin);
        if (k == 0)
            for (size_t i = 0; i < count; i++)
                to->s[i] = element(f, from, i);
        else
            for (size_t i = 0; i < count; i++)
                to->s[i] += element(f, from, i);
    }
    to->any_e = to->any_t = 0;
}

/* --- deciding --- */

INLINE double round_off(enum format f, double h, double l)
{
    double rest = lost(&h, l);
    return format_round_pair(f, h, rest);
}

/* All-ones where it does not hold. */
INLINE uint64_t unless(bool holds)
{
    return (uint64_t)holds - 1;
}

/* The results; all-ones in `open` where they are not decided, which is returned of all together.
 * The sign of a sum of 0 is that of s: only of zeros alone, all -0, it is -0. */
INLINE uint64_t decide(enum format f, const struct sums *of, size_t count, double *result,
                       uint64_t *open)
{
    uint64_t any = 0;
    if (of->any_e == 0 && of->any_t == 0) {
        for (size_t i = 0; i < count; i++) {
            result[i] = format_round(f, of->s[i]);
            open[i] = unless(fabs(of->s[i]) < (double)INFINITY);
            any |= open[i];
        }
        return any;
    }
    if (of->any_t == 0) {
        for (size_t i = 0; i < count; i++) {
            double h = of->s[i], l = lost(&h, of->e[i]), zero = of->s[i] == 0 ? of->s[i] : 0;
            double rounded = format_round_pair(f, h, l);
            result[i] = h == 0 ? zero : rounded;
            open[i] = unless(fabs(h) + fabs(l) < (double)INFINITY);
            any |= open[i];
        }
        return any;
    }
    for (size_t i = 0; i < count; i++) {
        double h = of->s[i], l = lost(&h, of->e[i]), t = of->t[i];
        double off = 4 * t + fabs(l) * 0x1p-50, zero = of->s[i] == 0 ? of->s[i] : 0;
        off = t > 0 ? off : 0;
        double low = round_off(f, h, l - off), high = round_off(f, h, l + off);
        result[i] = h == 0 ? zero : low;
        open[i] = unless(fabs(h) + fabs(l) + t < (double)INFINITY) |
                  unless(double_bits(low) == double_bits(high));
        any |= open[i];
    }
    return any;
}

/* --- what doubles do not decide --- */

static double any_sum(const void *const *array, size_t arrays, size_t i, enum format f,
                      unsigned folds)
{
    struct exact exact;
    struct binned_state binned;
    exact_init(&exact);
    if (folds)
        binned_state_init(&binned, FP64, f, folds, NULL);
    for (size_t k = 0; k < arrays; k++) {
        double x = element(f, array[k], i);
        if (folds)
            binned_plain(&binned, &(struct array){FP64, 1, &x}, 0, 1);
        else
            exact_add(&exact, x);
    }
    return folds ? binned_state_finish(&binned) : exact_round(&exact, f);
}

/* --- all --- */

/* More than two arrays, or two that may have to be cut. */
INLINE size_t sum_block(const void *const *array, size_t arrays, size_t begin, size_t count,
                        enum format f, unsigned folds, void *out)
{
    struct units units;
    struct sums sums;
    double result[BLOCK];
    uint64_t open[BLOCK];
    size_t left = 0;
    if (folds)
        find_units(array, arrays, begin, count, f, folds, &units);
    if (narrow(f) && arrays <= PLAIN_MOST)
        add_plain(array, arrays, begin, count, f, &sums);
    else
        add(array, arrays, begin, count, f, folds ? &units : NULL, &sums);
    if (decide(f, &sums, count, result, open))
        for (size_t i = 0; i < count; i++)
            if (open[i]) {
                result[i] = any_sum(array, arrays, begin + i, f, folds);
                left++;
            }
    for (size_t i = 0; i < count; i++)
        store_double(f, out, i, result[i]);
    return left;
}

/* One addition of two values is rounded once by itself; so it is in a wider format and then in f,
 * where that has 2 p + 2 bits. */
INLINE void sum_two(const void *const *array, size_t begin, size_t count, enum format f, void *out)
{
    const void *a = place(f, array[0], begin), *b = place(f, array[1], begin);
    for (size_t i = 0; i < count; i++)
        if (f == FP64)
            store_double(f, out, i, ((const double *)a)[i] + ((const double *)b)[i]);
        else
            store_single(f, out, i, single(f, a, i) + single(f, b, i));
}

INLINE void sum_one(const void *array, size_t begin, size_t count, enum format f, void *out)
{
    const void *a = place(f, array, begin);
    for (size_t i = 0; i < count; i++)
        store_double(f, out, i, element(f, a, i));
}

INLINE size_t sum_format(const void *const *array, size_t arrays, void *out, size_t n,
                         enum format f, unsigned folds)
{
    size_t left = 0;
    for (size_t begin = 0; begin < n; begin += BLOCK) {
        size_t count = n - begin < BLOCK ? n - begin : BLOCK;
        void *to = (char *)out + begin * (size_t)format_facts[f].bytes;
        if (arrays == 1)
            sum_one(array[0], begin, count, f, to);
        else if (folds > 0 && cuts_show(arrays, f, folds) &&
                 !alike(array, arrays, begin, count, f, folds))
            left += sum_block(array, arrays, begin, count, f, folds, to);
        else if (arrays == 2)
            sum_two(array, begin, count, f, to);
        else
            left += sum_block(array, arrays, begin, count, f, 0, to);
    }
    return left;
}

INLINE size_t sum(const void *const *array, size_t arrays, void *out, size_t n, enum format f,
                  unsigned folds)
{
    switch (f) {
#define FORMAT(constant, ...)                                                                      \
    case constant:                                                                                 \
        return sum_format(array, arrays, out, n, constant, narrow(constant) ? 0 : folds);
#include "reference/format/formats.def"
    }
    return 0;
}

#ifdef __x86_64__
#define AVX2_F16C __attribute__((target("avx2,f16c")))

/* Not every clang knows this feature by its name. */
static bool has_avx2_f16c(void)
{
    unsigned a, b, c = 0, d;
    return has_avx2() && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool has_avx512_f16c(void)
{
    return has_avx512() && has_avx2_f16c();
}

/* sum_two of fp16, by the processor's own conversions. */
AVX2_F16C static void sum_two_halves(const uint16_t *a, const uint16_t *b, size_t n, uint16_t *out)
{
    const __m128i nan = _mm_set1_epi16((short)format_facts[FP16].nan);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 x = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(a + i)));
        __m256 y = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(b + i)));
        __m256 sum = _mm256_add_ps(x, y), none = _mm256_cmp_ps(sum, sum, _CMP_UNORD_Q);
        __m128i is_nan = _mm_packs_epi32(_mm256_castsi256_si128(_mm256_castps_si256(none)),
                                         _mm256_extracti128_si256(_mm256_castps_si256(none), 1));
        __m128i bits = _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT);
        bits = _mm_blendv_epi8(bits, nan, is_nan);
        _mm_storeu_si128((__m128i *)(void *)(out + i), bits);
    }
    for (; i < n; i++)
        store_single(FP16, out, i, single(FP16, a, i) + single(FP16, b, i));
}

INLINE size_t sum_by_f16c(const void *const *array, size_t arrays, void *out, size_t n,
                          enum format f, unsigned folds)
{
    if (f != FP16 || arrays != 2)
        return sum(array, arrays, out, n, f, folds);
    sum_two_halves(array[0], array[1], n, out);
    return 0;
}

AVX2_F16C static size_t avx2(const void *const *array, size_t arrays, void *out, size_t n,
                             enum format f, unsigned folds)
{
    return sum_by_f16c(array, arrays, out, n, f, folds);
}

AVX512 static size_t avx512(const void *const *array, size_t arrays, void *out, size_t n,
                            enum format f, unsigned folds)
{
    return sum_by_f16c(array, arrays, out, n, f, folds);
}
#endif

static size_t baseline(const void *const *array, size_t arrays, void *out, size_t n, enum format f,
                       unsigned folds)
{
    return sum(array, arrays, out, n, f, folds);
}

const struct arrays_variant arrays_variant[] = {
#ifdef __x86_64__
    {"avx512", has_avx512_f16c, avx512},
    {"avx2", has_avx2_f16c, avx2},
#endif
    {"baseline", always, baseline},
};
const size_t arrays_variants = sizeof arrays_variant / sizeof *arrays_variant;

void arrays_sum(const void *const *array, size_t arrays, void *out, size_t n, enum format f,
                unsigned folds)
{
    size_t v = 0;
    if (arrays == 0) { /* +0 in every format */
        memset(out, 0, n * (size_t)format_facts[f].bytes);
        return;
    }
    while (!arrays_variant[v].available())
        v++;
    arrays_variant[v].sum(array, arrays, out, n, f, folds);
}
