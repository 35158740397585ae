/* Figures of a whole block in plain doubles, two items at a time: good to 2^-49, which is enough to
 * tell the few that matter. Nothing here is printed but the root mean square. */
#include <float.h>
#include <math.h>

#include "reference/format/pair.h"
#include "reference/measure/scan_rules.h"

static inline pair both(double x)
{
    return (pair){x, x};
}

static inline pair pair_less(pair a, pair b)
{
    return pair_select(a < b, a, b);
}

static inline pair pair_more(pair a, pair b)
{
    return pair_select(a > b, a, b);
}

/* The ulp of hi + lo: where lo leads from a power of two towards 0, that of the binade below. */
static inline pair ulp_of(pair hi, pair lo, const struct format_facts *facts)
{
    const pair_bits exponent = {0x7ff0000000000000, 0x7ff0000000000000};
    pair_bits inwards = ((pair_bits)hi ^ (pair_bits)lo) < 0;
    pair_bits size = (pair_bits)pair_abs(hi) + (inwards & (lo != both(0)));
    pair binade = (pair)(size & exponent);
    double highest = facts->largest / (2 - 2 * facts->unit_roundoff);
    binade = pair_more(binade, both(facts->smallest_normal));
    return pair_less(binade, both(highest)) * (2 * facts->unit_roundoff);
}

/* ku / (1 - ku), or something above any bound. */
static inline pair gamma_of(pair k, double u)
{
    pair g = k * u, below = 1 - g;
    return pair_select(below > both(0), g / below, both(INFINITY));
}

struct lane {
    pair result, hi, lo, abs_hi, terms, height;
};

/* The limits from which errors may be lost (theorem_lost_errors), and from which this cannot be
 * decided. */
struct losses {
    pair_bits lost, unsure;
};

static inline struct losses losses_of(const struct scan_rules *rules, const struct lane *x)
{
    double largest = format_facts[rules->accumulator].largest / 2;
    pair reach = x->abs_hi + (x->abs_hi * rules->input_u + x->terms * rules->input_h);
    pair least = both(largest), near = both(largest * SCAN_NEAR);
    pair_bits lost = (pair_bits)(reach >= least);
    pair_bits unsure = (pair_bits)(pair_abs(reach - least) <= near) |
                       (lost & (pair_bits)(x->height * (5 * rules->u) >= both(1)));
    return (struct losses){lost, unsure};
}

static bool rounds_once(const struct scan_rules *rules)
{
    return rules->bound == THEOREM_CORRECTLY_ROUNDED || rules->bound == THEOREM_BINNED;
}

/* See theorem.h and measure.h. Times `scale`, which keeps it from underflowing. THEOREM_BINNED's
 * without what cutting changes: too small, so that no item is missed. */
static inline pair bound_of(const struct scan_rules *rules, const struct lane *x, pair scale)
{
    pair size = pair_less(x->abs_hi, both(DBL_MAX)) * scale, own = both(0), factor;
    pair input = size * rules->input_u + x->terms * (rules->input_h * scale);
    pair output = pair_more(pair_abs(x->result) * rules->output_u, both(rules->output_h)) * scale;
    output = pair_select(pair_abs(x->result) <= both(rules->output_most), output, both(0));
    if (rules->bound == THEOREM_BLOCKS)
        return x->height * scale + output;
    if (rounds_once(rules)) { /* of the sum alone: size may be infinite */
        pair least = format_facts[rules->accumulator].smallest_normal * scale;
        if (rules->bound != THEOREM_BINNED)
            least = pair_select(x->hi == both(0), both(0), least); /* 0 is rounded to 0 */
        return pair_more(pair_abs(x->hi) * scale, least) * rules->u + output;
    }
    if (rules->bound == THEOREM_COMPENSATED) {
        factor = gamma_of(2 * x->height, rules->u) * gamma_of(x->height, rules->u);
        factor *= 1 + rules->u;
        struct losses is = losses_of(rules, x);
        pair lost = pair_more(factor, gamma_of(5 * x->height, rules->u));
        factor = pair_select(is.lost & ~is.unsure, lost, factor);
        own = (pair_abs(x->hi) * scale + input) * rules->u;
    } else {
        factor = pair_more(x->terms - 1, both(0)) * rules->u;
        if (rules->bound == THEOREM_TREE)
            factor = pair_less(factor, gamma_of(x->height, rules->u));
    }
    return input + own + factor * (size + input) + output;
}

