/* How much of the exact result is reached, where nothing cancels: a running sum that stands still
 * falls short, the more the longer it is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/report.h"

#define SHORT 0.95 /* what reaches less of the exact result falls short */

enum { BARS_MOST = 24 };

/* Result over exact value; NaN: not known, or terms of both signs, where it says nothing. */
static double reached(const struct gathered_case *c)
{
    bool one_sign = c->cond_log2.known && c->cond_log2.value < 1;
    if (!one_sign || !c->first_result.known || !c->first_exact.known || c->first_exact.value == 0)
        return NAN;
    double share = c->first_result.value / c->first_exact.value;
    return share > 0 && isfinite(share) ? share : NAN;
}

static bool same_panel(const struct page *r, const struct gathered_case *a,
                       const struct gathered_case *b)
{
    return page_operation_of(r, a) == page_operation_of(r, b) &&
           strcmp(a->field[CASE_STORAGE], b->field[CASE_STORAGE]) == 0 &&
           strcmp(a->field[CASE_ACCUMULATOR], b->field[CASE_ACCUMULATOR]) == 0;
}

/* Does any method fall short there, in the case's operation and formats? */
static bool falls_short(const struct page *r, const struct gathered_case *c)
{
    for (size_t i = 0; i < r->g.count; i++)
        if (same_panel(r, c, &r->g.item[i]) && reached(&r->g.item[i]) < SHORT)
            return true;
    return false;
}

/* How many elements a result is of: a row's. */
static double length_of(const struct gathered_case *c)
{
    double rows = strtod(c->field[CASE_BINS], NULL);
    return rows > 0 ? c->n / rows : c->n;
}

/* Of the same elements, in the same rows? */
static bool same_rows(const struct gathered_case *a, const struct gathered_case *b)
{
    return a->n == b->n && strcmp(a->field[CASE_INPUT], b->field[CASE_INPUT]) == 0 &&
           strcmp(a->field[CASE_BINS], b->field[CASE_BINS]) == 0 &&
           strcmp(a->field[CASE_KEYS], b->field[CASE_KEYS]) == 0;
}

void page_reach_findings(struct text *to, const struct page *r)
{
    const struct gathered_case *worst = NULL, *best = NULL;
    struct text name = {0}, input = {0};
    size_t cases = 0;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        cases += !isnan(reached(c));
        if (!isnan(reached(c)) && (!worst || reached(c) < reached(worst)))
            worst = c;
    }
    if (!worst)
        return;
    if (!(reached(worst) < SHORT)) {
        text_format(to,
                    "<li class=\"plain\">No sum falls short: in %zu cases whose terms all have one "
                    "sign each reaches %.0f%% of the exact result or more.</li>\n",
                    cases, floor(100 * reached(worst)));
        return;
    }
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (same_panel(r, c, worst) && same_rows(c, worst) && reached(c) <= 1 + 1e-3 &&
            c->promise != PROMISE_CORRECTLY_ROUNDED && (!best || reached(c) > reached(best)))
            best = c;
    }
    page_case_name(&name, worst);
    page_input(&input, worst->field[CASE_INPUT]);
    text_add(to, "<li class=\"plain\">");
    html_format(to, "%s reaches %.4g of %.4g: ", text_string(&name) ? name.data : "",
                worst->first_result.value, worst->first_exact.value);
    page_case_formats(to, worst, ", ");
    html_format(to, "%s, rows of %.0f", text_string(&input) ? input.data : "", length_of(worst));
    if (best && best != worst) {
        text_clear(&name);
        page_case_name(&name, best);
        html_format(to, "; %s reaches %.4g", text_string(&name) ? name.data : "",
                    best->first_result.value);
    }
    text_add(to, ".</li>\n");
    text_free(&name);
    text_free(&input);
}

/* --- of several lengths: curves --- */

static enum status draw_curves(struct page *r, struct sample *sample, struct problem *p)
{
    static const struct look look = {
        .name = "reach",
        .heading = "Results that fall short",
        .caption =
            "How many times too small the first row's result is, exact value over result, against "
            "the length of a row; of several inputs the worst. Of results whose terms all have one "
            "sign, and of formats in which some method falls short. A running sum stands still "
            "when what comes next is at most half the distance to the next number: from there on "
            "its line rises with the length.",
        .x_label = "elements in a row",
        .y_label = "times too small",
        .unit = "times too small",
        .shows = SHOWS_SHORT,
        .x_name = "row_length",
        .y_name = "exact_over_result",
        .log_x = true,
        .lines = true,
        .factors = true,
        .nested = true,
        .decades_most = 9,
        .top_most = 300,
        .series_most = 8,
        .level = 1,
        .level_says = "the exact result"};
    size_t count = 0;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        double share = reached(c);
        if (isnan(share) || !falls_short(r, c))
            continue;
        sample[count++] =
            (struct sample){.storage = c->field[CASE_STORAGE],
                            .accumulator = c->field[CASE_ACCUMULATOR],
                            .method = c->field[CASE_METHOD],
                            .device = c->field[CASE_DEVICE],
                            .x = length_of(c),
                            .y = 1 / share,
                            .bound = NAN,
                            .operation = r->operations > 1 ? page_operation_of(r, c) : NULL,
                            .chip = c->field[CASE_CHIP],
                            .promote = c->field[CASE_PROMOTE],
                            .workspace = c->field[CASE_WORKSPACE],
                            .algorithm = c->field[CASE_ALGORITHM]};
    }
    return page_samples(r, &look, sample, count, p);
}

