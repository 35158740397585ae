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

#include <float.h>
#include <math.h>

#include "experiments/inputs/family.h"
#include "reference/exact/exact.h"
#include "reference/format/format.h"

/* The array begins with `negative` and `positive` drawn elements, whose totals these are up to
 * rounding; then come the places of the residual, then those of the sum; the rest is zeros. No
 * element exceeds 2^top. All but the sum's are multiples of `grid`. Signs are those for a positive
 * sum. */
struct cond_plan {
    size_t negative, positive;
    double negative_total, positive_total;
    int spread; /* drawn elements are scaled down by up to 2^spread */
    int top;
    double grid;
    size_t residual_places;
    size_t sum_places; /* 0: the sum goes with the residual; else the others add up to 0 */
};

/* The smallest e with x <= 2^e; x > 0. */
static int exponent_above(double x)
{
    int e;
    return frexp(x, &e) == 0.5 ? e - 1 : e;
}

/* The exponent of the lowest bit that is set; x > 0. */
static int lowest_bit(double x)
{
    int e;
    uint64_t significand = (uint64_t)ldexp(frexp(x, &e), 53);
    return e - 53 + __builtin_ctzll(significand);
}

/* A bound on each of `count` drawn elements with this total. Weights are below 1, and add up to at
 * least half of their number, or of the half of them that is never scaled down. */
static double largest_of(double total, size_t count, bool scaled)
{
    double not_scaled = (double)(scaled ? count - count / 2 : count);
    return count < 2 ? total : total / not_scaled * 2;
}

static size_t at_most(double limit, size_t n)
{
    return limit < (double)n ? (size_t)limit : n;
}

/* Shares `count` drawn elements out among the signs, in proportion to the totals N and P, and
 * leaves room in P for the residual, which is about one positive element. */
static void share_out(struct cond_plan *plan, size_t count, double n_total, double p_total,
                      bool scaled)
{
    double share = n_total / (n_total + p_total);
    plan->negative = at_most((double)count * share + 0.5, count);
    if (plan->negative == 0 && n_total > 0)
        plan->negative = 1;
    plan->positive = count - plan->negative;
    plan->negative_total = n_total;
    plan->positive_total = p_total / (double)(plan->positive + 1) * (double)plan->positive;
    double rest = p_total / (double)(plan->positive + 1);
    double largest = fmax(largest_of(plan->negative_total, plan->negative, scaled),
                          fmax(largest_of(plan->positive_total, plan->positive, scaled), rest));
    plan->top = exponent_above(largest);
}

/* Plans `places` >= 2 elements with these totals, scaled down by up to 2^spread. Their residual,
 * and with it the sum that they have, is a multiple of 2^unit. */
static bool plan_scaled(struct cond_plan *plan, enum format f, size_t places, double n_total,
                        double p_total, int spread, int unit)
{
    const struct format_facts *facts = &format_facts[f];
    int p = facts->precision;
    size_t most = places < 8 ? 1 : places / 4, residual = 1 + (size_t)((spread + p - 1) / p);
    for (residual = residual < most ? residual : most; residual <= most; residual++) {
        share_out(plan, places - residual, n_total, p_total, spread > 0);
        int grid = plan->top - (int)residual * p;
        if (plan->top > facts->emax)
            return false;
        if (grid > unit) {
            /* With up to a third fewer elements `top` is at most 3 more, or 2 less: those between
             * here and there are no plans either. */
            int short_of = (grid - unit - 2) / p;
            residual += plan->top + 3 <= facts->emax && short_of > 1 ? (size_t)short_of - 1 : 0;
            continue;
        }
        plan->residual_places = residual;
        plan->spread = spread < ((int)residual - 1) * p ? spread : ((int)residual - 1) * p;
        plan->grid = fmax(ldexp(1, grid), facts->smallest);
        return true;
    }
    return false;
}

/* The same, scaled down to where `sum` is (but above the smallest subnormal numbers), or not. */
static bool plan_elements(struct cond_plan *plan, enum format f, size_t places, double n_total,
                          double p_total, double sum, int unit, bool scaled)
{
    int least = ilogb(format_facts[f].smallest) + 3;
    double mean = n_total / (double)places + p_total / (double)places;
    int spread = ilogb(mean) - (ilogb(sum) > least ? ilogb(sum) : least);
    return plan_scaled(plan, f, places, n_total, p_total, scaled && spread > 0 ? spread : 0, unit);
}

/* Elements average at least 4 of the smallest subnormal number, or there are fewer of them. */
static size_t not_too_small(enum format f, size_t n, double total)
{
    return at_most(total / format_facts[f].smallest / 4, n);
}

/* The sum has places of its own. */
static bool plan_apart(struct cond_plan *plan, enum format f, size_t n, double sum, double cond,
                       bool scaled)
{
    const struct format_facts *facts = &format_facts[f];
    int p = facts->precision, length = ilogb(sum) - lowest_bit(sum) + 1;
    size_t places = (size_t)((length + p - 1) / p);
    if (ilogb(sum) > facts->emax || n < places)
        return false;
    *plan = (struct cond_plan){.sum_places = places, .grid = facts->smallest};
    double total = (cond - 1) / 2 * sum;
    if (total < facts->smallest * 0x1p53)
        total = rint(total / facts->smallest) * facts->smallest;
    if (total == 0)
        return true;
    if (n < places + 2)
        return false;
    size_t others = not_too_small(f, n - places, 2 * total);
    return plan_elements(plan, f, others < 2 ? 2 : others, total, total, sum, facts->emax, scaled);
}

/* The sum goes with the residual. */
static bool plan_together(struct cond_plan *plan, enum format f, size_t n, double sum, double cond,
                          bool scaled)
{
    double total = cond * sum;
    *plan = (struct cond_plan){0};
    n = not_too_small(f, n, total);
    return n >= 2 && plan_elements(plan, f, n, total / 2 - sum / 2, total / 2 + sum / 2, sum,
                                   lowest_bit(sum), scaled);
}

/* Scaling down costs up to two bits of range, so near the end of it there is none. */
/* Is there a plan for n >= 1 elements with a sum of this magnitude (> 0, a multiple of the
 * smallest subnormal number) and this condition number (>= 1)? */
static bool cond_plan(struct cond_plan *plan, enum format f, size_t n, double sum, double cond)
{
    /* Of n elements at least one is as large as a quarter of the mean of magnitudes. */
    double most = 4 * (double)n * format_facts[f].largest;
    if (!isfinite(cond * sum) || (cond >= 2 && cond * sum > most))
        return false;
    return plan_together(plan, f, n, sum, cond, true) || plan_apart(plan, f, n, sum, cond, true) ||
           plan_apart(plan, f, n, sum, cond, false) || plan_together(plan, f, n, sum, cond, false);
}

/* The largest power of two, at most 2^most (<= 2^1023), for which there is a plan; 0 if there is
 * none for 1 either. */
static double cond_reach(enum format f, size_t n, double sum, int most)
{
    struct cond_plan plan;
    for (int e = most; e >= 0; e--)
        if (cond_plan(&plan, f, n, sum, ldexp(1, e)))
            return ldexp(1, e);
    return 0;
}

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
                  {"target", 0, 0, DBL_MAX,
                   "the condition number; 0: as --cond says, or the most up to 2^20", false}},
    .uses_seed = true,
    .uses_cond = true,
    .costly_ns = 75,
    .order_safe = cond_safe,
    .reaches = cond_reaches,
    .generate = cond_generate,
};
