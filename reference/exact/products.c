#include "reference/exact/products.h"

#include <math.h>
#include <stdlib.h>

#include "reference/exact/mpfr.h"
#include "reference/base/variants.h"

enum { SCALE = 1100 };
static const int products_scale[PRODUCTS_SCALES] = {-SCALE, 0, SCALE};

/* Products of this many pairs go to the superaccumulator together. */
enum { CHUNK = 1 << 16 };

void products_init(struct products *to)
{
    for (int k = 0; k < PRODUCTS_SCALES; k++)
        exact_init(&to->part[k]);
}

void products_merge(struct products *to, const struct products *from)
{
    for (int k = 0; k < PRODUCTS_SCALES; k++)
        exact_merge(&to->part[k], &from->part[k]);
}

/* x y = hi + lo with |hi| <= |x y|. Exact where lo's lowest bit, 2^-105 times the product or
 * higher, is no lower than 2^-1074 and hi is finite: what the rounded product lacks or has too much
 * fits in a double, and so does what it lacks where it is the next number towards zero. */
INLINE void split_one(double x, double y, double *hi, double *lo)
{
    double p = x * y, rest = __builtin_fma(x, y, -p);
    bool beyond = rest != 0 && (double_bits(rest) ^ double_bits(p)) >> 63;
    p = double_from_bits(double_bits(p) - (beyond ? 1 : 0));
    rest = __builtin_fma(x, y, -p);
    *hi = p;
    *lo = rest != 0 ? rest : -0.0;
}

/* Can it be done so? Of zeros it can; of infinities and NaNs not. */
INLINE bool plain(double x, double y, double hi)
{
    double size = __builtin_fabs(hi);
    return (size >= 0x1p-900 && size <= 0x1p1000) || ((x == 0 || y == 0) && hi == 0);
}

INLINE size_t split_all(const double *x, const double *y, size_t count, double *hi, double *lo)
{
    size_t others = 0;
    for (size_t i = 0; i < count; i++) {
        split_one(x[i], y[i], &hi[i], &lo[i]);
        others += !plain(x[i], y[i], hi[i]);
    }
    return others;
}

