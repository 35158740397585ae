/* cond: an exact sum s and an exact condition number C = sum|x| / |s|.
 *
 * Where s > 0, the negative elements get the total (C - 1) s / 2 and the positive ones
 * (C + 1) s / 2. Elements are drawn as weights from 1/2 to 1, every other one scaled down by a
 * random power of two so that there is something on every scale between the largest and s, and
 * scaled to the totals. Their exact sum misses s by a residual, for which the positive total
 * leaves room of about one element; it is split, without rounding, into numbers of the format that
 * take the last places. Then all are shuffled.
 *
 * Why the residual fits: all elements are multiples of a grid 2^(top - p k) and none exceeds 2^top,
 * and so is and does the residual; its k places hold p bits each. Either s is on the grid too and
 * goes with the residual; or, where n is too small for that, s has places of its own, and the other
 * elements add up to 0. */
#include "experiments/inputs/cond.h"

#include <float.h>
#include <math.h>

#include "experiments/inputs/family.h"
#include "reference/exact/exact.h"

enum { DEFAULT_COND_LOG2 = 20 };

/* The sum rounded to f towards zero. */
static double truncated(const struct exact *e, enum format f)
{
    double x = exact_round(e, f);
    struct exact rest = *e;
    exact_add(&rest, -x);
    double sign = exact_round(&rest, FP64);
    if (x > 0 && sign < 0)
        return format_next_down(f, x);
    return x < 0 && sign > 0 ? format_next_up(f, x) : x;
}

/* Fills `places` elements so that they and `e` add up to 0; false where they cannot. */
static bool settle(struct exact *e, const struct array *to, size_t begin, size_t places)
{
    for (size_t i = 0; i < places; i++) {
        double x = 0 - truncated(e, to->format);
        array_encode(to, begin + i, 1, &x);
        exact_add(e, x);
    }
    return exact_round(e, FP64) == 0;
}

static double weight(const struct fill *f, size_t begin, size_t i, int spread)
{
    struct draw d = fill_draw(f, i);
    double w = (1 + random_unit(d.word[0])) / 2;
    if ((i - begin) % 2 == 0)
        return w;
    return ldexp(w, -(int)random_below(d.word[1], (uint64_t)spread + 1));
}

/* Draws elements begin .. begin+count-1 with this total. What rounding to the grid and the format
 * loses is made good in the next element that is not scaled down, so that it does not add up. */
static void draw_elements(const struct fill *f, const struct cond_plan *plan, size_t begin,
                          size_t count, double total, double sign)
{
    double weights = 0, lost = 0, block[ARRAY_BLOCK];
    for (size_t i = begin; i < begin + count; i++)
        weights += weight(f, begin, i, plan->spread);
    for (size_t i = begin; i < begin + count; i++) {
        double wanted = weight(f, begin, i, plan->spread) / weights * total;
        double x = (i - begin) % 2 == 0 ? wanted + lost : wanted;
        if (x < plan->grid * 0x1p53) /* above, every double is a multiple */
            x = floor(x / plan->grid) * plan->grid;
        x = format_round(f->to.format, x);
        lost += wanted - x;
        size_t j = (i - begin) % ARRAY_BLOCK;
        block[j] = sign * x;
        if (j + 1 == ARRAY_BLOCK || i + 1 == begin + count)
            array_encode(&f->to, i - j, j + 1, block);
    }
}

static void zeros(const struct array *to, size_t begin)
{
    const double zero = 0;
    for (size_t i = begin; i < to->n; i++)
        array_encode(to, i, 1, &zero);
}

/* Fills the array as planned, unshuffled. */
static bool follow(const struct fill *f, const struct cond_plan *plan, double sum)
{
    double sign = sum < 0 ? -1 : 1;
    size_t drawn = plan->negative + plan->positive;
    draw_elements(f, plan, 0, plan->negative, plan->negative_total, -sign);
    draw_elements(f, plan, plan->negative, plan->positive, plan->positive_total, sign);
    struct exact residual, apart;
    exact_init(&residual);
    exact_init(&apart);
    exact_add_array(&residual, &f->to, 0, drawn);
    exact_add(plan->sum_places ? &apart : &residual, -sum);
    zeros(&f->to, drawn + plan->residual_places + plan->sum_places);
    return settle(&residual, &f->to, drawn, plan->residual_places) &&
           settle(&apart, &f->to, drawn + plan->residual_places, plan->sum_places);
}

/* What is asked for beside the specification comes before what it says. */
static double target(double cond, const double *parameter, enum format f, size_t n)
{
    if (cond == 0)
        cond = parameter[1];
    return cond != 0 ? cond : cond_reach(f, n, fabs(parameter[0]), DEFAULT_COND_LOG2);
}

static enum status unreachable(const struct fill *f, double cond, struct problem *p)
{
    double sum = f->parameter[0], reach = cond_reach(f->to.format, f->to.n, fabs(sum), 1023);
    if (reach == 0)
        return problem(p, STATUS_USAGE, "input cond: sum=%.17g is out of reach of n=%zu in %s", sum,
                       f->to.n, f->facts->name);
    return problem(
        p, STATUS_USAGE,
        "input cond: a condition number of %g with sum=%.17g is out of reach of n=%zu in "
        "%s; expected at most 2^%d",
        cond, sum, f->to.n, f->facts->name, ilogb(reach));
}

static enum status cond_generate(struct fill *f, struct problem *p)
{
    double sum = f->parameter[0];
    if (sum == 0 || fmod(sum, f->facts->smallest) != 0)
        return problem(p, STATUS_USAGE,
                       "input cond: sum=%.17g; expected a multiple, not 0, of the smallest %s, %g",
                       sum, f->facts->name, f->facts->smallest);
    struct cond_plan plan;
    double cond = target(f->cond, f->parameter, f->to.format, f->to.n);
    if (cond != 0 && cond < 1)
        return problem(p, STATUS_USAGE, "input cond: target=%g; expected 0 or a number from 1 on",
                       cond);
    if (cond == 0 || !cond_plan(&plan, f->to.format, f->to.n, fabs(sum), cond) ||
        !follow(f, &plan, sum))
        return unreachable(f, cond, p);
    input_shuffle(&f->to, f->seed, RANDOM_MIXING);
    return STATUS_OK;
}

static bool cond_reaches(const struct input *in, size_t n, double cond, enum format storage)
{
    struct cond_plan plan;
    double sum = in->parameter[0], smallest = format_facts[storage].smallest;
    cond = target(cond, in->parameter, storage, n);
    return sum != 0 && fmod(sum, smallest) == 0 && cond >= 1 &&
           cond_plan(&plan, storage, n, fabs(sum), cond);
}

static bool cond_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    double sum = in->parameter[0], quantum = format_facts[storage].smallest;
    if (n == 0)
        return true;
    return sum_fits(1.125 * target(cond, in->parameter, storage, n) * fabs(sum) + 4 * quantum,
                    storage);
}

const struct input_family input_cond = {
    .name = "cond",
    .summary = "the exact sum and condition number asked for (--cond, default 2^20), shuffled",
    .parameter = {{"sum", 1, -DBL_MAX, DBL_MAX, "the exact sum; not 0", false},
                  {"target", 0, 0, DBL_MAX, "the condition number; 0: as --cond says, or 2^20",
                   false}},
    .uses_seed = true,
    .uses_cond = true,
    .order_safe = cond_safe,
    .reaches = cond_reaches,
    .generate = cond_generate,
};
