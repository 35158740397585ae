/* Elements into the bins at memory speed, many lanes at a time. Compiled with -O3.
 *
 * A block is read twice: for its largest magnitude, which says what window it needs, and to be cut
 * (binned_lanes.h). The second time it comes from the first-level cache. fp16, bf16 and fp32 are
 * cut in float where the bins are narrow enough, all else in double. What is not finite, and blocks
 * of nothing but zeros, are left to the specification.
 *
 * The functions marked INLINE are compiled once into each variant, with its instruction set, its
 * width of vectors, and with a number of bins that is a constant there. */
#include "kernels/blocks/binned_state.h"
#include "kernels/blocks/element.h"
#include "reference/base/variants.h"

enum { BLOCK = 2048, SINGLES = 16, DOUBLES = 8 };

/* The encoding of the largest magnitude; NaN is larger than infinity. */
INLINE uint32_t largest_single(const float *x, size_t count)
{
    int32_t top[SINGLES] = {0}, largest = 0;
    for (size_t i = 0; i < count; i += SINGLES)
        for (size_t lane = 0; lane < SINGLES; lane++) {
            int32_t bits;
            memcpy(&bits, x + i + lane, sizeof bits);
            bits &= INT32_MAX;
            top[lane] = bits > top[lane] ? bits : top[lane];
        }
    for (size_t lane = 0; lane < SINGLES; lane++)
        largest = top[lane] > largest ? top[lane] : largest;
    return (uint32_t)largest;
}

INLINE uint64_t largest_double(const double *x, size_t count)
{
    int64_t top[DOUBLES] = {0}, largest = 0;
    for (size_t i = 0; i < count; i += DOUBLES)
        for (size_t lane = 0; lane < DOUBLES; lane++) {
            int64_t bits = (int64_t)double_bits(x[i + lane]) & INT64_MAX;
            top[lane] = bits > top[lane] ? bits : top[lane];
        }
    for (size_t lane = 0; lane < DOUBLES; lane++)
        largest = top[lane] > largest ? top[lane] : largest;
    return (uint64_t)largest;
}

INLINE const float *decode_singles(const struct array *a, size_t begin, size_t count, float *buffer)
{
    const char *data = (const char *)a->data + array_bytes(a->format, begin);
    switch (a->format) {
    case FP16:
        for (size_t i = 0; i < count; i++)
            buffer[i] = element_single(FP16, FP32, data, i);
        break;
    case BF16:
        for (size_t i = 0; i < count; i++)
            buffer[i] = element_single(BF16, FP32, data, i);
        break;
    case E4M3:
        for (size_t i = 0; i < count; i++)
            buffer[i] = element_single(E4M3, FP32, data, i);
        break;
    case E5M2:
        for (size_t i = 0; i < count; i++)
            buffer[i] = element_single(E5M2, FP32, data, i);
        break;
    case FP32:
    case FP64: /* is cut in double */
        return (const float *)(const void *)data;
    }
    return buffer;
}

INLINE const double *decode_doubles(const struct array *a, size_t begin, size_t count,
                                    double *buffer)
{
    if (a->format == FP64)
        return (const double *)a->data + begin;
    array_decode(a, begin, count, buffer);
    return buffer;
}

/* Raises the window to what a block needs; false where the block is for the specification. */
INLINE bool survey(struct binned_state *s, uint64_t largest, int fraction_bits, int bias)
{
    int field = (int)(largest >> fraction_bits);
    if (largest == 0 || field == 2 * bias + 1)
        return false;
    binned_raise(s, binned_window(&s->bins, (field ? field : 1) - bias));
    return true;
}

#define LINE        16
#define SIZED(name) name##_16
#include "kernels/blocks/binned_lanes.h"
#ifdef __x86_64__
#define LINE        32
#define SIZED(name) name##_32
#include "kernels/blocks/binned_lanes.h"
#define LINE        64
#define SIZED(name) name##_64
#include "kernels/blocks/binned_lanes.h"
#endif

static void baseline(struct binned_state *s, const struct array *a, size_t begin, size_t count)
{
    add_16(s, a, begin, count);
}

#ifdef __x86_64__
AVX2 static void avx2(struct binned_state *s, const struct array *a, size_t begin, size_t count)
{
    add_32(s, a, begin, count);
}

AVX512 static void avx512(struct binned_state *s, const struct array *a, size_t begin, size_t count)
{
    add_64(s, a, begin, count);
}
#endif

const struct binned_variant binned_variant[] = {
#ifdef __x86_64__
    {"avx512", has_avx512, avx512},
    {"avx2", has_avx2, avx2},
#endif
    {"baseline", always, baseline},
};
const size_t binned_variants = sizeof binned_variant / sizeof *binned_variant;