/* --- of one length: bars --- */

static const struct gathered_case *falls_most(const struct page *r)
{
    const struct gathered_case *worst = NULL;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (!isnan(reached(c)) && falls_short(r, c) && (!worst || reached(c) < reached(worst)))
            worst = c;
    }
    return worst;
}

/* Draws each method in each pair of formats on the rows on which one falls shortest. */
static void draw_bars(struct plot *plot, const struct page *r)
{
    const struct gathered_case *bar[BARS_MOST], *worst = falls_most(r);
    struct text names = {0}, title = {0}, worst_name = {0};
    size_t bars = 0;
    if (!worst)
        return;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        size_t k = 0;
        if (isnan(reached(c)) || !falls_short(r, c) || !same_rows(c, worst))
            continue;
        while (k < bars && !(page_same_series(bar[k], c) && same_panel(r, bar[k], c)))
            k++;
        if (k == BARS_MOST)
            continue;
        if (k == bars || reached(c) < reached(bar[k]))
            bar[k] = c;
        bars += k == bars;
    }
    text_add(&plot->data, "# share of the exact result, place, colour, label\n");
    for (size_t k = 0; k < bars; k++) {
        const struct gathered_case *c = bar[k];
        struct text name = {0};
        page_case_name(&name, c);
        text_format(&name, ", %s in %s", c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR]);
        text_format(&plot->data, "%.9g %zu %zu \"%.4g of %.4g\"\n", fmin(reached(c), 1.2), k,
                    page_ink(c->field[CASE_METHOD]).colour, c->first_result.value,
                    c->first_exact.value);
        text_add(&names, k ? ", " : "");
        plot_axis_name(&names, text_string(&name) ? name.data : "", 34);
        text_format(&names, " %zu", k);
        plot_cell(plot, c->field[CASE_METHOD]);
        plot_cell(plot, c->field[CASE_STORAGE]);
        plot_cell(plot, c->field[CASE_ACCUMULATOR]);
        plot_cell(plot, c->field[CASE_INPUT]);
        plot_number(plot, length_of(c));
        plot_number(plot, c->first_result.value);
        plot_number(plot, c->first_exact.value);
        plot_row_end(plot);
        text_free(&name);
    }
    size_t block = plot_data_end(plot);
    page_case_name(&worst_name, worst);
    text_format(&title,
                "%s reaches %.4g of %.4g: ", text_string(&worst_name) ? worst_name.data : "",
                worst->first_result.value, worst->first_exact.value);
    page_case_formats(&title, worst, ", rows of ");
    text_format(&title, "%.0f", length_of(worst));
    plot_panel(plot, 90 + 26 * (double)bars, text_string(&title) ? text_string(&title) : "");
    text_format(&plot->script,
                "unset key\nset xrange [0 : 1.8]\nset xtics ('0' 0, '50%%%%' 0.5, '100%%%%' 1)\n"
                "set yrange [%zu.6 : -0.6]\nset ytics scale 0 noenhanced font 'sans,10' (%s)\n"
                "set xlabel 'of the exact result'\nset lmargin at screen 0.46\n"
                "set rmargin at screen 0.98\nset style fill solid 0.7 noborder\n"
                "plot '%s.dat' index %zu using ($1/2):2:($1/2):(0.35):(colour[int($3)]) with "
                "boxxyerror \\\n    linecolor rgb variable, \\\n"
                "    '' index %zu using 1:2:4 with labels left offset 0.5, 0 font 'sans,10'\n",
                bars - 1, text_string(&names) ? text_string(&names) : "", plot->name, block, block);
    text_free(&names);
    text_free(&title);
    text_free(&worst_name);
}

enum status page_reach(struct page *r, struct problem *p)
{
    double least = INFINITY, most = 0;
    struct plot plot;
    for (size_t i = 0; i < r->g.count; i++)
        if (!isnan(reached(&r->g.item[i])) && falls_short(r, &r->g.item[i])) {
            least = fmin(least, length_of(&r->g.item[i]));
            most = fmax(most, length_of(&r->g.item[i]));
        }
    if (most == 0) /* nothing falls short */
        return STATUS_OK;
    if (most >= 4 * least) {
        struct sample *sample = calloc(r->g.count, sizeof *sample);
        enum status status =
            sample ? draw_curves(r, sample, p)
                   : problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
        free(sample);
        return status;
    }
    plot_begin(&plot, "reach", "method,storage,accumulator,input,row_length,result,exact");
    draw_bars(&plot, r);
    return plot_end(&plot, r, "Results that fall short",
                    "The first row's result beside the exact one, of the worst input, where all "
                    "terms have one sign, in formats in which some method falls short. A running "
                    "sum stands still when what comes next is at most half the distance to the "
                    "next number: the longer the row, the less of it is reached.",
                    p);
}
