/* Figures of one item, correctly rounded, from numbers of two doubles. */
#include <float.h>

#include "reference/exact/dd.h"
#include "reference/measure/scan_rules.h"

/* A generous bound on the relative error of dd.h, and the range in which it holds. */
#define LOSS  0x1p-96
#define LEAST 0x1p-800
#define MOST  0x1p800

/* Sets *to to the nearest double to all that is within `slack` of x. */
static bool nearest(double *to, struct dd x, double slack)
{
    *to = x.hi;
    return x.hi + (x.lo + slack) == x.hi && x.hi + (x.lo - slack) == x.hi;
}

static bool in_range(double x)
{
    return x >= LEAST && x <= MOST;
}

/* An error, not negative, with what it may be off. */
struct error {
    struct dd value;
    double slack;
};

/* |result - prefix|. */
static struct error error_of(const struct scan_item *x)
{
    struct dd difference = dd_sum(x->result, -x->hi);
    struct error e = {dd_abs(dd_add(difference, (struct dd){-x->lo, -x->low})), x->slack};
    if (difference.lo != 0 || x->low != 0) /* else two doubles are added, exactly */
        e.slack += e.value.hi * LOSS;
    return e;
}

/* The error over its ulp. Where that loses digits, so does err_rel, and is out of range. */
static double in_ulps(const struct scan_item *x, double error, enum format output)
{
    bool inwards = (x->lo < 0 && x->hi > 0) || (x->lo > 0 && x->hi < 0);
    return error / format_ulp(output, inwards ? nextafter(x->hi, 0) : x->hi);
}

/* The error over `below`, which is off by less than LOSS of itself. */
static bool over(double *to, const struct error *e, struct dd below)
{
    if (e->value.hi == 0 && e->slack == 0 && below.hi > 0) {
        *to = 0;
        return true;
    }
    struct dd quotient = dd_over(e->value, below);
    if (!in_range(e->value.hi) || !in_range(below.hi) || !in_range(quotient.hi))
        return false;
    return nearest(to, quotient, quotient.hi * (4 * LOSS) + 2 * e->slack / below.hi);
}

/* ku / (1 - ku), infinite where it says nothing. ku is exact. */
static struct dd gamma_of(double k, double u)
{
    struct dd below = dd_sum(1, -(k * u));
    if (below.hi <= 0)
        return (struct dd){INFINITY, 0};
    return dd_over((struct dd){k * u, 0}, below);
}

static struct dd scaled(struct dd x, double power)
{
    return (struct dd){x.hi * power, x.lo * power};
}

/* `lost`: additions may lose their errors. */
static struct dd factor_of(const struct scan_rules *rules, const struct scan_item *x, bool lost)
{
    struct dd all = {x->terms > 1 ? (x->terms - 1) * rules->u : 0, 0};
    if (rules->bound == THEOREM_ANY_ORDER)
        return all;
    if (rules->bound == THEOREM_CORRECTLY_ROUNDED)
        return (struct dd){0, 0};
    struct dd height = gamma_of(x->height, rules->u);
    if (rules->bound == THEOREM_TREE)
        return height.hi < all.hi || (height.hi == all.hi && height.lo < all.lo) ? height : all;
    struct dd product = dd_times(gamma_of(2 * x->height, rules->u), height);
    product = dd_add(product, scaled(product, rules->u));
    if (!lost)
        return product;
    struct dd all_lost = gamma_of(5 * x->height, rules->u);
    return product.hi > all_lost.hi ? product : all_lost;
}

/* Sets *lost: sum|x| and what rounding elements changes reach half of the largest number. False
 * where doubles do not tell, or not what follows: see theorem_lost_errors. */
