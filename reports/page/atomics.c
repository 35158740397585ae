/* What `run atomics` found of results that depend on timing: how many there are, how far they lie
 * apart, and how that grows with n. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/report.h"

/* What `run atomics` found, in words and as a table: how spreads grow, and whether they are normal.
 */

static void say_normal(struct text *to, const struct page *r)
{
    size_t tested = 0, rejected = 0;
    for (size_t row = 0; row < r->atomics.count; row++) {
        double probability = page_number(&r->atomics, row, ATOMICS_P_NORMAL);
        tested += !isnan(probability);
        rejected += probability < 0.05;
    }
    if (tested == 0)
        return;
    text_add(to, "<li class=\"plain\">");
    html_format(
        to,
        "D'Agostino and Pearson's test rejects a normal distribution at the 5%% level in %zu "
        "of the %zu cases with enough different results; of normal ones it rejects one in "
        "20.",
        rejected, tested);
    text_add(to, "</li>\n");
}

/* The row of growth.csv with most lengths, of what is relative to the fixed order's sum, as the
 * picture has it; g->count: there is none. */
static size_t best_law(const struct page_rows *g)
{
    size_t best = g->count;
    for (size_t row = 0; row < g->count; row++)
        if (strcmp(page_cell(g, row, GROWTH_FIGURE), "vs_max") == 0 &&
            !isnan(page_number(g, row, GROWTH_STANDARD_ERROR)) &&
            (best == g->count ||
             page_number(g, row, GROWTH_POINTS) > page_number(g, best, GROWTH_POINTS)))
            best = row;
    return best;
}

/* The exponent of the distance between two results of the same cases; NaN: it is not known. */
static double exponent_of_spread(const struct page_rows *g, size_t like)
{
    static const enum growth_column column[] = {GROWTH_METHOD,      GROWTH_DEVICE, GROWTH_STORAGE,
                                                GROWTH_ACCUMULATOR, GROWTH_INPUT,  GROWTH_LOAD,
                                                GROWTH_N_MIN,       GROWTH_N_MAX};
    for (size_t row = 0; row < g->count; row++) {
        bool same = strcmp(page_cell(g, row, GROWTH_FIGURE), "spread") == 0;
        for (size_t k = 0; same && k < sizeof column / sizeof *column; k++)
            same = strcmp(page_cell(g, row, column[k]), page_cell(g, like, column[k])) == 0;
        if (same)
            return page_number(g, row, GROWTH_EXPONENT);
    }
    return NAN;
}

void page_atomics_findings(struct text *to, const struct page *r)
{
    const struct page_rows *g = &r->growth;
    const size_t best = best_law(g);
    if (best < g->count) {
        struct text input = {0};
        const double spread = exponent_of_spread(g, best);
        page_input(&input, page_cell(g, best, GROWTH_INPUT));
        text_add(to, "<li class=\"plain\">");
        html_format(to,
                    "Relative to the fixed order's sum, results of %s stray as n^%.2f (+- %.2f; ",
                    page_cell(g, best, GROWTH_METHOD), page_number(g, best, GROWTH_EXPONENT),
                    page_number(g, best, GROWTH_STANDARD_ERROR));
        page_formats(to, page_cell(g, best, GROWTH_STORAGE), page_cell(g, best, GROWTH_ACCUMULATOR),
                     page_cell(g, best, GROWTH_ADDED_IN), ", ");
        html_format(to, "%s, n = %s to %s)", text_string(&input) ? input.data : "",
                    page_cell(g, best, GROWTH_N_MIN), page_cell(g, best, GROWTH_N_MAX));
        if (!isnan(spread))
            html_format(to, "; the largest distance of two grows as n^%.2f", spread);
        text_add(to, ".</li>\n");
        text_free(&input);
    }
    say_normal(to, r);
}

