#include "experiments/studies/steps_weight.h"

#include <math.h>

#include "experiments/inputs/philox.h"
#include "kernels/method/two_sum.h"

const char *const steps_method_name[STEPS_METHODS] = {"plain", "kahan", "two_words", "stochastic"};

double steps_round_stochastic(enum format f, double a, double b, double random)
{
    struct two_sum s = two_sum(FP64, a, b);
    double low = format_round(f, s.sum), high = low;
    if (!isfinite(s.sum) || !isfinite(low) || !isfinite(s.error))
        return low;
    double beyond = s.sum - low + s.error; /* the difference is exact: they are neighbours */
    if (beyond == 0)
        return low;
    if (beyond > 0)
        high = format_next_up(f, low);
    else
        low = format_next_down(f, high);
    if (!isfinite(low) || !isfinite(high))
        return format_round(f, s.sum);
    return random < (s.sum - low + s.error) / (high - low) ? high : low;
}

void steps_add(struct steps_weight *w, double u, uint64_t t)
{
    enum format f = w->f;
    double y, next;
    struct two_sum s;
    switch (w->method) {
    case STEPS_PLAIN:
        w->word = format_add(f, w->word, u);
        return;
    case STEPS_KAHAN:
        y = format_add(f, u, w->rest);
        next = format_add(f, w->word, y);
        w->rest = format_add(f, y, -format_add(f, next, -w->word));
        w->rest = isfinite(w->rest) ? w->rest : 0;
        w->word = next;
        return;
    case STEPS_TWO_WORDS:
        s = two_sum(f, w->word, u);
        s = two_sum(f, s.sum, format_add(f, w->rest, s.error));
        w->word = s.sum;
        w->rest = isfinite(s.error) ? s.error : 0;
        return;
    case STEPS_STOCHASTIC:
        w->word = steps_round_stochastic(
            f, w->word, u, random_unit(random_draw(w->seed, RANDOM_ROUNDING, t).word[0]));
        return;
    case STEPS_METHODS:
        return;
    }
}

/* Are two numbers in one binade? */
static bool together(double a, double b)
{
    return a != 0 && b != 0 && signbit(a) == signbit(b) && ilogb(a) == ilogb(b);
}

/* How many more steps of `step` from w stay within w's binade, off its ends. */
static double steps_within(double w, double step)
{
    double least = ldexp(1, ilogb(w)), size = fabs(w);
    bool grows = signbit(w) == signbit(step);
    double room = grows ? least - (size - least) : size - least; /* 2 * least may overflow */
    double steps = floor(room / fabs(step)) - 1;
    return steps > 0 ? steps : 0;
}

struct steps_end steps_end_of(enum format f, double w0, double u, uint64_t n)
{
    double w = w0;
    for (uint64_t t = 1; t <= n;) {
        double next = format_add(f, w, u), after = format_add(f, next, u);
        if (next == w)
            return (struct steps_end){t, isinf(w)};
        if (!isfinite(next))
            return (struct steps_end){t < n ? t + 1 : 0, true};
        /* Within a binade each step is the same multiple of the spacing; where u lies halfway
         * between two, from the second step on. */
        bool even =
            together(w, next) && together(next, after) && next - w == after - next && next != after;
        double steps = even ? steps_within(next, next - w) : 0;
        w = next + steps * (next - w);
        t += 1 + (uint64_t)fmin(steps, 0x1p62);
    }
    return (struct steps_end){0, false};
}

enum { CERTAIN = 60 }; /* a stochastic bound fails with a probability of 2^-60 */

/* Of the mean of `seeds` stochastic weights. A step errs by 0 in the mean, within the distance of
 * two neighbours, at most `spacing`, and with a variance of at most |u| times that: between w and
 * w + u lies a number of the format, one of w + u's neighbours. So Freedman's inequality for
 * martingales (1975) gives x with x^2 = 2 L (V + spacing x / 3), L = ln 2^61, for all steps at
 * once. It needs a weight that stays below `most` times the magnitudes a, or is stopped there; with
 * x below (most - 1) a that is so. */
static double stochastic_bound(enum format f, double t, double a, double seeds)
{
    const double l = (CERTAIN + 1) * M_LN2;
    for (double most = 2; most <= 256; most *= 2) {
        double spacing = format_ulp(f, most * a), part = l * spacing / 3, v = 2 * l * spacing * a;
        double bias = t * spacing * 0x1p-52, one = part + sqrt(part * part + v);
        if (one + bias <= (most - 1) * a)
            return part / seeds + sqrt(part / seeds * part / seeds + v / seeds) + bias;
    }
    return INFINITY;
}

/* Bounds before what rounding the updates adds. a: sum of magnitudes, rounded updates in place of
 * those stored. Of kahan theorem_kahan's (theorem/accurate.c), and what waits in c; of two_words
 * 2u^2 of the exact result a step (Joldes, Muller and Popescu 2017). */
static double bound_of(enum steps_method method, enum format f, double t, double a, double seeds)
{
    double u = format_facts[f].unit_roundoff, grown;
    switch (method) {
    case STEPS_PLAIN:
        return t * u * a;
    case STEPS_KAHAN:
        grown = exp(t * log1p(5 * u));
        return ((2 * u + 4 * u * u) * (1 + u * grown * t * (t + 5) / 2) + 3 * u * grown) * a;
    case STEPS_TWO_WORDS:
        return expm1(t * log1p(2 * u * u)) * a;
    case STEPS_STOCHASTIC:
        return stochastic_bound(f, t, a, seeds);
    case STEPS_METHODS:
        break;
    }
    return INFINITY;
}

double steps_bound(enum steps_method method, enum format storage, enum format f, uint64_t t,
                   double sum_abs, uint64_t seeds)
{
    struct conversion by = format_conversion(f, storage);
    double changed = by.relative * sum_abs + (double)t * by.absolute, a = sum_abs + changed;
    double bound = bound_of(method, f, (double)t, a, (double)seeds);
    if (!(2 * a < format_facts[f].largest) || isnan(bound))
        return INFINITY;
    return (changed + bound) * (1 + 0x1p-30); /* more than the roundings above */
}