static size_t baseline(const double *x, const double *y, size_t count, double *hi, double *lo)
{
    return split_all(x, y, count, hi, lo);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static size_t avx2(const double *x, const double *y,
                                                       size_t count, double *hi, double *lo)
{
    return split_all(x, y, count, hi, lo);
}
#endif

const struct products_variant products_variant[] = {
#ifdef __x86_64__
    {"avx2", has_avx2_and_fma, avx2},
#endif
    {"baseline", always, baseline},
};
const size_t products_variants = sizeof products_variant / sizeof *products_variant;

const struct products_variant *products_fastest(void)
{
    const struct products_variant *v = products_variant;
    while (!v->available())
        v++;
    return v;
}

/* A product of any size. */
static void add_scaled(struct products *to, double x, double y)
{
    double hi = x * y, lo;
    if (!isfinite(x) || !isfinite(y)) {
        exact_add(&to->part[PRODUCTS_PLAIN], hi);
        return;
    }
    /* The smaller factor of a small product lies below 2^-449, the larger one of a large product
     * above 2^499: scaled by 2^SCALE, they stay in range and lose no bit. */
    bool small = fabs(hi) < 1, first = (fabs(x) < fabs(y)) == small;
    int scale = small ? SCALE : -SCALE;
    split_one(first ? ldexp(x, scale) : x, first ? y : ldexp(y, scale), &hi, &lo);
    exact_add(&to->part[small ? PRODUCTS_SMALL : PRODUCTS_LARGE], hi);
    exact_add(&to->part[small ? PRODUCTS_SMALL : PRODUCTS_LARGE], lo);
}

void products_add_one(struct products *to, double x, double y)
{
    double hi, lo;
    split_one(x, y, &hi, &lo);
    if (!plain(x, y, hi)) {
        add_scaled(to, x, y);
        return;
    }
    exact_add(&to->part[PRODUCTS_PLAIN], hi);
    exact_add(&to->part[PRODUCTS_PLAIN], lo);
}

/* The factors of a chunk, and what their products are taken apart into (of narrow formats nothing:
 * hi and lo are NULL). */
struct buffer {
    double *x, *y, *hi, *lo;
};

/* Terms that are added elsewhere leave -0 here, which changes no sum. */
static void add_doubles(struct products *to, struct buffer *b, size_t count)
{
    struct array hi = {FP64, count, b->hi}, lo = {FP64, count, b->lo};
    size_t others = products_fastest()->split(b->x, b->y, count, b->hi, b->lo);
    for (size_t i = 0; others > 0 && i < count; i++)
        if (!plain(b->x[i], b->y[i], b->hi[i])) {
            add_scaled(to, b->x[i], b->y[i]);
            b->hi[i] = b->lo[i] = -0.0;
        }
    exact_add_array(&to->part[PRODUCTS_PLAIN], &hi, 0, count);
    exact_add_array(&to->part[PRODUCTS_PLAIN], &lo, 0, count);
}

/* Products of narrower formats are doubles. */
static void add_narrow(struct products *to, struct buffer *b, size_t count)
{
    struct array product = {FP64, count, b->x};
    for (size_t i = 0; i < count; i++)
        b->x[i] *= b->y[i];
    exact_add_array(&to->part[PRODUCTS_PLAIN], &product, 0, count);
}

bool products_add(struct products *to, const struct array *a, const struct array *b, size_t begin,
                  size_t count)
{
    /* No more than the pairs need: many sums are short, and fresh memory costs more than adding. */
    size_t room = count < CHUNK ? count : CHUNK;
    bool narrow = a->format != FP64;
    double *memory = malloc(((narrow ? 2 : 4) * room + (room == 0)) * sizeof *memory);
    if (!memory)
        return false;
    struct buffer buffer = {memory, memory + room, NULL, NULL};
    if (!narrow) {
        buffer.hi = memory + 2 * room;
        buffer.lo = memory + 3 * room;
    }
    for (size_t chunk; count > 0; begin += chunk, count -= chunk) {
        chunk = count < CHUNK ? count : CHUNK;
        array_decode(a, begin, chunk, buffer.x);
        array_decode(b, begin, chunk, buffer.y);
        narrow ? add_narrow(to, &buffer, chunk) : add_doubles(to, &buffer, chunk);
    }
    free(memory);
    return true;
}

/* Adds what the parts hold, each by `get`. */
static void gather(mpfr_t to, const struct products *s,
                   void (*get)(mpfr_t to, const struct exact *e))
{
    mpfr_t part;
    mpfr_init2(part, MPFR_PREC_MIN);
    get(part, &s->part[PRODUCTS_PLAIN]);
    mpfr_set_prec(to, PRODUCTS_PRECISION);
    mpfr_set(to, part, MPFR_RNDN);
    for (int k = 0; k < PRODUCTS_SCALES; k++) {
        if (k == PRODUCTS_PLAIN || s->part[k].empty)
            continue;
        get(part, &s->part[k]);
        mpfr_mul_2si(part, part, products_scale[k], MPFR_RNDN);
        mpfr_add(to, to, part, MPFR_RNDN);
    }
    mpfr_clear(part);
}

void products_get(mpfr_t to, const struct products *s)
{
    gather(to, s, exact_get);
}

void products_get_abs(mpfr_t to, const struct products *s)
{
    gather(to, s, exact_get_abs);
}

double products_round(const struct products *s, enum format f)
{
    if (s->part[PRODUCTS_SMALL].empty && s->part[PRODUCTS_LARGE].empty)
        return exact_round(&s->part[PRODUCTS_PLAIN], f);
    mpfr_t sum;
    mpfr_init2(sum, MPFR_PREC_MIN);
    products_get(sum, s);
    double rounded = round_mpfr(sum, f);
    mpfr_clear(sum);
    return rounded;
}