/* x, or NaN where the mask is set. */
static inline pair unless(pair_bits mask, pair x)
{
    return (pair)((pair_bits)x | mask);
}

/* Quotients by 0 or infinity are unknown, and so are errors that are not finite. */
static inline void estimate(const struct scan_rules *rules, const struct lane *x,
                            pair figure[SCAN_FIGURES])
{
    pair error = pair_abs(x->result - x->hi - x->lo), zero = both(0);
    error = unless(error == both(INFINITY), error); /* and all that comes of it */
    pair size = pair_less(x->abs_hi, both(DBL_MAX));
    bool rounded = rounds_once(rules);
    double least = rules->input_h + rules->output_h;
    if (rounded)
        least += format_facts[rules->accumulator].smallest;
    pair by = rounded ? pair_abs(x->hi) : size, small = both(least > 0x1p-500 ? 0 : 0x1p-500);
    pair scale = pair_select(by < small, both(0x1p400), both(1));
    pair bound = bound_of(rules, x, scale);
    figure[SCAN_ABS] = error;
    figure[SCAN_ULP] = error / ulp_of(x->hi, x->lo, &format_facts[rules->output]);
    figure[SCAN_REL] = unless(x->hi == zero, error / pair_abs(x->hi));
    figure[SCAN_BACKWARD] = unless(size == zero, error / size);
    figure[SCAN_OVER_BOUND] = error / bound * scale + zero * bound; /* NaN for 0/0, infinity */
    if (rules->bound == THEOREM_NONE)
        figure[SCAN_OVER_BOUND] = both(NAN);
}

static inline pair load(const double *from, size_t i, size_t count)
{
    return i + 1 < count ? pair_load(from + i) : both(from[i]);
}

void scan_block_estimate(struct scan_block *b, const struct scan_rules *rules)
{
    pair most[SCAN_FIGURES], figure[SCAN_FIGURES], size = both(0), sum = both(0);
    pair_bits unsure = {0, 0};
    for (int k = 0; k < SCAN_FIGURES; k++)
        most[k] = both(-1);
    for (size_t i = 0; i < b->count; i += 2) {
        struct lane x = {load(b->result, i, b->count), load(b->hi, i, b->count),
                         load(b->lo, i, b->count),     load(b->abs_hi, i, b->count),
                         load(b->terms, i, b->count),  load(b->height, i, b->count)};
        estimate(rules, &x, figure);
        if (rules->bound == THEOREM_COMPENSATED)
            unsure |= losses_of(rules, &x).unsure;
        size = pair_more(x.abs_hi, size);
        sum += figure[SCAN_ABS] - figure[SCAN_ABS]; /* 0, or NaN for ever */
        for (int k = 0; k < SCAN_FIGURES; k++) {
            most[k] = pair_more(figure[k], most[k]);
            memcpy(b->estimate[k] + i, &figure[k], sizeof figure[k]);
        }
    }
    for (int k = 0; k < SCAN_FIGURES; k++)
        b->most[k] = fmax(most[k][0], most[k][1]);
    b->odd = isnan(sum[0] + sum[1]);
    b->loose = isinf(size[0] + size[1]) || unsure[0] || unsure[1] || rules->bound == THEOREM_BINNED;
}

/* Scaled by a power of two, so that no square that counts overflows or underflows. */
void scan_block_squares(const struct scan_block *b, double sum[2], int *exponent)
{
    int e = b->most[SCAN_ULP] > 0 ? ilogb(b->most[SCAN_ULP]) : 0;
    *exponent = e < -1000 ? -1000 : e > 1000 ? 1000 : e;
    pair scale = both(ldexp(1, -*exponent)), total = both(0), rest = both(0);
    for (size_t i = 0; i < b->count; i += 2) {
        pair x = load(b->estimate[SCAN_ULP], i, b->count);
        if (i + 1 == b->count)
            x[1] = 0;
        x = pair_more(x, both(0)) * scale;
        pair square = x * x, before = total, part;
        total = before + square;
        part = total - before;
        rest += (before - (total - part)) + (square - part);
    }
    sum[0] = total[0] + rest[0];
    sum[1] = total[1] + rest[1];
}