void page_exponents(struct text *to, const struct page *r)
{
    static const enum growth_column column[] = {GROWTH_METHOD, GROWTH_STORAGE, GROWTH_ACCUMULATOR,
                                                GROWTH_INPUT,  GROWTH_LOAD,    GROWTH_FIGURE,
                                                GROWTH_N_MIN,  GROWTH_N_MAX};
    enum { COLUMNS = sizeof column / sizeof *column };
    struct html_table t;
    if (r->growth.count == 0)
        return;
    text_add(
        to,
        "<section id=\"exponents\"><h2>How spreads grow</h2>\n<p>The power of n that fits "
        "best: of <code>spread</code>, the largest distance between two results of a case, and of "
        "<code>vs_max</code>, the largest from the fixed order's, relative to it.</p>\n");
    html_table_begin(&t, to, "llllllrrrr");
    for (size_t k = 0; k < COLUMNS; k++)
        html_cell(&t, "%s", growth_column(column[k])->name);
    html_cell(&t, "exponent");
    html_cell(&t, "standard error");
    for (size_t row = 0; row < r->growth.count; row++) {
        double exponent = page_number(&r->growth, row, GROWTH_EXPONENT),
               error = page_number(&r->growth, row, GROWTH_STANDARD_ERROR);
        for (size_t k = 0; !isnan(exponent) && k < COLUMNS; k++)
            html_cell(&t, "%s", page_cell(&r->growth, row, column[k]));
        if (!isnan(exponent))
            html_cell(&t, "%.2f", exponent);
        if (!isnan(exponent) && isnan(error))
            html_cell(&t, "%s", "");
        else if (!isnan(exponent))
            html_cell(&t, "%.2f", error);
    }
    html_table_end(&t);
    text_add(to, "</section>\n");
}

enum { LENGTHS_MOST = 64, SHOWN_MOST = 8, PANELS = 4, COLOURS = 16 };

static const char *word(const struct page *r, size_t row, size_t column)
{
    return page_cell(&r->atomics, row, column);
}

static double number(const struct page *r, size_t row, size_t column)
{
    return page_number(&r->atomics, row, column);
}

static bool alike(const struct page *r, size_t a, size_t b, const size_t *column, size_t columns)
{
    bool same = true;
    for (size_t i = 0; i < columns; i++)
        same &= strcmp(word(r, a, column[i]), word(r, b, column[i])) == 0;
    return same;
}

/* Formats and input: what a panel is of. */
static bool same_panel(const struct page *r, size_t a, size_t b)
{
    static const size_t column[] = {CASE_STORAGE, CASE_ACCUMULATOR, CASE_INPUT, CASE_DEVICE};
    return alike(r, a, b, column, 4);
}

/* A method in a panel, on a device that is as busy. */
static bool same_curve(const struct page *r, size_t a, size_t b)
{
    static const size_t column[] = {CASE_METHOD, ATOMICS_LOAD};
    return same_panel(r, a, b) && alike(r, a, b, column, 2);
}

static bool first_of(const struct page *r, size_t row,
                     bool (*same)(const struct page *, size_t, size_t))
{
    size_t k = 0;
    while (k < row && !same(r, k, row))
        k++;
    return k == row;
}

/* What is drawn: a column of atomics.csv. */
struct what {
    enum atomics_column column;
    const char *name, *heading, *caption, *y_label;
    const char *says[2]; /* before and behind the largest value of the longest input */
    bool fitted;         /* with the power law of growth.csv, on logarithmic axes */
};

struct curve {
    size_t count;
    double n[LENGTHS_MOST], y[LENGTHS_MOST];
    bool varies; /* has a case with more than one result */
};

/* Of each n the largest figure of any seed and launch shape, in the order of the file; NaN where
 * any is, which has no mark. */
static struct curve curve_of(const struct page *r, const struct what *what, size_t first)
{
    struct curve c = {0};
    for (size_t row = first; row < r->atomics.count; row++) {
        double n = number(r, row, CASE_N), y = number(r, row, what->column);
        size_t i = 0;
        if (!same_curve(r, first, row) || !*word(r, row, what->column) || isnan(n))
            continue;
        c.varies |= number(r, row, ATOMICS_DISTINCT) > 1;
        while (i < c.count && c.n[i] != n)
            i++;
        if (i == LENGTHS_MOST)
            continue;
        c.count = i == c.count ? i + 1 : c.count;
        c.n[i] = n;
        c.y[i] = figure_worse(y, c.y[i]) ? y : c.y[i];
    }
    return c;
}

