#include <math.h>

#include "reference/exact/mpfr.h"
#include "reference/measure/scan_part.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A NaN is larger than any number. Of equal figures, the one found first stays. */
static bool larger(double a, double b)
{
    return isnan(a) ? !isnan(b) : a > b;
}

void scan_best_take(struct scan_best *best, const struct scan_best *other)
{
    if (other->known && (!best->known || larger(other->value, best->value)))
        *best = *other;
}

static void merge_contrast(struct scan_contrast *c, const struct scan_contrast *next)
{
    c->differing += next->differing;
    c->first_diff = least(c->first_diff, next->first_diff);
    c->compared += next->compared;
    exact_merge(&c->relative, &next->relative);
}

void scan_part_merge(struct scan_part *part, const struct scan_part *next)
{
    for (int k = 0; k < SCAN_FIGURES; k++)
        scan_best_take(&part->best[k], &next->best[k]);
    part->overflow |= next->overflow;
    part->nan |= next->nan;
    part->broken += next->broken;
    part->first_broken = least(part->first_broken, next->first_broken);
    mpfr_add(part->squares, part->squares, next->squares, MPFR_RNDN);
    part->squared += next->squared;
    part->decreases += next->decreases;
    for (int t = 0; t < SCAN_TWINS; t++)
        merge_contrast(&part->contrast[t], &next->contrast[t]);
}

static struct figure figure_of(const struct scan_best *best)
{
    return (struct figure){best->known, best->known ? best->value : 0};
}

static struct figure share_of(size_t count, size_t n)
{
    return (struct figure){n > 0, n > 0 ? (double)count / (double)n : 0};
}

/* sqrt(squares / squared), or the largest err_ulp where that is no number. */
static struct figure root_mean_square(const struct scan_part *part)
{
    const struct scan_best *worst = &part->best[SCAN_ULP];
    if (!worst->known || !isfinite(worst->value))
        return figure_of(worst);
    mpfr_t mean;
    mpfr_init2(mean, 256);
    mpfr_div_ui(mean, part->squares, part->squared, MPFR_RNDN);
    mpfr_sqrt(mean, mean, MPFR_RNDN);
    double root = mpfr_get_d(mean, MPFR_RNDN);
    mpfr_clear(mean);
    return (struct figure){true, root};
}

static struct figure mean_difference(const struct scan_contrast *c)
{
    if (c->compared == 0)
        return (struct figure){false, 0};
    mpfr_t mean;
    mpfr_init2(mean, MPFR_PREC_MIN);
    exact_get(mean, &c->relative);
    mpfr_prec_round(mean, 2300, MPFR_RNDN); /* no less than it takes */
    mpfr_div_ui(mean, mean, c->compared, MPFR_RNDN);
    double value = mpfr_get_d(mean, MPFR_RNDN);
    mpfr_clear(mean);
    return (struct figure){true, value};
}

void scan_part_report(const struct scan_part *part, bool negative, struct scan_measure *m)
{
    size_t n = scan_outputs(part->scan);
    m->outcome = part->overflow ? OUTCOME_OVERFLOW : part->nan ? OUTCOME_NAN : OUTCOME_OK;
    m->err_abs = figure_of(&part->best[SCAN_ABS]);
    m->err_rel = figure_of(&part->best[SCAN_REL]);
    m->err_ulp = figure_of(&part->best[SCAN_ULP]);
    m->err_backward = figure_of(&part->best[SCAN_BACKWARD]);
    m->err_over_bound = figure_of(&part->best[SCAN_OVER_BOUND]);
    m->err_ulp_rms = root_mean_square(part);
    m->worst_index = part->best[SCAN_ULP].known ? part->best[SCAN_ULP].index : n;
    m->broken = part->broken;
    m->first_broken = part->first_broken;
    m->decreases = (struct figure){!negative, negative ? 0 : (double)part->decreases};
    for (int t = 0; t < SCAN_TWINS; t++) {
        const struct scan_contrast *c = &part->contrast[t];
        m->difference[t] = (struct scan_difference){
            share_of(c->differing, part->out->twin[t] ? n : 0), mean_difference(c), c->first_diff};
    }
}
