/* Significands are gathered as integers, a bin for each sign and exponent field, and only full
 * bins touch the fixed-point numbers. Neighbouring elements go to different sets of bins: most
 * data has few exponents, and adding to the word just stored would wait for the store. */
#include "reference/bins.h"

#include <float.h>
#include <math.h>

#include "reference/pair.h"

/* Encodings are read whatever type wrote them. */
typedef uint16_t __attribute__((may_alias)) word16;
typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

enum { WIDE_SETS = 2, WIDE_BINS = 4096, NARROW_SETS = 4, NARROW_BINS = 512 };

/* ---- doubles ---- */

struct wide {
    uint64_t low[WIDE_SETS][WIDE_BINS];
    uint64_t carry[WIDE_BINS]; /* out of low[], 2^64 each */
};

static inline void wide_add(struct wide *w, int set, uint64_t bits)
{
    const uint64_t implicit = UINT64_C(1) << 52;
    uint64_t *low = &w->low[set][bits >> 52];
    if (__builtin_add_overflow(*low, (bits & (implicit - 1)) | implicit, low))
        w->carry[bits >> 52]++;
}

/* Fractions of 52 bits must not overflow in a block. */
enum { SPECIAL_BLOCK = 4096 };

struct specials {
    pair_bits fractions, negative; /* of subnormals: all, and of those below zero */
    pair_bits nan, plus_inf, minus_inf, plain;
};

static inline void specials_add(struct specials *s, pair x)
{
    const pair normal = {DBL_MIN, DBL_MIN}, zero = {0, 0}, inf = {INFINITY, INFINITY};
    pair m = pair_abs(x);
    pair_bits fraction = (pair_bits)m & (m < normal);
    s->fractions += fraction;
    s->negative += fraction & (x < zero);
    s->nan |= x != x;
    s->plus_inf |= x == inf;
    s->minus_inf |= x == -inf;
    s->plain |= (pair_bits)x ^ (pair_bits)-zero;
}

/* Exponent fields 0 and 0x7ff were gathered with an implicit bit that they do not have: their bins
 * only tell that there are some. This adds what they are, and no other element; without branches,
 * as nothing predicts where data is sparse. */
static void wide_specials(struct exact *e, const word64 *bits, size_t count)
{
    struct specials s = {0};
    for (size_t i = 0; i + 1 < count; i += 2)
        specials_add(&s, pair_load(bits + i));
    if (count % 2)
        specials_add(&s, (pair){double_from_bits(bits[count - 1]), -0.0}); /* -0 changes nothing */
    uint64_t negative = (uint64_t)s.negative[0] + (uint64_t)s.negative[1];
    uint64_t positive = (uint64_t)s.fractions[0] + (uint64_t)s.fractions[1] - negative;
    fixed_add_at(&e->side[0], positive, 0);
    fixed_add_at(&e->side[1], negative, 0);
    e->nan |= (s.nan[0] | s.nan[1]) != 0;
    e->inf[0] |= (s.plus_inf[0] | s.plus_inf[1]) != 0;
    e->inf[1] |= (s.minus_inf[0] | s.minus_inf[1]) != 0;
    e->plain |= (s.plain[0] | s.plain[1]) != 0;
}

static void wide_bins(struct exact *e, const word64 *bits, size_t count)
{
    struct wide w;
    memset(&w, 0, sizeof w);
    size_t i = 0;
    for (; i + WIDE_SETS <= count; i += WIDE_SETS)
        for (int set = 0; set < WIDE_SETS; set++)
            wide_add(&w, set, bits[i + set]);
    for (; i < count; i++)
        wide_add(&w, 0, bits[i]);

    bool specials = false;
    for (unsigned bin = 0; bin < WIDE_BINS; bin++) {
        unsigned field = bin % 2048;
        unsigned __int128 sum = (unsigned __int128)w.carry[bin] << 64;
        for (int set = 0; set < WIDE_SETS; set++)
            sum += w.low[set][bin];
        if (sum == 0)
            continue;
        if (field == 0 || field == 0x7ff)
            specials = true;
        else
            fixed_add_at(&e->side[bin / 2048], sum, field - 1);
    }
    e->empty = false;
    e->plain |= !specials;
    for (size_t begin = 0; specials && begin < count; begin += SPECIAL_BLOCK)
        wide_specials(e, bits + begin,
                      count - begin < SPECIAL_BLOCK ? count - begin : SPECIAL_BLOCK);
}

/* ---- fp16, bf16, fp32 ---- */

/* A bin holds the number of its elements above bit 40, the sum of their fractions below:
 * 2^16 fractions of at most 23 bits. */
enum { NARROW_COUNT = 40 };

static inline void narrow_add(uint64_t bin[NARROW_BINS], uint32_t bits, int fraction_bits)
{
    uint32_t fraction = bits & ((UINT32_C(1) << fraction_bits) - 1);
    bin[bits >> fraction_bits] += UINT64_C(1) << NARROW_COUNT | fraction;
}

static void narrow_empty(struct exact *e, uint64_t bins[NARROW_SETS][NARROW_BINS], enum format f)
{
    const struct format_facts *facts = &format_facts[f];
    int fraction_bits = facts->precision - 1;
    unsigned fields = 1u << (8 * facts->bytes - 1 - fraction_bits);
    unsigned lowest = (unsigned)(facts->emin - fraction_bits - FIXED_LOWEST);
    for (unsigned bin = 0; bin < 2 * fields; bin++) {
        unsigned sign = bin / fields, field = bin % fields;
        uint64_t fractions = 0, count = 0;
        for (int set = 0; set < NARROW_SETS; set++) {
            count += bins[set][bin] >> NARROW_COUNT;
            fractions += bins[set][bin] & ((UINT64_C(1) << NARROW_COUNT) - 1);
        }
        if (count == 0)
            continue;
        e->empty = false;
        e->plain |= sign == 0 || field != 0 || fractions != 0;
        if (field == fields - 1) {
            e->nan |= fractions != 0;
            e->inf[sign] |= fractions == 0;
        } else if (field == 0) {
            fixed_add_at(&e->side[sign], fractions, lowest);
        } else {
            fixed_add_at(&e->side[sign], fractions + (count << fraction_bits), lowest + field - 1);
        }
    }
}

static void bins_16(struct exact *e, const word16 *bits, size_t count, enum format f)
{
    int fraction_bits = format_facts[f].precision - 1;
    uint64_t bins[NARROW_SETS][NARROW_BINS] = {{0}};
    for (size_t i = 0; i < count; i++)
        narrow_add(bins[i % NARROW_SETS], bits[i], fraction_bits);
    narrow_empty(e, bins, f);
}

static void bins_32(struct exact *e, const word32 *bits, size_t count)
{
    uint64_t bins[NARROW_SETS][NARROW_BINS] = {{0}};
    for (size_t i = 0; i < count; i++)
        narrow_add(bins[i % NARROW_SETS], bits[i], 23);
    narrow_empty(e, bins, FP32);
}

void bins_add(struct exact *e, const struct array *a, size_t begin, size_t count)
{
    if (a->format == FP64)
        wide_bins(e, (const word64 *)a->data + begin, count);
    else if (a->format == FP32)
        bins_32(e, (const word32 *)a->data + begin, count);
    else
        bins_16(e, (const word16 *)a->data + begin, count, a->format);
}