/* Appends the power law that growth.csv has for the curve, and says its exponent in the label. */
static void add_law(struct text *curves, struct text *label, const struct page *r, size_t first,
                    const char *of, size_t colour, bool hollow)
{
    const struct page_rows *g = &r->growth;
    static const size_t column[][2] = {
        {GROWTH_METHOD, CASE_METHOD},   {GROWTH_DEVICE, CASE_DEVICE},
        {GROWTH_STORAGE, CASE_STORAGE}, {GROWTH_ACCUMULATOR, CASE_ACCUMULATOR},
        {GROWTH_INPUT, CASE_INPUT},     {GROWTH_LOAD, ATOMICS_LOAD}};
    for (size_t row = 0; row < g->count; row++) {
        bool same = strcmp(page_cell(g, row, GROWTH_FIGURE), "vs_max") == 0;
        for (size_t i = 0; same && i < sizeof column / sizeof *column; i++)
            same = strcmp(page_cell(g, row, column[i][0]), word(r, first, column[i][1])) == 0;
        double exponent = page_number(g, row, GROWTH_EXPONENT);
        if (!same || isnan(exponent) || isnan(page_number(g, row, GROWTH_FACTOR)))
            continue;
        text_format(label, ": n^%.2f", exponent);
        text_format(curves,
                    ", \\\n    %s * x ** %.9g with lines linecolor rgb %s[%zu] linewidth 1 "
                    "dashtype %d notitle",
                    page_cell(g, row, GROWTH_FACTOR), exponent, of, colour, hollow ? 2 : 1);
    }
}

static void write_row(struct plot *plot, const struct page *r, size_t first, double n, double y)
{
    static const size_t column[] = {CASE_METHOD,      CASE_DEVICE, CASE_STORAGE,
                                    CASE_ACCUMULATOR, CASE_INPUT,  ATOMICS_LOAD};
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        plot_cell(plot, word(r, first, column[i]));
    plot_number(plot, n);
    plot_number(plot, y);
    plot_row_end(plot);
}

/* Of the curves of one colour, which nearly all have, `alike` are drawn already: others have
 * another shade, or are hollow and dashed. */
static void add_curve(struct plot *plot, struct text *curves, const struct page *r,
                      const struct what *what, const struct curve *c, size_t first, size_t shown,
                      size_t alike)
{
    struct text label = {0}, law = {0};
    struct ink ink = page_ink(word(r, first, CASE_METHOD));
    const char *of = alike % 2 ? "shade" : "colour";
    const bool hollow = alike / 2 % 2 == 1;
    text_format(&plot->data, "# %s, %s: n, %s\n", word(r, first, CASE_METHOD),
                word(r, first, ATOMICS_LOAD), atomics_column(what->column)->name);
    for (size_t i = 0; i < c->count; i++)
        if (isfinite(c->y[i]) && (!what->fitted || c->y[i] > 0)) {
            text_format(&plot->data, "%.9g %.9g\n", c->n[i], c->y[i]);
            write_row(plot, r, first, c->n[i], c->y[i]);
        }
    text_add(&label, word(r, first, CASE_METHOD));
    if (what->fitted)
        add_law(&law, &label, r, first, of, ink.colour, hollow);
    text_format(curves,
                "%s'%s.dat' index %zu using 1:2 with %s linecolor rgb %s[%zu] \\\n"
                "    pointtype %s[%zu] dashtype %d title ",
                shown > 1 ? ", \\\n    " : "", plot->name, plot_data_end(plot),
                what->fitted ? "points" : "linespoints", of, ink.colour, hollow ? "hollow" : "mark",
                ink.mark, hollow ? 2 : 1);
    plot_quote(curves, text_string(&label) ? text_string(&label) : "");
    text_join(curves, &law);
    text_free(&label);
    text_free(&law);
}

static bool any_above(const struct curve *c)
{
    bool any = false;
    for (size_t i = 0; i < c->count; i++)
        any |= c->y[i] > 0 && isfinite(c->y[i]);
    return any;
}

