/* Histograms of results that differ from run to run. */
#include <math.h>
#include <stdlib.h>

#include "reports/page/report.h"

enum { RUNS_LEAST = 10, BINS_MOST = 40 };

static bool varies(const struct gathered_case *c)
{
    return c->distinct > 1 && c->runs >= RUNS_LEAST && c->offset;
}

/* By formats, then by method, then the longest first. */
static int by_interest(const void *x, const void *y)
{
    const struct gathered_case *a = *(const struct gathered_case *const *)x,
                               *b = *(const struct gathered_case *const *)y;
    size_t i = page_pair_rank(a->field[CASE_STORAGE], a->field[CASE_ACCUMULATOR]),
           k = page_pair_rank(b->field[CASE_STORAGE], b->field[CASE_ACCUMULATOR]);
    if (i == k) {
        i = page_method_rank(a->field[CASE_METHOD]);
        k = page_method_rank(b->field[CASE_METHOD]);
    }
    int order = (i > k) - (i < k);
    order = order ? order : strcmp(a->field[CASE_METHOD], b->field[CASE_METHOD]);
    order = order ? order : strcmp(a->field[CASE_DEVICE], b->field[CASE_DEVICE]);
    if (order)
        return order;
    return a->n != b->n ? (a->n < b->n) - (a->n > b->n) : (a > b) - (a < b);
}

static bool same_picture(const struct gathered_case *a, const struct gathered_case *b)
{
    return strcmp(a->field[CASE_STORAGE], b->field[CASE_STORAGE]) == 0 &&
           strcmp(a->field[CASE_ACCUMULATOR], b->field[CASE_ACCUMULATOR]) == 0 &&
           page_same_series(a, b);
}

/* How a histogram is drawn. */
struct bins {
    double width, range; /* 0: there is nothing to draw */
    size_t highest;      /* the largest count */
};

/* Counts the runs in bins of whole ulps, as wide as it takes, and writes them. */
static struct bins fill_bins(struct plot *plot, const struct gathered_case *c)
{
    double least = INFINITY, most = -INFINITY;
    size_t count[BINS_MOST + 2] = {0};
    struct bins bins = {0};
    for (size_t i = 0; i < c->runs; i++)
        if (isfinite(c->offset[i])) {
            least = fmin(least, c->offset[i]);
            most = fmax(most, c->offset[i]);
        }
    if (!(most >= least))
        return bins;
    bins.width = fmax(1, ceil((most - least) / BINS_MOST));
    double first = floor(least / bins.width), last = floor(most / bins.width);
    bins.range = (last - first + 1) * bins.width;
    for (size_t i = 0; i < c->runs; i++)
        if (isfinite(c->offset[i]))
            count[(size_t)(floor(c->offset[i] / bins.width) - first)]++;
    text_format(&plot->data, "# %s, %s/%s, %s, n = %.0f: middle of the bin (ulp), runs\n",
                c->field[CASE_METHOD], c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR],
                c->field[CASE_INPUT], c->n);
    for (size_t i = 0; i <= (size_t)(last - first); i++) {
        bins.highest = count[i] > bins.highest ? count[i] : bins.highest;
        text_format(&plot->data, "%.9g %zu\n", (first + (double)i + 0.5) * bins.width, count[i]);
    }
    return bins;
}

/* A step of 1, 2 or 5 times a power of ten, so that a range has three to six of them, at least 1.
 */
static double step_of(double range)
{
    double ten = pow(10, floor(log10(range / 3)));
    double step = range / 3 >= 5 * ten ? 5 * ten : range / 3 >= 2 * ten ? 2 * ten : ten;
    return fmax(1, step);
}

static void draw_case(struct plot *plot, const struct gathered_case *c, size_t linetype)
{
    struct text title = {0};
    struct bins bins = fill_bins(plot, c);
    if (bins.width == 0)
        return;
    size_t block = plot_data_end(plot);
    text_format(&title, "%s, %s/%s, %s, n = %.0f, %s: %zu different results in %llu runs",
                c->field[CASE_METHOD], c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR],
                c->field[CASE_INPUT], c->n, c->field[CASE_DEVICE], c->distinct,
                (unsigned long long)c->runs);
    plot_panel(plot, 330, text_string(&title) ? text_string(&title) : "");
    text_format(&plot->script,
                "unset key\nset boxwidth %.9g\nset style fill solid 0.6 border\n"
                "set xlabel 'result minus exact sum, ulp (bins of %.3g)'\nset ylabel 'runs'\n"
                "set format x '%%.4g'\nset xtics %.9g\n"
                "set offsets graph 0.03, graph 0.03, 0, 0\nset rmargin 5\n"
                "set ytics %zu\nset yrange [0 : %zu]\n"
                "plot '%s.dat' index %zu using 1:2 with boxes linetype %zu\n",
                bins.width, bins.width, step_of(bins.range), (bins.highest + 5) / 6,
                bins.highest + 1, plot->name, block, linetype);
    text_free(&title);
}

enum status page_distinct(struct page *r, struct problem *p)
{
    struct plot plot;
    size_t count = 0;
    const struct gathered_case **list = calloc(r->g.count + 1, sizeof *list);
    if (!list)
        return problem(p, STATUS_DEVICE, "%s: out of memory for the pictures", r->folder);
    for (size_t i = 0; r->g.of != COLUMNS_OF_SCANS && i < r->g.count; i++)
        if (varies(&r->g.item[i]))
            list[count++] = &r->g.item[i];
    qsort(list, count, sizeof *list, by_interest);
    plot_begin(&plot, "distinct");
    for (size_t i = 0; i < count && plot.panels < PANELS_MOST; i++)
        if (i == 0 || !same_picture(list[i - 1], list[i]))
            draw_case(&plot, list[i], plot.panels % 6 + 1);
    free(list);
    return plot_end(&plot, r, "Results that differ from run to run",
                    "How often results came at each distance from the exact sum, of methods whose "
                    "runs did not agree: of each method and pair of formats the longest input. "
                    "0 is the exact sum; one bar would be one result.",
                    p);
}
