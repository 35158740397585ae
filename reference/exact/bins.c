/* Significands are gathered as integers, a bin for each sign and exponent field, and only full
 * bins touch the fixed-point numbers. Neighbouring elements go to different sets of bins: most
 * data has few exponents, and adding to the word just stored would wait for the store. */
#include "reference/exact/bins.h"

#include <float.h>
#include <math.h>

#include "reference/format/pair.h"

/* Encodings are read regardless of the type that wrote them. */
typedef uint16_t __attribute__((may_alias)) word16;
typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;
typedef uint64_t pair_words __attribute__((vector_size(16)));

/* A load is taken to depend on an earlier store 4096 bytes away, and waits for it: sets lie some
 * lines more apart than that, so that an exponent's bins do not collide. */
enum { APART = 24 };

enum { WIDE_SETS = 2, WIDE_BINS = 4096, NARROW_SETS = 4, NARROW_BINS = 512 };

/* ---- doubles ---- */

/* Every element is given an implicit bit; `tiny` counts those that have none. */
struct wide {
    uint64_t low[WIDE_SETS][WIDE_BINS + APART];
    uint64_t carry[WIDE_BINS]; /* out of low[], 2^64 each */
    uint64_t tiny[2];          /* zeros and subnormals, by sign */
};

static inline void wide_add(struct wide *w, int set, uint64_t bits)
{
    const uint64_t implicit = UINT64_C(1) << 52;
    uint64_t *low = &w->low[set][bits >> 52];
    /* Rare: without a branch, each element would touch carry[] too. */
    if (__builtin_expect(__builtin_add_overflow(*low, (bits & (implicit - 1)) | implicit, low), 0))
        w->carry[bits >> 52]++;
}

/* Two sets of all bins are more than the first-level cache holds: where exponents are further apart
 * than this, as far as some elements tell, one set serves. */
enum { WIDE_RANGE = 512 };

/* Elements that are looked at together for it: data that is sorted, or nearly, has few exponents
 * then. */
enum { WIDE_LOOK = 1 << 18 };

static size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

static unsigned wide_range(const word64 *bits, size_t count)
{
    unsigned least = 2047, most = 0;
    for (size_t i = 0; i < count; i += 1 + count / 64) {
        unsigned field = bits[i] >> 52 & 2047;
        least = field < least ? field : least;
        most = field > most ? field : most;
    }
    return most - least;
}

/* Without branches, as nothing predicts where data is sparse. */
static void count_tiny(struct wide *w, const word64 *bits, size_t count)
{
    const pair normal = {DBL_MIN, DBL_MIN};
    pair_words all = {0, 0}, negative = {0, 0};
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        pair x = pair_load(bits + i);
        pair_words tiny = (pair_words)(pair_abs(x) < normal);
        all -= tiny;
        negative += tiny & ((pair_words)x >> 63);
    }
    w->tiny[1] += negative[0] + negative[1];
    w->tiny[0] += all[0] + all[1] - negative[0] - negative[1];
    if (i < count && (bits[i] >> 52 & 2047) == 0)
        w->tiny[bits[i] >> 63]++;
}

/* Elements that cannot add a multiple of 2^64 to these bins; few enough that the next ones are
 * fetched while they are counted. */
enum { WIDE_BLOCK = 128 };

/* Elements are fetched so far ahead: left to itself, the processor waits for them where the bins in
 * use fill its first-level cache. */
enum { WIDE_AHEAD = 512 };

static uint64_t tiny_bins(const struct wide *w)
{
    return w->low[0][0] + w->low[0][2048] + w->low[1][0] + w->low[1][2048];
}

static void wide_block(struct wide *w, int set, const word64 *bits, size_t count)
{
    uint64_t before = tiny_bins(w);
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        __builtin_prefetch(bits + i + WIDE_AHEAD);
        wide_add(w, 0, bits[i]);
        wide_add(w, set, bits[i + 1]);
        wide_add(w, 0, bits[i + 2]);
        wide_add(w, set, bits[i + 3]);
    }
    for (; i < count; i++)
        wide_add(w, 0, bits[i]);
    if (tiny_bins(w) != before)
        count_tiny(w, bits, count);
}

/* Returns true if there are elements that are not finite, which remain to be classified. */
static bool wide_empty(struct exact *e, const struct wide *w)
{
    bool specials = false;
    for (unsigned bin = 0; bin < WIDE_BINS; bin++) {
        unsigned field = bin % 2048, sign = bin / 2048;
        unsigned __int128 sum = (unsigned __int128)w->carry[bin] << 64;
        for (int set = 0; set < WIDE_SETS; set++)
            sum += w->low[set][bin];
        if (sum == 0)
            continue;
        if (field == 0)
            sum -= (unsigned __int128)w->tiny[sign] << 52;
        e->plain |= field != 0 || sign == 0 || sum != 0;
        if (field == 0x7ff)
            specials = true;
        else
            fixed_add_at(&e->side[sign], sum, field == 0 ? 0 : field - 1);
    }
    return specials;
}