/* The curves of the methods whose results vary there, on a device that is as busy as the first. */
static void draw_panel(struct plot *plot, const struct page *r, const struct what *what,
                       size_t first)
{
    struct text curves = {0}, title = {0};
    size_t shown = 0, drawn[COLOURS] = {0};
    double highest = 1, least = INFINITY, most = 0, most_y = 0, low = INFINITY, high = 0;
    size_t widest = first;
    for (size_t row = first; row < r->atomics.count && shown < SHOWN_MOST; row++) {
        if (!same_panel(r, first, row) || !first_of(r, row, same_curve) ||
            strcmp(word(r, first, ATOMICS_LOAD), word(r, row, ATOMICS_LOAD)) != 0)
            continue;
        struct curve c = curve_of(r, what, row);
        if (!c.varies || !any_above(&c))
            continue;
        const size_t colour = page_ink(word(r, row, CASE_METHOD)).colour % COLOURS;
        add_curve(plot, &curves, r, what, &c, row, ++shown, drawn[colour]++);
        highest = fmax(highest, number(r, row, ATOMICS_RUNS));
        for (size_t i = 0; i < c.count; i++) {
            least = fmin(least, c.n[i]);
            if (c.n[i] > most || (c.n[i] == most && c.y[i] > most_y))
                most_y = c.y[i], widest = row;
            most = fmax(most, c.n[i]);
            if (c.y[i] > 0 && isfinite(c.y[i])) {
                low = fmin(low, c.y[i]);
                high = fmax(high, c.y[i]);
            }
        }
    }
    if (shown > 0) {
        text_format(&title, "At n = %.0f ", most);
        page_name(&title, word(r, widest, CASE_METHOD), NULL, NULL);
        text_format(&title, "%s%s%s", what->says[0], short_number(most_y).text, what->says[1]);
        text_add(&title, ": ");
        page_formats(&title, word(r, first, CASE_STORAGE), word(r, first, CASE_ACCUMULATOR),
                     word(r, first, ATOMICS_ADDED_IN), ", ");
        page_input(&title, word(r, first, CASE_INPUT));
        text_format(&title, ", %s device", word(r, first, ATOMICS_LOAD));
        least = fmax(least, 1);
        double beside = fmax(1.2, pow(most / least, 0.04)); /* no mark is cut */
        plot_panel(plot, 355 + 19 * (double)shown, text_string(&title) ? text_string(&title) : "");
        text_format(&plot->script,
                    "set xlabel \"n, elements\\n \"\nset ylabel '%s'\n"
                    "set logscale x\nset format x '10^{%%T}'\nset xrange [%.6g : %.6g]\n",
                    what->y_label, least / beside, most * beside);
        text_add(&plot->script, "set xtics autofreq\n");
        if (most < 100 * least) /* there may be no power of ten */
            text_format(&plot->script, "set format x '%%g'\nset xtics (%.9g, %.9g)\n", least, most);
        if (what->fitted)
            text_add(&plot->script, "set logscale y\nset format y '10^{%T}'\nset autoscale y\n");
        if (what->fitted && low == high)
            text_format(&plot->script, "set yrange [1e%.0f : 1e%.0f]\n", floor(log10(low)),
                        floor(log10(low)) + 1);
        if (!what->fitted)
            text_format(&plot->script, "set yrange [0 : %.9g]\n", 1.05 * highest);
        text_add(&plot->script, "plot ");
        text_join(&plot->script, &curves);
        text_add(&plot->script, "\n");
    }
    text_free(&curves);
    text_free(&title);
}

static enum status draw(struct page *r, const struct what *what, struct problem *p)
{
    struct plot plot;
    char columns[128];
    size_t panels[PANELS], count = 0;
    snprintf(columns, sizeof columns, "method,device,storage,accumulator,input,load,n,%s",
             atomics_column(what->column)->name);
    plot_begin(&plot, what->name, columns);
    /* By formats in the order of interest, each with its inputs. */
    for (size_t rank = 0; rank < 64 && count < PANELS; rank++)
        for (size_t row = 0; row < r->atomics.count && count < PANELS; row++)
            if (page_pair_rank(word(r, row, CASE_STORAGE), word(r, row, CASE_ACCUMULATOR)) ==
                    rank &&
                first_of(r, row, same_panel))
                panels[count++] = row;
    for (size_t i = 0; i < count; i++)
        draw_panel(&plot, r, what, panels[i]);
    return plot_end(&plot, r, what->heading, what->caption, p);
}

enum status page_distinct_growth(struct page *r, struct problem *p)
{
    static const struct what what = {
        .column = ATOMICS_DISTINCT,
        .name = "distinct_growth",
        .heading = "How many different results",
        .caption =
            "Of all runs of a case, the number of different results, the largest of any seed and "
            "launch shape, against the length of the input. The upper edge is one result a run. "
            "Methods that gave one result throughout have no curve.",
        .y_label = "different results",
        .says = {" gave ", " different results"}};
    return draw(r, &what, p);
}

enum status page_spread(struct page *r, struct problem *p)
{
    static const struct what what = {
        .column = ATOMICS_VS_MAX,
        .name = "spread",
        .heading = "How far results that depend on timing stray",
        .caption =
            "The largest distance of a result S from that of the fixed order, |1 - |S / S_fixed||, "
            "of any run, seed and launch shape, against the length of the input, with the power of "
            "n that fits it best. Methods that gave one result throughout have no mark, nor has a "
            "length at which a result is not finite.",
        .y_label = "largest |1 - |S / S_{fixed}||",
        .says = {" strays most, by ", " of the fixed order's sum"},
        .fitted = true};
    return draw(r, &what, p);
}
