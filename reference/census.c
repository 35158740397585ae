/* Works on encodings without their sign, as integers: they are ordered as the magnitudes are.
 * The loops have no branches and the counters the width of the elements, so that they become
 * vector code. */
#include "reference/census.h"

/* Counters of 16 bits must not overflow in a block. */
enum { CENSUS_BLOCK = 4096 };

typedef int16_t __attribute__((may_alias)) word16;
typedef int32_t __attribute__((may_alias)) word32;
typedef int64_t __attribute__((may_alias)) word64;

struct tally {
    uint64_t zeros, subnormals, infs, nans;
    uint64_t smallest, largest; /* of nonzero numbers, of finite ones; smallest >= inf: none */
};

#define TALLY(name, type, word)                                                                    \
    static struct tally name(const word *x, size_t count, type normal, type inf)                   \
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
        return (struct tally){(uint64_t)zeros, (uint64_t)(below - zeros), (uint64_t)infs,          \
                              (uint64_t)nans,  (uint64_t)smallest,        (uint64_t)largest};      \
    }

TALLY(tally_16, int16_t, word16)
TALLY(tally_32, int32_t, word32)
TALLY(tally_64, int64_t, word64)

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t more(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The common block of doubles: if all of them are normal numbers, their range is all there is to
 * tell. Two at a time, as each comparison waits for the one before; all begin with the last
 * element, which may have no partner. */
static bool tally_normal_64(struct tally *t, const word64 *x, size_t count)
{
    int64_t last = x[count - 1] & INT64_MAX;
    int64_t smallest[2] = {last, last}, largest[2] = {last, last};
    for (size_t i = 0; i + 1 < count; i += 2) {
        int64_t m = x[i] & INT64_MAX, next = x[i + 1] & INT64_MAX;
        smallest[0] = less(m, smallest[0]);
        smallest[1] = less(next, smallest[1]);
        largest[0] = more(m, largest[0]);
        largest[1] = more(next, largest[1]);
    }
    t->smallest = (uint64_t)less(smallest[0], smallest[1]);
    t->largest = (uint64_t)more(largest[0], largest[1]);
    return t->smallest >= UINT64_C(1) << 52 && t->largest < UINT64_C(0x7ff) << 52;
}

static struct tally tally(const struct array *a, size_t begin, size_t count, uint64_t inf)
{
    uint64_t normal = UINT64_C(1) << (format_facts[a->format].precision - 1);
    struct tally t = {0};
    if (a->format == FP64 && tally_normal_64(&t, (const word64 *)a->data + begin, count))
        return t;
    if (a->format == FP64)
        return tally_64((const word64 *)a->data + begin, count, (int64_t)normal, (int64_t)inf);
    if (a->format == FP32)
        return tally_32((const word32 *)a->data + begin, count, (int32_t)normal, (int32_t)inf);
    return tally_16((const word16 *)a->data + begin, count, (int16_t)normal, (int16_t)inf);
}

static void add_block(struct census *c, const struct array *a, size_t begin, size_t count)
{
    uint64_t inf = format_encode(a->format, __builtin_inf());
    struct tally t = tally(a, begin, count, inf);
    c->zeros += t.zeros;
    c->subnormals += t.subnormals;
    c->infs += t.infs;
    c->nans += t.nans;
    if (t.smallest < inf) {
        double smallest = format_decode(a->format, t.smallest);
        double largest = format_decode(a->format, t.largest);
        c->smallest = c->smallest == 0 || smallest < c->smallest ? smallest : c->smallest;
        c->largest = largest > c->largest ? largest : c->largest;
    }
}

void census_add(struct census *c, const struct array *a, size_t begin, size_t count)
{
    while (count > 0) {
        size_t block = count < CENSUS_BLOCK ? count : CENSUS_BLOCK;
        add_block(c, a, begin, block);
        begin += block;
        count -= block;
    }
}
