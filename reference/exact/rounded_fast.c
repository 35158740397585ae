/* Arrays of lanes, in loops that the compiler turns into vector code. The functions marked INLINE
 * are compiled once into each variant, with its instruction set and with formats that are constants
 * there. Lanes begin at -0, which changes no sum. */
#include "reference/exact/rounded_fast.h"
#include "reference/base/variants.h"

INLINE double element(enum format storage, const void *data, size_t i)
{
    switch (storage) {
    case BF16:
        return float_from_bits((uint32_t)((const uint16_t *)data)[i] << 16);
    case FP32:
        return ((const float *)data)[i];
    case FP16: /* these are counted, below and in bins.c */
    case E4M3:
    case E5M2:
    case FP64:
        break;
    }
    return ((const double *)data)[i];
}

/* Bytes are fetched so far ahead: left to itself, the processor reads at 0.75 of its speed here. */
enum { AHEAD = 4096 };

INLINE void estimate_lanes(enum format storage, const struct array *a, size_t begin, size_t count,
                           struct estimate *to)
{
    const char *data = (const char *)a->data + array_bytes(storage, begin);
    const size_t row = array_bytes(storage, ROUNDED_LANES);
    double sum[ROUNDED_LANES], errors[ROUNDED_LANES], sizes[ROUNDED_LANES];
    for (int c = 0; c < ROUNDED_LANES; c++) {
        sum[c] = -0.0;
        errors[c] = sizes[c] = 0;
    }
    for (; count >= ROUNDED_LANES; count -= ROUNDED_LANES, data += row) {
        for (size_t line = 0; line < row; line += 64)
            __builtin_prefetch(data + AHEAD + line);
        for (int c = 0; c < ROUNDED_LANES; c++) {
            struct estimate lane = {sum[c], errors[c], sizes[c]};
            estimate_add(&lane, element(storage, data, (size_t)c));
            sum[c] = lane.sum;
            errors[c] = lane.errors;
            sizes[c] = lane.sizes;
        }
    }
    *to = (struct estimate){-0.0, 0, 0};
    for (size_t i = 0; i < count; i++)
        estimate_add(to, element(storage, data, i));
    for (int c = 0; c < ROUNDED_LANES; c++) {
        estimate_add(to, sum[c]);
        to->errors += errors[c];
        to->sizes += sizes[c];
    }
}

INLINE void estimate_any(const struct array *a, size_t begin, size_t count, struct estimate *e)
{
    switch (a->format) {
    case BF16:
        estimate_lanes(BF16, a, begin, count, e);
        break;
    case FP32:
        estimate_lanes(FP32, a, begin, count, e);
        break;
    case FP64:
        estimate_lanes(FP64, a, begin, count, e);
        break;
    case FP16: /* not asked for: rounded.c begins with counting them */
    case E4M3:
    case E5M2:
        *e = (struct estimate){-0.0, 0, 0};
    }
}

/* Finite elements only: a significand of 11 bits, shifted by up to 29. */
INLINE int64_t unit_count(uint16_t bits)
{
    uint32_t field = bits >> 10 & 31, normal = field != 0;
    int32_t sign = -(int32_t)(bits >> 15), significand = (bits & 1023) | (int32_t)normal << 10;
    significand = (significand ^ sign) - sign;
    return (int64_t)((uint64_t)(int64_t)significand << (field - normal));
}

INLINE bool units_lanes(const struct array *a, size_t begin, size_t count, int64_t *to, bool *plain)
{
    const uint16_t *bits = (const uint16_t *)a->data + begin;
    int64_t sum[ROUNDED_LANES] = {0}, total = 0;
    uint16_t top[ROUNDED_LANES] = {0}, differs[ROUNDED_LANES] = {0};
    uint16_t largest = 0, other = 0;
    for (; count >= ROUNDED_LANES; count -= ROUNDED_LANES, bits += ROUNDED_LANES) {
        for (int c = 0; c < ROUNDED_LANES; c++)
            sum[c] += unit_count(bits[c]);
        for (int c = 0; c < ROUNDED_LANES; c++) {
            uint16_t magnitude = bits[c] & 0x7fff;
            top[c] = magnitude > top[c] ? magnitude : top[c];
            differs[c] |= bits[c] ^ 0x8000;
        }
    }
    for (int c = 0; c < ROUNDED_LANES; c++) {
        total += sum[c];
        largest = top[c] > largest ? top[c] : largest;
        other |= differs[c];
    }
    for (size_t i = 0; i < count; i++) {
        total += unit_count(bits[i]);
        largest = (bits[i] & 0x7fff) > largest ? bits[i] & 0x7fff : largest;
        other |= bits[i] ^ 0x8000;
    }
    *to = total;
    *plain = other != 0;
    return largest < 0x7c00;
}

static void estimate_baseline(const struct array *a, size_t begin, size_t count, struct estimate *e)
{
    estimate_any(a, begin, count, e);
}

#ifdef __x86_64__
AVX2 static void estimate_avx2(const struct array *a, size_t begin, size_t count,
                               struct estimate *e)
{
    estimate_any(a, begin, count, e);
}

AVX2 static bool units_avx2(const struct array *a, size_t begin, size_t count, int64_t *sum,
                            bool *plain)
{
    return units_lanes(a, begin, count, sum, plain);
}

AVX512 static void estimate_avx512(const struct array *a, size_t begin, size_t count,
                                   struct estimate *e)
{
    estimate_any(a, begin, count, e);
}

AVX512 static bool units_avx512(const struct array *a, size_t begin, size_t count, int64_t *sum,
                                bool *plain)
{
    return units_lanes(a, begin, count, sum, plain);
}
#endif

/* Without shifts by different amounts in a vector, counting in units is slower than the bins. */
const struct rounded_variant rounded_variant[] = {
#ifdef __x86_64__
    {"avx512", has_avx512, estimate_avx512, units_avx512},
    {"avx2", has_avx2, estimate_avx2, units_avx2},
#endif
    {"baseline", always, estimate_baseline, NULL},
};
const size_t rounded_variants = sizeof rounded_variant / sizeof *rounded_variant;

const struct rounded_variant *rounded_fastest(void)
{
    const struct rounded_variant *v = rounded_variant;
    while (!v->available())
        v++;
    return v;
}