static bool loses_errors(bool *lost, const struct scan_rules *rules, const struct scan_item *x)
{
    double reach = x->abs_hi + (x->abs_hi * rules->input_u + x->terms * rules->input_h);
    double least = format_facts[rules->accumulator].largest / 2;
    *lost = rules->bound == THEOREM_COMPENSATED && reach > least;
    return rules->bound != THEOREM_COMPENSATED ||
           (fabs(reach - least) > least * SCAN_NEAR && (!*lost || 5 * x->height * rules->u < 1));
}

/* See theorem.h and measure.h. */
static struct dd bound_of(const struct scan_rules *rules, const struct scan_item *x, bool lost)
{
    struct dd size = {x->abs_hi, x->abs_lo}, own = {0, 0};
    struct dd input =
        dd_add(scaled(size, rules->input_u), (struct dd){x->terms * rules->input_h, 0});
    double output = fabs(x->result) * rules->output_u;
    double least = format_facts[rules->accumulator].smallest_normal;
    if (rules->bound == THEOREM_CORRECTLY_ROUNDED) {
        input = (struct dd){0, 0};
        own = dd_abs((struct dd){x->hi, x->lo});
        own = scaled(own.hi != 0 && own.hi < least ? (struct dd){least, 0} : own, rules->u);
    }
    if (rules->bound == THEOREM_COMPENSATED)
        own = scaled(dd_add(dd_abs((struct dd){x->hi, x->lo}), input), rules->u);
    output = output > rules->output_h ? output : rules->output_h;
    if (rules->bound == THEOREM_BLOCKS)
        return dd_sum(x->height, fabs(x->result) <= rules->output_most ? output : 0);
    struct dd rounded = dd_times(factor_of(rules, x, lost), dd_add(size, input));
    struct dd bound = dd_add(dd_add(input, own), rounded);
    return dd_add(bound, (struct dd){fabs(x->result) <= rules->output_most ? output : 0, 0});
}

static bool over_bound(struct scan_figures *f, const struct scan_rules *rules,
                       const struct scan_item *x, const struct error *e)
{
    bool lost, told = loses_errors(&lost, rules, x);
    struct dd bound = bound_of(rules, x, lost);
    double *ratio = &f->value[SCAN_OVER_BOUND];
    *ratio = -1;
    f->broken = false;
    if (rules->bound == THEOREM_NONE)
        return true;
    if (!told || rules->bound == THEOREM_BINNED) /* doubles do not know the largest element */
        return false;
    if (rules->bound == THEOREM_CORRECTLY_ROUNDED && bound.hi != 0 && bound.hi < 0x1p-900)
        return false;                               /* half the smallest subnormal double is none */
    bool none = isnan(bound.hi) || isinf(bound.hi); /* what cannot overflow in this range says so */
    if (none || (bound.hi == 0 && e->value.hi == 0 && e->slack == 0))
        return in_range(x->abs_hi) || x->abs_hi == 0;
    struct dd excess = dd_add(e->value, (struct dd){-bound.hi, -bound.lo});
    double slack = e->slack + bound.hi * (2 * LOSS);
    f->broken = excess.hi > 0;
    return over(ratio, e, bound) && fabs(excess.hi) > slack;
}

bool scan_figures_find(struct scan_figures *f, const struct scan_rules *rules,
                       const struct scan_item *x)
{
    struct error e = error_of(x);
    struct dd sum = dd_abs((struct dd){x->hi, x->lo}), size = {x->abs_hi, x->abs_lo};
    for (int k = 0; k < SCAN_FIGURES; k++)
        f->value[k] = -1;
    if (x->result == x->hi) /* lo is the error rounded already */
        f->value[SCAN_ABS] = fabs(x->lo);
    else if (!nearest(&f->value[SCAN_ABS], e.value, e.slack))
        return false;
    f->value[SCAN_ULP] = in_ulps(x, f->value[SCAN_ABS], rules->output);
    return (sum.hi == 0 || over(&f->value[SCAN_REL], &e, sum)) &&
           (size.hi == 0 || over(&f->value[SCAN_BACKWARD], &e, size)) &&
           over_bound(f, rules, x, &e);
}
