#include "experiments/inputs/cond.h"

#include <math.h>

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
        if (grid > unit)
            continue;
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
bool cond_plan(struct cond_plan *plan, enum format f, size_t n, double sum, double cond)
{
    if (!isfinite(cond * sum))
        return false;
    return plan_together(plan, f, n, sum, cond, true) || plan_apart(plan, f, n, sum, cond, true) ||
           plan_apart(plan, f, n, sum, cond, false) || plan_together(plan, f, n, sum, cond, false);
}

double cond_reach(enum format f, size_t n, double sum, int most)
{
    struct cond_plan plan;
    for (int e = most; e >= 0; e--)
        if (cond_plan(&plan, f, n, sum, ldexp(1, e)))
            return ldexp(1, e);
    return 0;
}
