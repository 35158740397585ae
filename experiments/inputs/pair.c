/* Pairs of arrays for dot products: x in the first half of what is filled, y in the second. */
#include <math.h>

#include "experiments/inputs/family.h"

void pair_put(const struct fill *f, size_t i, double x, double y)
{
    array_encode(&f->to, i, 1, &x);
    array_encode(&f->to, f->to.n / 2 + i, 1, &y);
}

void pair_shuffle(const struct fill *f)
{
    size_t n = f->to.n / 2;
    struct array x = {f->to.format, n, f->to.data};
    struct array y = {f->to.format, n, (char *)f->to.data + array_bytes(f->to.format, n)};
    input_shuffle(&x, f->seed, RANDOM_MIXING);
    input_shuffle(&y, f->seed, RANDOM_MIXING);
}

double pair_significand(const struct fill *f, uint64_t word)
{
    int p = f->facts->precision;
    return 1 + (double)(word >> (65 - p)) * ldexp(1, 1 - p);
}

/* ---- orthogonal ---- */

/* Elements 2 i and 2 i + 1: x = (a, b), y = (b, -a). */
static enum status orthogonal(struct fill *f, struct problem *p)
{
    size_t n = f->to.n / 2;
    (void)p;
    for (size_t i = 0; i < n; i++) {
        struct draw d = fill_draw(f, i / 2);
        double a = pair_significand(f, d.word[0]), b = pair_significand(f, d.word[1]);
        if (i + 1 == n && i % 2 == 0)
            pair_put(f, i, a, 0);
        else
            pair_put(f, i, i % 2 ? b : a, i % 2 ? -a : b);
    }
    pair_shuffle(f);
    return STATUS_OK;
}

static bool orthogonal_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return sum_fits(4 * (double)n, storage);
}

const struct input_family input_orthogonal = {
    .name = "orthogonal",
    .summary = "an exact dot product of 0: each product is undone by another, shuffled",
    .uses_seed = true,
    .pair = true,
    .order_safe = orthogonal_safe,
    .generate = orthogonal,
};

/* ---- products beyond the range of the format ---- */

static enum status product_overflow(struct fill *f, struct problem *p)
{
    size_t n = f->to.n / 2, couples = (size_t)f->parameter[0];
    double scale = ldexp(1, f->facts->emax / 2 + 1);
    if (2 * couples > n)
        return problem(p, STATUS_USAGE,
                       "input %s: couples=%zu of products need n=%zu; expected at most %zu",
                       f->family->name, couples, 2 * couples, n / 2);
    for (size_t i = 0; i < n; i++) {
        struct draw d = fill_draw(f, i < 2 * couples ? i / 2 : i);
        double x = pair_significand(f, d.word[0]), y = pair_significand(f, d.word[1]);
        if (i < 2 * couples)
            pair_put(f, i, x * scale, i % 2 ? -y * scale : y * scale);
        else
            pair_put(f, i, x / 2, y / 4);
    }
    pair_shuffle(f);
    return STATUS_OK;
}

static bool overflow_reaches(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond, (void)storage;
    return 2 * (size_t)in->parameter[0] <= n;
}

static bool never_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond, (void)storage;
    return n < 2 || in->parameter[0] == 0;
}

const struct input_family input_product_overflow = {
    .name = "product_overflow",
    .summary = "products of at least 2^(emax+1), which undo each other; the rest are about 1/4",
    .parameter = {{"couples", 1, 0, 0x1p30, "of products that overflow", true}},
    .uses_seed = true,
    .pair = true,
    .order_safe = never_safe,
    .reaches = overflow_reaches,
    .generate = product_overflow,
};

static enum status product_underflow(struct fill *f, struct problem *p)
{
    (void)p;
    /* Of 2^(lowest - 2) and below 2^lowest, the smallest subnormal. */
    int lowest = f->facts->emin - f->facts->precision + 1, x_of = (lowest - 2) / 2;
    for (size_t i = 0; i < f->to.n / 2; i++) {
        struct draw d = fill_draw(f, i);
        pair_put(f, i, ldexp(pair_significand(f, d.word[0]), x_of),
                 ldexp(pair_significand(f, d.word[1]), lowest - 2 - x_of));
    }
    return STATUS_OK;
}

static bool always_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)n, (void)cond, (void)storage;
    return true;
}

const struct input_family input_product_underflow = {
    .name = "product_underflow",
    .summary = "positive products between 1/4 and 1 of the smallest subnormal number: rounded, "
               "each becomes 0 or that number",
    .uses_seed = true,
    .pair = true,
    .order_safe = always_safe,
    .generate = product_underflow,
};
