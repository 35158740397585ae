/* Elements that cancel. */
#include "experiments/inputs/family.h"

#include <math.h>

/* 2^(p + gap): additions of numbers below 2^gap do not change it. */
static double huge(const struct fill *f)
{
    return ldexp(1, f->facts->precision + (int)f->parameter[0]);
}

static double cancellation(const struct fill *f, size_t i)
{
    if (f->to.n > 1 && i == 0)
        return f->common;
    if (f->to.n > 1 && i == f->to.n - 1)
        return -f->common;
    return random_unit(fill_draw(f, i).word[0]);
}

static enum status cancellation_generate(struct fill *f, struct problem *p)
{
    enum status status = fill_check_gap(f, f->parameter[0], p);
    if (status != STATUS_OK)
        return status;
    f->common = huge(f);
    return fill_elements(f, cancellation, p);
}

static bool cancellation_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    double most = ldexp(1, format_facts[storage].precision + (int)in->parameter[0]);
    return n < 2 ? true : sum_fits(2 * most + random_sum(n - 2, 0.5, 1), storage);
}

const struct input_family input_cancellation = {
    .name = "cancellation",
    .summary = "+M, uniform elements on [0, 1), -M: each of them is lost in M = 2^(p + gap)",
    .parameter = {{"gap", 3, 1, 1000, "log2(M u), u = 2^-p of the storage format", true}},
    .uses_seed = true,
    .order_safe = cancellation_safe,
    .generate = cancellation_generate,
};

/* The first floor(n/4) groups of four; what is left over are ones. */
static double kahan_killer(const struct fill *f, size_t i)
{
    if (i >= f->to.n / 4 * 4)
        return 1;
    return i % 4 == 1 ? f->common : i % 4 == 3 ? -f->common : 1;
}

static enum status kahan_killer_generate(struct fill *f, struct problem *p)
{
    enum status status = fill_check_gap(f, f->parameter[0], p);
    if (status != STATUS_OK)
        return status;
    f->common = huge(f);
    return fill_elements(f, kahan_killer, p);
}

static bool kahan_killer_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    double most = ldexp(1, format_facts[storage].precision + (int)in->parameter[0]);
    return sum_fits((double)(n / 4) * (2 * most + 2) + 3, storage);
}

const struct input_family input_kahan_killer = {
    .name = "kahan_killer",
    .summary = "1, M, 1, -M repeated, M = 2^(p + gap): defeats Kahan's compensation",
    .parameter = {{"gap", 3, 1, 1000, "log2(M u), u = 2^-p of the storage format", true}},
    .order_safe = kahan_killer_safe,
    .generate = kahan_killer_generate,
};

/* Anderson's data: uniform numbers minus their mean. Both are taken as integers of 53 bits. */
static double anderson(const struct fill *f, size_t i)
{
    return ((double)(fill_draw(f, i).word[0] >> 11) - f->common) * 0x1p-53;
}

static enum status anderson_generate(struct fill *f, struct problem *p)
{
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < f->to.n; i++)
        sum += fill_draw(f, i).word[0] >> 11;
    f->common = (double)(uint64_t)(sum / f->to.n);
    return fill_elements(f, anderson, p);
}

static bool anderson_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return sum_fits(random_sum(n, 0.25, 1) + random_sum(n, 0, 1), storage);
}

const struct input_family input_anderson = {
    .name = "anderson",
    .summary = "uniform on [0, 1) minus the mean: the sum is a few rounding errors (Anderson)",
    .uses_seed = true,
    .order_safe = anderson_safe,
    .generate = anderson_generate,
};

/* +x and -x, as many as there are pairs; an odd element out is +0. */
static double opposites(const struct fill *f, size_t i)
{
    size_t half = f->to.n / 2;
    if (i >= 2 * half)
        return 0;
    return i < half ? fill_symmetric(f, i) : -fill_symmetric(f, i - half);
}

static enum status zero_sum_generate(struct fill *f, struct problem *p)
{
    enum status status = fill_elements(f, opposites, p);
    if (status == STATUS_OK)
        input_shuffle(&f->to, f->seed, RANDOM_MIXING);
    return status;
}

static bool zero_sum_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return sum_fits(random_sum(n / 2, 1, 2), storage);
}

const struct input_family input_zero_sum = {
    .name = "zero_sum",
    .summary = "pairs +x, -x, shuffled (and one zero where n is odd): the sum is exactly 0",
    .uses_seed = true,
    .order_safe = zero_sum_safe,
    .generate = zero_sum_generate,
};
