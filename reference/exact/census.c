/* Works on encodings without their sign, as integers: they are ordered as the magnitudes are.
 * The loops have no branches and the counters the width of the elements, so that they become
 * vector code. */
#include "reference/exact/census.h"

#include <float.h>
#include <math.h>

#include "reference/format/pair.h"
#include "reference/base/variants.h"

typedef int16_t __attribute__((may_alias)) word16;
typedef int32_t __attribute__((may_alias)) word32;
typedef int64_t __attribute__((may_alias)) word64;

#define TALLY(name, type, word)                                                                    \
    INLINE struct census_tally name(const word *x, size_t count, type normal, type inf)            \
    {                                                                                              \
        const type mask = inf | (normal - 1);                                                      \
        type zeros = 0, below = 0, infs = 0, nans = 0, smallest = mask, largest = 0;               \
        for (size_t i = 0; i < count; i++) {                                                       \
            type m = x[i] & mask, finite = m < inf ? m : 0, nonzero = m ? m : mask;                \
            zeros += m == 0;                                                                       \
            below += m < normal;                                                                   \
            infs += m == inf;                                                                      \
            nans += m > inf;                                                                       \
            smallest = nonzero < smallest ? nonzero : smallest;                                    \
            largest = finite > largest ? finite : largest;                                         \
        }                                                                                          \
        return (struct census_tally){                                                              \
            (uint64_t)zeros, (uint64_t)(below - zeros), (uint64_t)infs,                            \
            (uint64_t)nans,  (uint64_t)smallest,        (uint64_t)largest};                        \
    }

TALLY(tally_16, int16_t, word16)
TALLY(tally_32, int32_t, word32)
TALLY(tally_64, int64_t, word64)

/* Doubles where there are no comparisons of 64-bit integers in vectors. */
struct tally_pairs {
    pair_bits zeros, below, infs, nans;
    pair smallest, largest;
};

static inline void tally_pair(struct tally_pairs *t, pair x)
{
    const pair zero = {0, 0}, normal = {DBL_MIN, DBL_MIN}, inf = {INFINITY, INFINITY};
    pair m = pair_abs(x);
    pair_bits none = m == zero;
    t->zeros -= none;
    t->below -= m < normal;
    t->infs -= m == inf;
    t->nans -= m != m;
    pair finite = (pair)((pair_bits)m & (m < inf)), nonzero = pair_select(none, inf, m);
    t->smallest = pair_select(nonzero < t->smallest, nonzero, t->smallest);
    t->largest = pair_select(finite > t->largest, finite, t->largest);
}

static struct census_tally tally_pairs(const double *x, size_t count)
{
    struct tally_pairs t = {.smallest = {INFINITY, INFINITY}};
    for (size_t i = 0; i + 1 < count; i += 2)
        tally_pair(&t, pair_load(x + i));
    if (count % 2)
        tally_pair(&t, (pair){x[count - 1], NAN}); /* a NaN too many */
    uint64_t zeros = (uint64_t)(t.zeros[0] + t.zeros[1]);
    return (struct census_tally){zeros,
                                 (uint64_t)(t.below[0] + t.below[1]) - zeros,
                                 (uint64_t)(t.infs[0] + t.infs[1]),
                                 (uint64_t)(t.nans[0] + t.nans[1]) - count % 2,
                                 double_bits(fmin(t.smallest[0], t.smallest[1])),
                                 double_bits(fmax(t.largest[0], t.largest[1]))};
}

/* Few encodings: each is counted. */
INLINE struct census_tally tally_8(enum format f, const uint8_t *x, size_t count)
{
    const struct format_facts *facts = &format_facts[f];
    const unsigned normal = 1u << (facts->precision - 1), nans = (unsigned)facts->last + 1;
    const unsigned infs = facts->too_large == INFINITY ? nans - 1 : nans;
    uint32_t seen[256] = {0};
    for (size_t i = 0; i < count; i++)
        seen[x[i]]++;
    struct census_tally t = {.zeros = seen[0] + seen[128], .smallest = facts->last + 1};
    for (unsigned m = 127; m > 0; m--) {
        uint32_t both = seen[m] + seen[m + 128];
        t.subnormals += m < normal ? both : 0;
        t.infs += m >= infs && m < nans ? both : 0;
        t.nans += m >= nans ? both : 0;
        t.smallest = both && m < infs ? m : t.smallest;
        t.largest = both && m < infs && m > t.largest ? m : t.largest;
    }
    return t;
}

INLINE struct census_tally tally(const struct array *a, size_t begin, size_t count, bool pairs)
{
    const struct format_facts *facts = &format_facts[a->format];
    const uint64_t normal = UINT64_C(1) << (facts->precision - 1), inf = facts->specials;
    switch (a->format) {
    case FP16:
    case BF16:
        return tally_16((const word16 *)a->data + begin, count, (int16_t)normal, (int16_t)inf);
    case FP32:
        return tally_32((const word32 *)a->data + begin, count, (int32_t)normal, (int32_t)inf);
    case FP64:
        return pairs ? tally_pairs((const double *)a->data + begin, count)
                     : tally_64((const word64 *)a->data + begin, count, (int64_t)normal,
                                (int64_t)inf);
    case E4M3:
    case E5M2:
        break;
    }
    return tally_8(a->format, (const uint8_t *)a->data + begin, count);
}

static struct census_tally baseline(const struct array *a, size_t begin, size_t count)
{
    return tally(a, begin, count, true);
}

/* They call no function: gcc 12 forgets to clear the upper halves of the registers where they do,
 * and all that follows is slow. */
#ifdef __x86_64__
AVX2 static struct census_tally avx2(const struct array *a, size_t begin, size_t count)
{
    return tally(a, begin, count, false);
}

AVX512 static struct census_tally avx512(const struct array *a, size_t begin, size_t count)
{
    return tally(a, begin, count, false);
}
#endif

const struct census_variant census_variant[] = {
#ifdef __x86_64__
    {"avx512", has_avx512, avx512},
    {"avx2", has_avx2, avx2},
#endif
    {"baseline", always, baseline},
};
const size_t census_variants = sizeof census_variant / sizeof *census_variant;

static void take(struct census *c, const struct census_tally *t, enum format f)
{
    c->zeros += t->zeros;
    c->subnormals += t->subnormals;
    c->infs += t->infs;
    c->nans += t->nans;
    if (t->largest > 0) {
        double smallest = format_decode(f, t->smallest), largest = format_decode(f, t->largest);
        c->smallest = c->smallest == 0 || smallest < c->smallest ? smallest : c->smallest;
        c->largest = largest > c->largest ? largest : c->largest;
    }
}

void census_add_by(const struct census_variant *v, struct census *c, const struct array *a,
                   size_t begin, size_t count)
{
    for (size_t block; count > 0; begin += block, count -= block) {
        block = count < CENSUS_BLOCK ? count : CENSUS_BLOCK;
        struct census_tally t = v->tally(a, begin, block);
        take(c, &t, a->format);
    }
}

void census_add(struct census *c, const struct array *a, size_t begin, size_t count)
{
    const struct census_variant *v = census_variant;
    while (!v->available())
        v++;
    census_add_by(v, c, a, begin, count);
}
