/* Elements at the ends of a format's range, or all over it. */
#include "experiments/inputs/family.h"

#include <math.h>

/* Whole multiples 1 .. 2^(p-1) - 1 of the smallest subnormal number. */
static double subnormal(const struct fill *f, size_t i)
{
    struct draw d = fill_draw(f, i);
    uint64_t most = (UINT64_C(1) << (f->facts->precision - 1)) - 1;
    double x = (double)(1 + random_below(d.word[0], most)) * f->facts->smallest;
    bool negative = f->parameter[0] < 0 || (f->parameter[0] == 0 && d.word[1] >> 63);
    return negative ? -x : x;
}

static bool subnormal_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return sum_fits((double)n * format_facts[storage].smallest_normal, storage);
}

const struct input_family input_subnormal = {
    .name = "subnormal",
    .summary = "random subnormal numbers: shows flushing to zero",
    .parameter = {{"sign", 0, -1, 1, "1: all positive, -1: all negative, 0: both", true}},
    .uses_seed = true,
    .order_safe = subnormal_safe,
    .element = subnormal,
};

/* Half of them positive, then the same negative. The last negative one of an even n is halved, so
 * that something is left: the last positive element, or half of it. */
static double near_overflow(const struct fill *f, size_t i)
{
    size_t positive = f->to.n - f->to.n / 2, twin = i < positive ? i : i - positive;
    double x = ldexp(1 + random_unit(fill_draw(f, twin).word[0]), f->facts->emax);
    x = x < f->facts->largest ? x : f->facts->largest;
    if (i < positive)
        return x;
    return twin + 1 == positive ? -x / 2 : -x;
}

static bool near_overflow_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond, (void)storage;
    return n < 2;
}

const struct input_family input_near_overflow = {
    .name = "near_overflow",
    .summary = "large positive, then the same negative: two overflow, the sum is one of them",
    .uses_seed = true,
    .order_safe = near_overflow_safe,
    .element = near_overflow,
};

/* A quarter of the format's exponents up in the first half, and down again in the second. An odd
 * one is in [1, 2). */
static double reciprocal(const struct fill *f, size_t i)
{
    size_t up = f->to.n - f->to.n / 2, twin = i < up ? i : i - up;
    int exponent = twin < f->to.n / 2 ? f->facts->emax / 4 : 0;
    double x = ldexp(1 + random_unit(fill_draw(f, twin).word[0]), exponent);
    return i < up ? x : 1 / format_round(f->to.format, x);
}

static bool reciprocal_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return sum_fits((double)n * ldexp(2, format_facts[storage].emax / 4), storage);
}

const struct input_family input_reciprocal = {
    .name = "reciprocal",
    .summary = "large x, then all 1/x: products overflow on the way, the whole is about 1",
    .uses_seed = true,
    .order_safe = reciprocal_safe,
    .element = reciprocal,
};

/* The largest exponent with which n elements are order-safe. */
static int widest(const struct format_facts *facts, size_t n)
{
    int doublings = n > 1 ? 1 + ilogb((double)(n - 1)) : 0;
    int least = facts->emin - facts->precision + 1, most = facts->emax - 1 - doublings;
    return most > least ? most : least;
}

static double wide(const struct fill *f, size_t i)
{
    struct draw d = fill_draw(f, i);
    int least = f->facts->emin - f->facts->precision + 1, most = (int)f->common;
    int exponent = least + (int)random_below(d.word[1], (uint64_t)(most - least + 1));
    double x = ldexp(1 + random_unit(d.word[0]), exponent);
    return d.word[0] & 1 ? -x : x; /* a bit that random_unit does not use */
}

static enum status wide_generate(struct fill *f, struct problem *p)
{
    f->common = widest(f->facts, f->to.n);
    return fill_elements(f, wide, p);
}

static bool wide_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return sum_fits((double)n * ldexp(2, widest(&format_facts[storage], n)), storage);
}

const struct input_family input_wide = {
    .name = "wide",
    .summary = "exponents uniform over the whole range, either sign: slow, but well conditioned",
    .uses_seed = true,
    .order_safe = wide_safe,
    .generate = wide_generate,
};
