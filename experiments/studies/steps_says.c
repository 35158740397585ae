#include <math.h>

#include "experiments/studies/says.h"
#include "experiments/studies/steps_study.h"
#include "reports/text/against.h"

/* still: the first step from which on none has an effect, 0 if each of n has. `left` is what the
 * weight has become, where that is no number. */
static void step_cell(struct table *to, uint64_t still, const char *left, size_t n)
{
    if (left)
        table_cell(to, "%s at %llu", left, (unsigned long long)(still > 0 ? still - 1 : n));
    else if (still > 0)
        table_cell(to, "%llu", (unsigned long long)still);
    else
        table_cell(to, "moves");
}

/* Where the weight stands still, and where that was to be. */
static void row(struct table *to, const struct steps_case *c)
{
    table_cell(to, "%s", steps_method_name[c->method]);
    table_figure(to, "%.7g", c->weight);
    table_figure(to, "%.3g", c->err_ulp);
    table_share(to, c->over_bound);
    table_cell(to, "%s", c->broken ? "!" : "");
    step_cell(to, c->still_from,
              isnan(c->weight.value)   ? "nan"
              : isinf(c->weight.value) ? "overflow"
                                       : NULL,
              c->source->array.n);
    if (c->method == STEPS_PLAIN && c->constant)
        step_cell(to, c->predicted.still, c->predicted.overflow ? "overflow" : NULL,
                  c->source->array.n);
    else
        table_cell(to, "%s", "");
}

static bool same_updates(const struct steps_case *a, const struct steps_case *b)
{
    return a->source == b->source && a->accumulator == b->accumulator && a->start == b->start;
}

static void group(struct text *to, const struct steps_study *s, size_t first)
{
    static const char *const name[] = {"method", "weight",     "err_ulp",  "of bound",
                                       "",       "still from", "predicted"};
    const struct steps_case *c = &s->item[first];
    struct table table = {.align = "lrrrlrr"};
    text_format(to, "%s/%s, ", format_facts[c->source->array.format].name,
                format_facts[c->accumulator].name);
    text_visible(to, c->source->name);
    text_format(to, ", n = %zu, from %g: exact %.7g\n", c->source->array.n, c->start,
                c->exact.value);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        table_cell(&table, "%s", name[i]);
    for (size_t i = first; i < s->count; i++)
        if (same_updates(c, &s->item[i]) && steps_first(s, i))
            row(&table, &s->item[i]);
    table_draw(to, &table);
    to->failed |= table.failed;
    table_free(&table);
    if (c->zero) {
        struct text line = {0};
        text_format(&line, "every update is 0 once rounded to %s/%s: no step has an effect",
                    format_facts[c->source->array.format].name, format_facts[c->accumulator].name);
        says_line(to, &line);
    }
    for (size_t i = first; i < s->count; i++) {
        struct steps_mean mean = {0};
        if (same_updates(c, &s->item[i]) && steps_first(s, i))
            mean = steps_mean_of(s, i);
        if (mean.weights < 2 || isnan(mean.error))
            continue;
        struct text line = {0};
        text_format(&line, "stochastic: the mean error of %zu seeds is %.3g", mean.weights,
                    mean.error);
        if (isfinite(mean.bound))
            text_format(&line, "; unbiased rounding keeps it within +-%.3g%s", mean.bound,
                        fabs(mean.error) <= mean.bound ? "" : ": it is biased!");
        says_line(to, &line);
    }
    text_add(to, "\n");
}

/* Nothing where there is none. */
static void add_count(struct text *to, size_t count, const char *one, const char *more)
{
    if (count > 0)
        text_format(to, ", %zu %s", count, count == 1 ? one : more);
}

void steps_says(struct text *to, const struct steps_study *s, const char *out)
{
    size_t predicted = 0, met = 0, still = 0, overflow = 0, broken = 0;
    struct text line = {0};
    for (size_t i = 0; i < s->count; i++) {
        const struct steps_case *c = &s->item[i];
        bool equal = c->method == STEPS_PLAIN && c->constant, as_due = equal && !c->mispredicted;
        predicted += equal;
        met += as_due;
        overflow += as_due && c->predicted.overflow;
        still += as_due && !c->predicted.overflow && c->predicted.still > 0;
        broken += c->broken;
    }
    text_format(&line, "%zu of %zu plain weights with equal updates do as predicted", met,
                predicted);
    add_count(&line, still, "stands still", "stand still");
    add_count(&line, overflow, "overflows", "overflow");
    add_count(&line, met - still - overflow, "moves at every step", "move at every step");
    says_line(to, &line);
    text_format(&line, "%zu of %zu weights exceed%s the bound", broken, s->count,
                broken == 1 ? "s" : "");
    says_line(to, &line);
    text_add(to, "\n");
    says_legend(to,
                "weight: after the last step, of the first seed; err_ulp: its distance from the "
                "exact weight, in spacings of the format there; of bound: the largest share of "
                "the bound at any recorded step; still from: the first step from which on "
                "no step has an effect, or the step that left the format's range (overflow); "
                "predicted: the same, from the format's spacing, of plain weights with equal "
                "updates.");
    text_add(to, "\n");
    for (size_t i = 0; i < s->count; i++) {
        bool first = true;
        for (size_t k = 0; first && k < i; k++)
            first = !same_updates(&s->item[k], &s->item[i]);
        if (first)
            group(to, s, i);
    }
    text_format(&line, "%zu weights: %s/steps.csv (rows along the way), study.json", s->count, out);
    says_line(to, &line);
    text_format(&line, "next: build/ulpscope report %s", out);
    says_line(to, &line);
}
