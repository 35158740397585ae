/* Special inputs of dot products. */
#include <math.h>

#include "experiments/conformance/class.h"

/* --- Special inputs of products --- */

enum { ENDS = 7, CASES = ENDS + 4 };

static size_t factors_cases(const struct conformance_setting *s)
{
    return s->factors && s->n > 1 ? CASES : 0;
}

/* Numbers of any sign in [1, 2) times powers of two. log2 of the product of the first n t goes to
 * `top` where t is 1/2, then to `end`, as far as the storage has such numbers. */
static void fill_way(const struct conformance_setting *s, size_t k, double top, double end,
                     const struct array *to)
{
    const struct format_facts *facts = &format_facts[s->storage];
    double reached = 0;
    for (size_t i = 0; i < s->n; i++) {
        double t = (double)(i + 1) / (double)s->n;
        double target = t < 0.5 ? 2 * t * top : top + (2 * t - 1) * (end - top);
        uint64_t draw = special_draw(s, k, i);
        double m = format_round(s->storage, 1 + (double)(draw >> 12) * 0x1p-52);
        double e = round(target - reached - log2(m));
        e = fmin(fmax(e, facts->emin), facts->emax - 1);
        special_put(to, i, ldexp(draw & 1 ? -m : m, (int)e));
        reached += e + log2(m);
    }
}

static void factors_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    const struct format_facts *f = &format_facts[s->accumulator];
    double high = f->emax, low = f->emin - f->precision;
    const double end[ENDS] = {0, 0, high - 1, high + 5, low + 1, low - 9, f->emin - 3};
    fill_way(s, k, k % 2 ? 2 * low : 2 * high, k < ENDS ? end[k] : 0, to);
    if (k < ENDS)
        return;
    /* A zero, with an infinity, with a NaN, two zeros. */
    static const double odd[CASES - ENDS] = {1, INFINITY, NAN, -0.0};
    special_put(to, special_place(s->n, k, CASES), k % 2 ? -0.0 : 0.0);
    if (k > ENDS)
        special_put(to, k % 2 ? 0 : s->n - 1, odd[k - ENDS]);
}

const struct special_class special_factors = {
    .name = "factors",
    .summary = "products that leave the range and come back, end at its ends, beyond and below; "
               "zeros among them, with infinities",
    .cases = factors_cases,
    .fill = factors_fill,
};

/* --- what other classes give one array, in two --- */

enum spread {
    SPREAD_ONES,    /* x, times 1 */
    SPREAD_SWAPPED, /* 1, times x */
    SPREAD_SIGNS,   /* -x, times -1, every other one */
    SPREAD_SCALED,  /* x 2^e, times 2^-e, as far as the storage holds these */
    SPREAD_ROOTS,   /* large and small ones halved in exponent: x = r s */
    SPREAD_SQUARES, /* x x */
    SPREAD_OTHER,   /* x, times what another case has */
    SPREADS
};

static void copy(const struct array *to, const struct array *from)
{
    memcpy(to->data, from->data, array_bytes(from->format, from->n));
}

static void put_all(const struct array *to, double x)
{
    for (size_t i = 0; i < to->n; i++)
        special_put(to, i, x);
}

static bool holds(enum format f, double x)
{
    return format_round(f, x) == x && isfinite(x);
}

/* By which power of two an element is multiplied, and the other divided. */
static int exponent_of(enum spread how, double x, uint64_t draw)
{
    int exponent;
    frexp(x, &exponent);
    return how == SPREAD_ROOTS ? -exponent / 2 : (int)(draw % 61) - 30;
}

static void scale(const struct conformance_setting *s, enum spread how, size_t k,
                  const struct array *x, const struct array *y)
{
    for (size_t i = 0; i < s->n; i++) {
        double value = array_get(x, i);
        int e = exponent_of(how, value, special_draw(s, k, i));
        double a = ldexp(value, e), b = ldexp(1, -e);
        if (value == 0 || !holds(s->storage, a) || !holds(s->storage, b))
            continue;
        special_put(x, i, a);
        special_put(y, i, b);
    }
}

static void turn_signs(const struct conformance_setting *s, size_t k, const struct array *x,
                       const struct array *y)
{
    for (size_t i = k % 2; i < s->n; i += 2) {
        special_put(x, i, -array_get(x, i));
        special_put(y, i, -1);
    }
}

