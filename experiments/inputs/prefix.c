/* Elements whose prefixes are the point: what a scan makes of them on the way. */
#include "experiments/inputs/family.h"

#include <math.h>

#include "experiments/inputs/portable.h"

/* Where +M stands, and where -M; n >= 2 elements. Shares of at most a half leave them in order. */
static size_t plateau_begin(const struct fill *f)
{
    return (size_t)(f->parameter[1] * (double)(f->to.n - 2));
}

static size_t plateau_end(const struct fill *f)
{
    return f->to.n - 1 - (size_t)(f->parameter[2] * (double)(f->to.n - 2));
}

static double plateau(const struct fill *f, size_t i)
{
    if (f->to.n > 1 && i == plateau_begin(f))
        return f->common;
    if (f->to.n > 1 && i == plateau_end(f))
        return -f->common;
    return random_unit(fill_draw(f, i).word[0]);
}

static enum status plateau_generate(struct fill *f, struct problem *p)
{
    enum status status = fill_check_gap(f, f->parameter[0], p);
    if (status != STATUS_OK)
        return status;
    f->common = ldexp(1, f->facts->precision + (int)f->parameter[0]);
    return fill_elements(f, plateau, p);
}

static bool plateau_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    double most = ldexp(1, format_facts[storage].precision + (int)in->parameter[0]);
    return n < 2 ? true : sum_fits(2 * most + random_sum(n - 2, 0.5, 1), storage);
}

const struct input_family input_plateau = {
    .name = "plateau",
    .summary = "uniform on [0, 1), +M early, -M late: prefixes between lose the rest",
    .parameter = {{"gap", 3, 1, 1000, "log2(M u), u = 2^-p of the storage format", true},
                  {"before", 0.125, 0, 0.5, "share of the elements that come before +M", false},
                  {"after", 0.125, 0, 0.5, "share of the elements that come after -M", false}},
    .uses_seed = true,
    .order_safe = plateau_safe,
    .generate = plateau_generate,
};

/* The first element of part `at` of as many as there are returns. */
static size_t walk_begin(size_t n, size_t returns, size_t at)
{
    return (size_t)((unsigned __int128)n * at / returns);
}

/* In each part, steps out by the first half, and back by the same steps in the same order: so the
 * exact prefix is 0 at its end, and on the way back none is one of those on the way out. */
static double walk(const struct fill *f, size_t i)
{
    size_t n = f->to.n, returns = f->parameter[1] < (double)n ? (size_t)f->parameter[1] : n;
    size_t part = (size_t)((((unsigned __int128)i + 1) * returns - 1) / n);
    size_t begin = walk_begin(n, returns, part);
    size_t half = (walk_begin(n, returns, part + 1) - begin) / 2, at = i - begin;
    if (at >= 2 * half)
        return 0;
    size_t step = begin + (at < half ? at : at - half);
    bool up = random_unit(fill_draw(f, step).word[1]) < (1 + f->parameter[0]) / 2;
    double size = fabs(fill_symmetric(f, step));
    return up == (at < half) ? size : -size;
}

static bool walk_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return sum_fits(random_sum(n / 2, 1, 2), storage);
}

const struct input_family input_walk = {
    .name = "walk",
    .summary = "a random walk out, and back to exactly 0 by the same steps",
    .parameter = {{"drift", 0.5, 0, 1,
                   "mean step out over the mean size: 0 goes sqrt(n) far, 1 straight to n/4",
                   false},
                  {"returns", 1, 1, 0x1p53, "how often it comes back (at most n)", true}},
    .uses_seed = true,
    .costly_ns = 60,
    .order_safe = walk_safe,
    .element = walk,
};

/* Element j of a run is drawn from the j-th of `length` equal parts of the exponents. */
static double runs(const struct fill *f, size_t i)
{
    double at = (double)(i % (size_t)f->parameter[0]);
    double share = (at + random_unit(fill_draw(f, i).word[0])) / f->parameter[0];
    return portable_exp(f->parameter[1] * (share - 1) * 0x1.62e42fefa39efp-1); /* ln 2 */
}

/* A run is at most the integral over it, and what its last element exceeds its first by. */
static bool runs_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    double length = in->parameter[0], binades = in->parameter[1];
    double mean = binades > 0 ? -expm1(-binades * M_LN2) / (binades * M_LN2) : 1;
    double most = ceil((double)n / length) * (length * mean + 1);
    return sum_fits(1.01 * (most < (double)n ? most : (double)n), storage);
}

const struct input_family input_runs = {
    .name = "runs",
    .summary = "ascending runs, one after the other, each from 2^-binades to 1",
    .parameter = {{"length", 1000, 1, 0x1p53, "elements of a run", true},
                  {"binades", 20, 0, 1000, "powers of two that a run spans", false}},
    .uses_seed = true,
    .costly_ns = 60,
    .order_safe = runs_safe,
    .element = runs,
};

static double creep(const struct fill *f, size_t i)
{
    double step = f->parameter[0] * f->facts->unit_roundoff;
    return i ? step * random_unit(fill_draw(f, i).word[0]) : 1;
}

static bool creep_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    double step = in->parameter[0] * format_facts[storage].unit_roundoff;
    return n == 0 || sum_fits(1 + random_sum(n - 1, step / 2, step), storage);
}

const struct input_family input_creep = {
    .name = "creep",
    .summary = "1, then uniform on [0, step u): each is lost, groups are not: prefixes can fall",
    .parameter = {{"step", 1, 0x1p-20, 0x1p20, "upper end, in u = 2^-p of the storage format",
                   false}},
    .uses_seed = true,
    .order_safe = creep_safe,
    .element = creep,
};

static void put(const struct fill *f, size_t place, double x)
{
    array_encode(&f->to, place, 1, &x);
}

static enum status inf_segment_generate(struct fill *f, struct problem *p)
{
    size_t n = f->to.n, begin = (size_t)(f->parameter[2] * (double)n);
    size_t end = f->parameter[1] < (double)(n - begin) ? begin + (size_t)f->parameter[1] : n;
    enum status status = fill_elements(f, fill_symmetric, p);
    for (size_t i = begin; status == STATUS_OK && i < end; i++) {
        bool negative = f->parameter[0] < 0 || (f->parameter[0] == 0 && (i - begin) % 2 == 1);
        put(f, i, negative ? -INFINITY : INFINITY);
    }
    if (status == STATUS_OK && f->parameter[3] != 0 && end < n)
        put(f, end, NAN);
    return status;
}

static bool inf_segment_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond, (void)storage;
    return n == 0;
}

const struct input_family input_inf_segment = {
    .name = "inf_segment",
    .summary = "a stretch of infinities among numbers uniform on (-1, 1)",
    .parameter = {{"sign", 1, -1, 1, "of the infinities; 0: they alternate, from +inf", true},
                  {"length", 100, 1, 0x1p53, "elements of the stretch (at most up to the end)",
                   true},
                  {"at", 0.5, 0, 0.999, "share of the elements that come before", false},
                  {"nan", 0, 0, 1, "1: the element behind the stretch is NaN", true}},
    .uses_seed = true,
    .order_safe = inf_segment_safe,
    .generate = inf_segment_generate,
};
