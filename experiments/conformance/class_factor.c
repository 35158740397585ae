/* Special inputs of products. */
#include <math.h>

#include "experiments/conformance/class.h"

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
