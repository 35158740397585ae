/* Special inputs at the ends of the range. */
#include <math.h>

#include "experiments/conformance/class.h"

/* --- below the smallest normal number --- */

enum { SUBNORMALS = 7 };

static size_t subnormal_cases(const struct conformance_setting *s)
{
    bool both = format_facts[s->storage].smallest != format_facts[s->accumulator].smallest;
    return s->n > 0 ? (both ? 2 : 1) * SUBNORMALS : 0;
}

/* Of the storage or, if k says so, of what the accumulator has, too. */
static void subnormal_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    double one = k < SUBNORMALS ? format_facts[s->storage].smallest : special_bottom(s);
    double most = ldexp(1, format_facts[s->storage].precision - 1) - 1;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t draw = special_draw(s, k, i);
        double size = 1;
        switch (k % SUBNORMALS) {
        case 1:
            size = -1;
            break;
        case 2:
            size = i % 2 ? -1 : 1;
            break;
        case 3:
            size = most;
            break;
        case 4: /* few bits: long sums are exact, too */
            size = (double)(draw % 7) - 3;
            break;
        case 5:
            size = fmod((double)(draw >> 12), most) * (draw & 1 ? -1 : 1);
            break;
        case 6:
            size = i == s->n - 1;
        }
        special_put(to, i, size * one);
    }
}

const struct special_class special_subnormal = {
    .name = "subnormal",
    .summary = "all subnormal: the smallest, the largest, of either sign; one among zeros",
    .cases = subnormal_cases,
    .fill = subnormal_fill,
};

/* --- few numbers at the end of the range, spread among zeros --- */

struct few {
    size_t count;
    double part[4]; /* of the largest number; */
    double ulps[4]; /* and of its ulp */
};

static void few_fill(const struct conformance_setting *s, const struct few *few, bool negative,
                     const struct array *to)
{
    double top = special_top(s), ulp = format_ulp(s->accumulator, top);
    for (size_t i = 0; i < few->count; i++) {
        double x = few->part[i] * top + few->ulps[i] * ulp;
        special_put(to, special_place(s->n, i, few->count), negative ? -x : x);
    }
}

/* How many of a table fit in; they stand by size. */
static size_t few_cases(const struct few *few, size_t count, size_t n)
{
    size_t fit = 0;
    while (fit < count && few[fit].count <= n)
        fit++;
    return fit;
}

static const struct few overflow[] = {
    {1, {1}, {0}},
    {1, {1}, {-1}},
    {1, {1}, {0.5}}, /* where the storage holds it, it rounds to inf */
    {1, {1}, {0.25}},
    {2, {1, 1}, {0}},
    {2, {1, 0}, {0, 0.5}}, /* a tie: the even neighbour is beyond the range */
    {2, {1, 0}, {0, 0.375}},
    {2, {1, 0}, {0, 0.25}},
    {2, {1, 0}, {-1, 1}},
    {2, {0.5, 0.5}, {0}},
    {2, {0.5, 0.5}, {0, 1}},
    {3, {1, 0, 0}, {0, 0.25, 0.25}}, /* in one order it overflows */
    {3, {0, 1, 0}, {0.25, 0, 0.125}},
    {3, {0.25, 0.5, 0.25}, {0}},
    {4, {0.25, 0.25, 0.25, 0.25}, {0}},
    {4, {0.5, 0.5, 0.5, 0.5}, {0}},
    {4, {1, 0, 0, 0}, {0, 0.125, 0.125, 0.25}},
};
enum { OVERFLOWS = sizeof overflow / sizeof *overflow };

/* Whole arrays: just beyond the range, just within, far beyond. */
static void overflow_fill_all(const struct conformance_setting *s, size_t k, const struct array *to)
{
    static const double share[] = {1.0625, 0.9375, 0.4375};
    for (size_t i = 0; i < s->n; i++)
        special_put(to, i, share[k] * (special_top(s) / (double)s->n));
}

static size_t overflow_cases(const struct conformance_setting *s)
{
    return s->n > 0 ? 2 * few_cases(overflow, OVERFLOWS, s->n) + 3 : 0;
}

static void overflow_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    size_t few = overflow_cases(s) - 3;
    if (k < few)
        few_fill(s, &overflow[k / 2], k % 2, to);
    else
        overflow_fill_all(s, k - few, to);
}

const struct special_class special_overflow = {
    .name = "overflow",
    .summary = "at and next to overflow: the largest number and what half an ulp adds to it",
    .cases = overflow_cases,
    .fill = overflow_fill,
};

static const struct few way[] = {
    {2, {1, -1}, {0}},        {3, {1, 1, -1}, {0}},         {3, {1, -1, 1}, {0}},
    {3, {-1, 1, 1}, {0}},     {3, {1, 0, -1}, {0, 0.5, 0}}, {3, {0.5, 1, -1}, {0}},
    {4, {1, 1, -1, -1}, {0}}, {4, {1, -1, 1, -1}, {0}},     {4, {0.5, 0.5, 0.5, -1}, {0}},
};
enum { WAYS = sizeof way / sizeof *way };

/* Half and half, and in turn. */
static void way_fill_all(const struct conformance_setting *s, size_t k, const struct array *to)
{
    size_t even = s->n - s->n % 2;
    for (size_t i = 0; i < even; i++) {
        bool negative = k == 0 ? i >= even / 2 : i % 2;
        special_put(to, i, negative ? -special_top(s) : special_top(s));
    }
}

static size_t way_cases(const struct conformance_setting *s)
{
    return s->n > 1 ? 2 * few_cases(way, WAYS, s->n) + 2 : 0;
}

static void way_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    size_t few = way_cases(s) - 2;
    if (k < few)
        few_fill(s, &way[k / 2], k % 2, to);
    else
        way_fill_all(s, k - few, to);
}

const struct special_class special_way = {
    .name = "on_the_way",
    .summary = "sums in range whose partial sums overflow in some orders",
    .cases = way_cases,
    .fill = way_fill,
};
