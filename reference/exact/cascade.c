#include "reference/exact/cascade.h"

#include "reference/format/pair.h"
#include "reference/base/variants.h"

static inline void store(double *two_doubles, pair x)
{
    memcpy(two_doubles, &x, sizeof x);
}

/* TwoSum: the error of sum = a + b, itself a double. */
static inline pair error_of(pair a, pair b, pair sum)
{
    pair b_virtual = sum - a;
    return (a - (sum - b_virtual)) + (b - b_virtual);
}

/* One running sum of a cascade over two elements: before and after each. */
struct step {
    pair before, after;
};

static inline struct step advance(double *word, pair x)
{
    double first = *word + x[0], second = first + x[1];
    struct step s = {{*word, first}, {first, second}};
    *word = second;
    return s;
}

/* All zero bits for a zero, and for nothing else. Gathered as bits: gcc 12 makes scalar code of
 * comparisons that are or-ed over a loop. */
static inline pair_bits nonzero(pair x)
{
    return (pair_bits)pair_abs(x);
}

static inline bool any(pair_bits bits)
{
    return (bits[0] | bits[1]) != 0;
}

/* In each of the three, a NaN is a failure, and there is one wherever an addition overflows. count
 * is even. */

static bool one_word(struct cascade *c, const double *x, size_t count, double *hi, double *lo)
{
    const pair zero = {0, 0};
    double w0 = c->word[0];
    pair_bits failed = {0, 0};
    for (size_t i = 0; i < count; i += 2) {
        pair element = pair_load(x + i);
        struct step s0 = advance(&w0, element);
        failed |= nonzero(error_of(s0.before, element, s0.after));
        store(hi + i, s0.after);
        store(lo + i, zero);
    }
    c->word[0] = w0;
    return !any(failed);
}

static bool two_words(struct cascade *c, const double *x, size_t count, double *hi, double *lo)
{
    double w0 = c->word[0], w1 = c->word[1];
    pair_bits failed = {0, 0};
    for (size_t i = 0; i < count; i += 2) {
        pair element = pair_load(x + i);
        struct step s0 = advance(&w0, element);
        pair error = error_of(s0.before, element, s0.after);
        struct step s1 = advance(&w1, error);
        failed |= nonzero(error_of(s1.before, error, s1.after));
        pair sum = s0.after + s1.after, rest = error_of(s0.after, s1.after, sum);
        failed |= nonzero(rest - rest);
        store(hi + i, sum);
        store(lo + i, rest);
    }
    c->word[0] = hi[count - 1];
    c->word[1] = lo[count - 1];
    return !any(failed);
}

/* Does the exact prefix round to hi, and what is left of it to lo, given that it is within `slack`
 * of hi + lo + z? lo is the sum lo + z rounded.
 *
 * With w >= |z| + slack, rounded up: lo is the nearest to all of lo +- w if it is to the ends, and
 * in any case where there is no slack. hi is the nearest if it is to hi + lo, which may be a tie
 * only where w is 0; elsewhere lo is taken an ulp or more farther from 0, which is more than w. */
static inline pair_bits certified(pair hi, pair lo, pair z, pair slack)
{
    const pair zero = {0, 0}, farther = {0x1p-51, 0x1p-51};
    pair w = (pair_abs(z) + slack) * (1 + 0x1p-30);
    pair inexact = (pair)((pair_bits)(w > zero) & (pair_bits)farther);
    pair_bits lo_good = (slack == zero) | ((lo + w == lo) & (lo - w == lo));
    return lo_good & (hi + (lo + lo * inexact) == hi);
}

/* Rounding loses less than 2^-31 of the sum of 2^20 magnitudes: certified() allows for it. */
static bool three_words(struct cascade *c, const double *x, size_t count, double *hi, double *lo)
{
    double w0 = c->word[0], w1 = c->word[1], w2 = c->word[2];
    pair missed = {c->error, 0}, h = {0, 0}, l = h, z = h;
    pair_bits good = {0, 0}; /* minus the number of those that are */
    for (size_t i = 0; i < count; i += 2) {
        pair element = pair_load(x + i);
        struct step s0 = advance(&w0, element);
        pair error = error_of(s0.before, element, s0.after);
        struct step s1 = advance(&w1, error);
        error = error_of(s1.before, error, s1.after);
        struct step s2 = advance(&w2, error);
        missed += pair_abs(error_of(s2.before, error, s2.after));

        pair top = s0.after + s1.after, middle = error_of(s0.after, s1.after, top);
        pair below = middle + s2.after, bottom = error_of(middle, s2.after, below);
        h = top + below;
        middle = error_of(top, below, h);
        l = middle + bottom;
        z = error_of(middle, bottom, l);
        good += certified(h, l, z, missed + (pair){missed[1], missed[0]});
        store(hi + i, h);
        store(lo + i, l);
    }
    *c = (struct cascade){{h[1], l[1], z[1]}, missed[0] + missed[1], c->stage};
    return good[0] + good[1] == -(int64_t)count;
}

typedef bool block(struct cascade *, const double *, size_t, double *, double *);

static bool try_words(block *add, struct cascade *c, const double *x, size_t count, double *hi,
                      double *lo)
{
    struct cascade end = *c;
    size_t even = count / 2 * 2;
    if (even > 0 && !add(&end, x, even, hi, lo))
        return false;
    if (even < count) {
        const double last[2] = {x[even], 0};
        double last_hi[2], last_lo[2];
        if (!add(&end, last, 2, last_hi, last_lo))
            return false;
        hi[even] = last_hi[0];
        lo[even] = last_lo[0];
    }
    *c = end;
    return true;
}

cascade_lanes cascade_lanes2, cascade_lanes4, cascade_lanes8;

#ifdef __x86_64__
static bool has_avx512f(void)
{
    return __builtin_cpu_supports("avx512f");
}
#endif

const struct cascade_variant cascade_variant[] = {
#ifdef __x86_64__
    {"avx512", has_avx512f, cascade_lanes8},
    {"avx2", has_avx2, cascade_lanes4},
#endif
    {"baseline", always, cascade_lanes2},
};
const size_t cascade_variants = sizeof cascade_variant / sizeof *cascade_variant;

static bool try_lanes(struct cascade *c, const double *x, size_t count, double *hi, double *lo)
{
    struct cascade end = *c;
    const struct cascade_variant *v = cascade_variant;
    if (count == 0 || count > CASCADE_MOST || count % CASCADE_CHUNK != 0)
        return false;
    while (!v->available())
        v++;
    if (!v->block(&end, x, count, hi, lo))
        return false;
    *c = end;
    return true;
}

static bool try_stage(struct cascade *c, const double *x, size_t count, double *hi, double *lo)
{
    switch (c->stage) {
    case CASCADE_ONE:
        return try_words(one_word, c, x, count, hi, lo);
    case CASCADE_TWO:
        return try_words(two_words, c, x, count, hi, lo);
    case CASCADE_LANES_THREE:
        return try_lanes(c, x, count, hi, lo);
    default:
        return try_words(three_words, c, x, count, hi, lo);
    }
}

bool cascade_block(struct cascade *c, const double *x, size_t count, double *hi, double *lo)
{
    int least = c->error != 0 || c->word[2] != 0 ? CASCADE_LANES_THREE
                : c->word[1] != 0                ? CASCADE_TWO
                                                 : CASCADE_ONE;
    for (c->stage = least > c->stage ? least : c->stage; c->stage <= CASCADE_THREE; c->stage++)
        if (try_stage(c, x, count, hi, lo))
            return true;
    c->stage = CASCADE_LANES_THREE;
    return false;
}
