/* dot_cond: two arrays with a chosen condition number C = sum|x y| / |sum x y|.
 *
 * Products of full length are drawn, a share (C - 1) / 2C of them negative, so that their sum is
 * about A / C, with A the sum of their magnitudes; every other one is scaled down by a random power
 * of two, down to where the sum is. Their exact sum misses A / C, rounded to 5 digits, by a
 * residual, which is split without rounding into numbers of the format; these take the last places,
 * times a power of two each. Then all are shuffled. So the condition number is C within 4%, and
 * sum|x y| but for the residual's share (about A / sqrt(n)) what was drawn. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "experiments/inputs/family.h"
#include "reference/exact/products.h"

enum { DEFAULT_COND_LOG2 = 20, SUM_DIGITS = 5 };

struct dot_plan {
    size_t drawn, residual; /* places */
    int down;               /* x is scaled down by 2^down, so that sum|x y| stays in range */
    int spread;             /* y of every other product by up to 2^spread more */
};

/* Products are multiples of the lowest one's last digit, 2^(2 emin - p + 1) at least: the place of
 * a residual's last digit, times a power of two not below 2^emin. */
static bool make_plan(struct dot_plan *plan, enum format f, size_t n, double cond)
{
    const struct format_facts *facts = &format_facts[f];
    int p = facts->precision, length = n > 1 ? ilogb((double)n) + 1 : 1;
    plan->down = length + 3 > facts->emax ? length + 3 - facts->emax : 0;
    int top = length + 2 - plan->down, sum = length - plan->down - ilogb(cond) - 2;
    int room = -facts->emin - plan->down;
    plan->spread = top - sum < room ? top - sum : room;
    plan->spread = plan->spread < 0 ? 0 : plan->spread;
    int lowest = -2 * (p - 1) - plan->down - plan->spread;
    lowest = lowest < sum - SUM_DIGITS ? lowest : sum - SUM_DIGITS;
    plan->residual = (size_t)((top + 1 - lowest) / p + 2);
    plan->drawn = n > plan->residual ? n - plan->residual : 0;
    return n >= 2 * plan->residual && lowest >= 2 * facts->emin - p + 1;
}

/* Returns sum|x y|, nearly; *sum becomes the exact sum. */
static double draw_products(const struct fill *f, const struct dot_plan *plan, double cond,
                            struct products *sum)
{
    double size = 0, negative = (1 - 1 / cond) / 2, quota = 0;
    for (size_t i = 0; i < plan->drawn; i++) {
        struct draw d = fill_draw(f, i), e = random_draw(f->seed, RANDOM_PLACING, i);
        int scale = i % 4 < 2 ? 0 : (int)random_below(e.word[0], (uint64_t)plan->spread + 1);
        double x = ldexp(pair_significand(f, d.word[0]), -plan->down);
        double y = ldexp(pair_significand(f, d.word[1]), -scale);
        /* Neighbours of one size have either sign, as often as is due. */
        quota += negative * x * y;
        bool minus = quota > x * y / 2;
        if (minus)
            quota -= x * y;
        pair_put(f, i, x, minus ? -y : y);
        products_add_one(sum, x, minus ? -y : y);
        size += x * y;
    }
    return size;
}

/* Rounded to SUM_DIGITS binary digits. */
static double short_number(double x)
{
    int e = ilogb(x) - SUM_DIGITS + 1;
    return ldexp(rint(ldexp(x, -e)), e);
}

/* The leading digits of x, as many as the format has. */
static double leading(const struct format_facts *facts, double x)
{
    if (facts->precision == 53)
        return x;
    int e = ilogb(x) - facts->precision + 1;
    return ldexp(trunc(ldexp(x, -e)), e);
}

/* Takes `rest` apart; false where it does not fit in the places. */
static bool settle(const struct fill *f, const struct dot_plan *plan, struct products *rest)
{
    for (size_t i = 0; i < plan->residual; i++) {
        double left = products_round(rest, FP64);
        double part = left != 0 ? leading(f->facts, left) : 0;
        int half = left != 0 ? (int)floor(ilogb(part) / 2.0) : 0;
        half = half < f->facts->emin ? f->facts->emin : half;
        double x = ldexp(part, -half), y = ldexp(1, half);
        if (format_round(f->to.format, x) != x)
            return false;
        pair_put(f, plan->drawn + i, x, y);
        products_add_one(rest, -x, y);
    }
    return products_round(rest, FP64) == 0;
}

static double target(double cond, const double *parameter)
{
    if (cond == 0)
        cond = parameter[0];
    return cond != 0 ? cond : ldexp(1, DEFAULT_COND_LOG2);
}

static enum status unreachable(const struct fill *f, double cond, struct problem *p)
{
    struct dot_plan plan;
    size_t n = f->to.n / 2;
    int reach = 1023;
    char expected[32] = "a greater n";
    while (reach >= 0 && !make_plan(&plan, f->to.format, n, ldexp(1, reach)))
        reach--;
    if (reach >= 0)
        snprintf(expected, sizeof expected, "at most 2^%d", reach);
    return problem(p, STATUS_USAGE,
                   "input dot_cond: a condition number of %g is out of reach of n=%zu in %s; "
                   "expected %s",
                   cond, n, f->facts->name, expected);
}

static enum status dot_cond(struct fill *f, struct problem *p)
{
    struct dot_plan plan;
    struct products sum, rest;
    double cond = target(f->cond, f->parameter);
    if (cond < 1)
        return problem(p, STATUS_USAGE,
                       "input dot_cond: target=%g; expected 0 or a number from 1 on", cond);
    bool fine = make_plan(&plan, f->to.format, f->to.n / 2, cond);
    if (fine) {
        products_init(&sum);
        double size = draw_products(f, &plan, cond, &sum);
        /* The residual's magnitude counts, too. */
        size += fabs(size / cond - products_round(&sum, FP64));
        products_init(&rest);
        products_add_one(&rest, short_number(size / cond), 1);
        for (size_t i = 0; i < plan.drawn; i++)
            products_add_one(&rest, -array_get(&f->to, i), array_get(&f->to, f->to.n / 2 + i));
        fine = settle(f, &plan, &rest);
    }
    if (!fine)
        return unreachable(f, cond, p);
    pair_shuffle(f);
    return STATUS_OK;
}

static bool dot_cond_reaches(const struct input *in, size_t n, double cond, enum format storage)
{
    struct dot_plan plan;
    cond = target(cond, in->parameter);
    return cond >= 1 && make_plan(&plan, storage, n, cond);
}

static bool dot_cond_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)n, (void)cond, (void)storage;
    return true;
}

const struct input_family input_dot_cond = {
    .name = "dot_cond",
    .summary = "products of full length with the condition number asked for (--cond, default 2^20)",
    .parameter = {{"target", 0, 0, DBL_MAX, "the condition number; 0: as --cond says, or 2^20",
                   false}},
    .uses_seed = true,
    .uses_cond = true,
    .pair = true,
    .order_safe = dot_cond_safe,
    .reaches = dot_cond_reaches,
    .generate = dot_cond,
};