void special_fill_pair(const struct special_class *class, const struct conformance_setting *s,
                       size_t k, const struct array *x, const struct array *y)
{
    enum spread how = (enum spread)((k + s->n) % SPREADS);
    if (class->fill_pair) {
        class->fill_pair(s, k, x, y);
        return;
    }
    class->fill(s, k, x);
    if (how == SPREAD_SQUARES) {
        copy(y, x);
    } else if (how == SPREAD_OTHER) {
        class->fill(s, (k + 1) % class->cases(s), y);
    } else {
        put_all(y, 1);
        if (how == SPREAD_SWAPPED) {
            copy(y, x);
            put_all(x, 1);
        } else if (how == SPREAD_SIGNS) {
            turn_signs(s, k, x, y);
        } else if (how != SPREAD_ONES) {
            scale(s, how, k, x, y);
        }
    }
}

/* --- products --- */

enum value { NOTHING, ONE, ODD, TOP, BOTTOM, ROOT_TOP, ROOT_BOTTOM, INF, QUIET, VALUES };

/* Of the storage; ODD has a product of all its digits twice. */
static double value_of(const struct conformance_setting *s, int code)
{
    const struct format_facts *f = &format_facts[s->storage];
    double size[VALUES] = {[ONE] = 1,
                           [ODD] = 1 + 6 * f->unit_roundoff,
                           [TOP] = f->largest,
                           [BOTTOM] = f->smallest,
                           [ROOT_TOP] = ldexp(1, f->emax / 2 + 1),
                           [ROOT_BOTTOM] = ldexp(1, (f->emin - f->precision) / 2),
                           [INF] = INFINITY,
                           [QUIET] = NAN};
    return code < 0 ? -size[-code] : size[code];
}

enum { TERMS = 4 };

struct product_case {
    size_t count;
    int x[TERMS], y[TERMS];
};

static const struct product_case products[] = {
    /* Infinity times nothing, and what a zero's sign is. */
    {1, {INF}, {NOTHING}},
    {1, {QUIET}, {NOTHING}},
    {1, {INF}, {-INF}},
    {2, {NOTHING, -ONE}, {-ONE, NOTHING}},
    {2, {INF, INF}, {ONE, -BOTTOM}},
    {2, {INF, ONE}, {BOTTOM, ONE}},
    /* Two roundings or one. */
    {1, {ODD}, {ODD}},
    {2, {ODD, -ODD}, {ODD, ODD}},
    {2, {ODD, -ONE}, {ODD, ODD}},
    {3, {ODD, ODD, -ODD}, {ODD, ODD, ODD}},
    {4, {ODD, ONE, -ODD, BOTTOM}, {ODD, ODD, ODD, ONE}},
    /* Beyond the range, and back. */
    {1, {TOP}, {TOP}},
    {1, {ROOT_TOP}, {-ROOT_TOP}},
    {2, {ROOT_TOP, -TOP}, {ROOT_TOP, ONE}},
    {2, {ROOT_TOP, -ROOT_TOP}, {ROOT_TOP, ROOT_TOP}},
    {3, {TOP, TOP, -TOP}, {ODD, ONE, ODD}},
    /* Below it. */
    {1, {BOTTOM}, {BOTTOM}},
    {1, {ROOT_BOTTOM}, {-ROOT_BOTTOM}},
    {2, {ROOT_BOTTOM, ROOT_BOTTOM}, {ROOT_BOTTOM, ROOT_BOTTOM}},
    {2, {BOTTOM, BOTTOM}, {ODD, -ONE}},
    {3, {ONE, BOTTOM, -ONE}, {ONE, BOTTOM, ONE}},
    {4, {ROOT_BOTTOM, -ROOT_BOTTOM, BOTTOM, ONE}, {ROOT_BOTTOM, ROOT_BOTTOM, -BOTTOM, BOTTOM}},
};
enum { PRODUCT_CASES = sizeof products / sizeof *products };

static size_t product_cases(const struct conformance_setting *s)
{
    size_t fit = 0;
    for (size_t i = 0; s->pairs && i < PRODUCT_CASES; i++)
        fit += products[i].count <= s->n;
    return fit;
}

static void product_fill(const struct conformance_setting *s, size_t k, const struct array *x,
                         const struct array *y)
{
    const struct product_case *c = products;
    for (; c->count > s->n || k > 0; c++)
        k -= c->count <= s->n;
    for (size_t i = 0; i < s->n; i++)
        special_put(y, i, i % 2 ? 1 : -1);
    for (size_t i = 0; i < c->count; i++) {
        size_t place = special_place(s->n, i, c->count);
        special_put(x, place, value_of(s, c->x[i]));
        special_put(y, place, value_of(s, c->y[i]));
    }
}

const struct special_class special_product = {
    .name = "products",
    .summary = "infinity times 0; products beyond the range, below it, and of twice the digits",
    .cases = product_cases,
    .fill_pair = product_fill,
};
