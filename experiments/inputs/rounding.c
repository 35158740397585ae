/* Elements that bring out what rounding does: absorption, ties, carries. */
#include "experiments/inputs/family.h"

#include <math.h>

static double stagnation(const struct fill *f, size_t i)
{
    return i ? 1 : ldexp(1, f->facts->precision);
}

static bool stagnation_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return n == 0 || sum_fits(ldexp(1, format_facts[storage].precision) + (double)(n - 1), storage);
}

const struct input_family input_stagnation = {
    .name = "stagnation",
    .summary = "2^p (2048, 256, 2^24, 2^53), then ones, each of which a running sum drops",
    .order_safe = stagnation_safe,
    .element = stagnation,
};

/* Between 2^p and 2^(p+1) numbers are even, so each addition of an odd one is a tie: 2^p + 1 goes
 * down to 2^p, + 3 up to 2^p + 4, - 1 up to 2^p + 4, - 3 down to 2^p. */
static double ties(const struct fill *f, size_t i)
{
    static const double step[] = {1, 3, -1, -3};
    double x = i ? step[(i - 1) % 4] : ldexp(1, f->facts->precision);
    return f->parameter[0] != 0 ? -x : x;
}

static bool ties_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return sum_fits(ldexp(1, format_facts[storage].precision) + 2 * (double)n, storage);
}

const struct input_family input_ties = {
    .name = "ties",
    .summary = "2^p, then 1, 3, -1, -3 repeated: each addition to a running sum is a tie",
    .parameter = {{"negative", 0, 0, 1, "1: all with the opposite sign", true}},
    .order_safe = ties_safe,
    .element = ties,
};

static double full_mantissa(const struct fill *f, size_t i)
{
    double x = ldexp(2 - 2 * f->facts->unit_roundoff, -(int)(i % 4));
    return f->parameter[0] != 0 ? -x : x;
}

static bool full_mantissa_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return sum_fits(3.75 * (double)(n / 4 + (n % 4 != 0)), storage);
}

const struct input_family input_full_mantissa = {
    .name = "full_mantissa",
    .summary = "-(2 - 2u) / 1, 2, 4, 8: all significand bits set, where misrounding shows",
    .parameter = {{"negative", 1, 0, 1, "0: positive", true}},
    .order_safe = full_mantissa_safe,
    .element = full_mantissa,
};

/* The exponent of a ladder's lowest rung: 0, or as far below as the highest needs it. */
static int lowest_rung(const struct format_facts *facts, int rungs)
{
    int most = facts->emax - 4 - facts->precision * (rungs - 1);
    return most < 0 ? most : 0;
}

/* Down from the highest rung to the lowest, then up again with the opposite sign; what is left
 * over beside whole groups is the lowest rung. */
static double ladder(const struct fill *f, size_t i)
{
    int p = f->facts->precision, rungs = (int)f->parameter[0];
    size_t length = 2 * (size_t)rungs - 1, place = i % length;
    double lowest = f->common;
    if (i >= f->to.n / length * length || place == length / 2)
        return lowest;
    int up = place < length / 2 ? rungs - 1 - (int)place : (int)place - rungs + 1;
    double size = ldexp(lowest, p * up);
    return place < length / 2 ? size : -size;
}

static enum status ladder_generate(struct fill *f, struct problem *p)
{
    int rungs = (int)f->parameter[0], step = f->facts->precision;
    int lowest = lowest_rung(f->facts, rungs), least = f->facts->emin - step + 1;
    if (lowest < least)
        return problem(p, STATUS_USAGE, "input ladder: rungs=%d is more than %s has room for: %d",
                       rungs, f->facts->name, 1 + (f->facts->emax - 4 - least) / step);
    f->common = ldexp(1, lowest);
    return fill_elements(f, ladder, p);
}

static bool ladder_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    const struct format_facts *facts = &format_facts[storage];
    int rungs = (int)in->parameter[0], lowest = lowest_rung(facts, rungs);
    double highest = ldexp(1, lowest + facts->precision * (rungs - 1));
    double group = 2 * highest * (1 + 2 * facts->unit_roundoff);
    size_t length = 2 * (size_t)rungs - 1;
    return sum_fits((double)(n / length) * group + (double)(n % length) * ldexp(1, lowest),
                    storage);
}

const struct input_family input_ladder = {
    .name = "ladder",
    .summary = "powers 2^(p j) down, then up with opposite signs: defeats K-fold compensation",
    .parameter = {{"rungs", 3, 2, 40, "how many powers", true}},
    .order_safe = ladder_safe,
    .generate = ladder_generate,
};