static bool wide_bins(struct exact *e, const word64 *bits, size_t count)
{
    struct wide w;
    memset(&w, 0, sizeof w);
    for (size_t begin = 0; begin < count; begin += WIDE_LOOK) {
        const word64 *look = bits + begin;
        const size_t looked = at_most(count - begin, WIDE_LOOK);
        const int set = wide_range(look, looked) <= WIDE_RANGE;
        for (size_t at = 0; at < looked; at += WIDE_BLOCK)
            wide_block(&w, set, look + at, at_most(looked - at, WIDE_BLOCK));
    }
    e->empty = false;
    return wide_empty(e, &w);
}

/* ---- fp16, bf16, fp32 ---- */

/* A bin holds the number of its elements above bit 42, the sum of their fractions below: a set
 * takes 2^18 fractions, and 3 more at the end, of at most 23 bits. */
enum { NARROW_COUNT = 42 };

typedef uint64_t narrow_set[NARROW_BINS + APART];

static inline void narrow_add(uint64_t *bin, uint32_t bits, int fraction_bits)
{
    uint32_t fraction = bits & ((UINT32_C(1) << fraction_bits) - 1);
    bin[bits >> fraction_bits] += UINT64_C(1) << NARROW_COUNT | fraction;
}

/* Returns true if there are NaNs: the sum of fractions does not show whether there are infinities
 * as well. */
static bool narrow_empty(struct exact *e, const narrow_set *bins, enum format f)
{
    bool nans = false;
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
            nans |= fractions != 0;
            e->inf[sign] |= fractions == 0;
        } else if (field == 0) {
            fixed_add_at(&e->side[sign], fractions, lowest);
        } else {
            fixed_add_at(&e->side[sign], fractions + (count << fraction_bits), lowest + field - 1);
        }
    }
    return nans;
}

static bool bins_16(struct exact *e, const word16 *bits, size_t count, enum format f)
{
    int fraction_bits = format_facts[f].precision - 1;
    narrow_set bins[NARROW_SETS] = {{0}};
    size_t i = 0;
    for (; i + NARROW_SETS <= count; i += NARROW_SETS)
        for (int set = 0; set < NARROW_SETS; set++)
            narrow_add(bins[set], bits[i + set], fraction_bits);
    for (; i < count; i++)
        narrow_add(bins[0], bits[i], fraction_bits);
    return narrow_empty(e, bins, f);
}

static bool bins_32(struct exact *e, const word32 *bits, size_t count)
{
    narrow_set bins[NARROW_SETS] = {{0}};
    size_t i = 0;
    for (; i + NARROW_SETS <= count; i += NARROW_SETS)
        for (int set = 0; set < NARROW_SETS; set++)
            narrow_add(bins[set], bits[i + set], 23);
    for (; i < count; i++)
        narrow_add(bins[0], bits[i], 23);
    return narrow_empty(e, bins, FP32);
}

/* ---- any ---- */

static void find_specials(struct exact *e, const struct array *a, size_t begin, size_t count)
{
    for (size_t i = begin; i < begin + count; i++) {
        double x = array_get(a, i);
        e->nan |= isnan(x);
        e->inf[signbit(x) != 0] |= isinf(x) != 0;
    }
}

/* Each encoding is counted, and its value times its count is a double. */
static void bins_8(struct exact *e, enum format f, const uint8_t *bits, size_t count)
{
    uint32_t seen[NARROW_SETS][256] = {{0}};
    for (size_t i = 0; i < count; i++)
        seen[i % NARROW_SETS][bits[i]]++;
    for (unsigned bits8 = 0; bits8 < 256; bits8++) {
        uint32_t times = 0;
        for (int set = 0; set < NARROW_SETS; set++)
            times += seen[set][bits8];
        if (times > 0)
            exact_add(e, format_decode(f, bits8) * times);
    }
}

void bins_add(struct exact *e, const struct array *a, size_t begin, size_t count)
{
    bool specials = false;
    switch (a->format) {
    case FP16:
    case BF16:
        specials = bins_16(e, (const word16 *)a->data + begin, count, a->format);
        break;
    case FP32:
        specials = bins_32(e, (const word32 *)a->data + begin, count);
        break;
    case FP64:
        specials = wide_bins(e, (const word64 *)a->data + begin, count);
        break;
    case E4M3:
    case E5M2:
        bins_8(e, a->format, (const uint8_t *)a->data + begin, count);
    }
    if (specials)
        find_specials(e, a, begin, count);
}
