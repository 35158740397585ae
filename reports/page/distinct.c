/* Histograms of results that differ from run to run. */
#include <math.h>
#include <stdlib.h>

#include "reports/page/report.h"

enum { RUNS_LEAST = 10, BINS_MOST = 40 };

/* In what is drawn, too: results that are arrays may differ elsewhere than where they are measured.
 */
static bool varies(const struct gathered_case *c)
{
    double first = NAN;
    for (size_t i = 0; c->distinct > 1 && c->runs >= RUNS_LEAST && c->offset && i < c->runs; i++) {
        if (isfinite(c->offset[i]) && c->offset[i] != first && !isnan(first))
            return true;
        if (isfinite(c->offset[i]))
            first = c->offset[i];
    }
    return false;
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
    double reach;        /* the largest |value| */
    size_t highest;      /* the largest count */
};

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The least distance between two that differ; 1 where none do. */
static double least_gap(const double *sorted, size_t count)
{
    double gap = INFINITY;
    for (size_t i = 1; i < count; i++)
        if (sorted[i] > sorted[i - 1])
            gap = fmin(gap, sorted[i] - sorted[i - 1]);
    return isfinite(gap) ? gap : 1;
}

static void write_bin(struct plot *plot, const struct gathered_case *c, double middle, size_t runs)
{
    static const enum case_column column[] = {CASE_METHOD, CASE_STORAGE, CASE_ACCUMULATOR,
                                              CASE_INPUT,  CASE_N,       CASE_DEVICE};
    text_format(&plot->data, "%.9g %zu\n", middle, runs);
    for (size_t k = 0; k < sizeof column / sizeof *column; k++)
        plot_cell(plot, c->field[column[k]]);
    plot_number(plot, middle);
    plot_number(plot, (double)runs);
    plot_row_end(plot);
}

/* Counts the runs and writes bars in whose middle values lie: one for each value, or where these
 * are many for an odd number of neighbours. */
static struct bins count_bins(struct plot *plot, const struct gathered_case *c, double *value,
                              size_t count)
{
    struct bins bins = {0};
    qsort(value, count, sizeof *value, by_value);
    double gap = least_gap(value, count), span = value[count - 1] - value[0];
    bins.width = gap * (2 * ceil((span / gap / BINS_MOST - 1) / 2) + 1);
    bins.width = fmax(bins.width, gap);
    bins.range = span + bins.width;
    bins.reach = fmax(fabs(value[0]), fabs(value[count - 1]));
    text_format(&plot->data, "# %s, %s/%s, %s, n = %.0f: middle of the bar (ulp), runs\n",
                c->field[CASE_METHOD], c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR],
                c->field[CASE_INPUT], c->n);
    for (size_t i = 0, same; i < count; i += same) {
        double place = floor((value[i] - value[0]) / bins.width + 0.5);
        for (same = 1;
             i + same < count && floor((value[i + same] - value[0]) / bins.width + 0.5) == place;)
            same++;
        bins.highest = same > bins.highest ? same : bins.highest;
        write_bin(plot, c, value[0] + place * bins.width, same);
    }
    return bins;
}

/* A width of 0 where no result is finite. */
static enum status fill_bins(struct bins *bins, struct plot *plot, const struct gathered_case *c,
                             struct problem *p)
{
    double *value = calloc(c->runs + 1, sizeof *value);
    size_t count = 0;
    *bins = (struct bins){0};
    if (!value)
        return problem(p, STATUS_MEMORY, "report: out of memory for a histogram");
    for (size_t i = 0; i < c->runs; i++)
        if (isfinite(c->offset[i]))
            value[count++] = c->offset[i];
    if (count > 0)
        *bins = count_bins(plot, c, value, count);
    free(value);
    return STATUS_OK;
}

/* A step of 1, 2 or 5 times a power of ten, so that a range has three to six of them, at least 1.
 */
static double step_of(double range)
{
    double ten = pow(10, floor(log10(range / 3)));
    double step = range / 3 >= 5 * ten ? 5 * ten : range / 3 >= 2 * ten ? 2 * ten : ten;
    return fmax(1, step);
}

static enum status draw_case(struct plot *plot, const struct gathered_case *c, bool arrays,
                             struct problem *p)
{
    struct text title = {0};
    struct bins bins;
    enum status status = fill_bins(&bins, plot, c, p);
    if (status != STATUS_OK || bins.width == 0)
        return status;
    size_t block = plot_data_end(plot);
    text_format(&title, "%s: %zu different results in %llu runs (", c->field[CASE_METHOD],
                c->distinct, (unsigned long long)c->runs);
    page_case_formats(&title, c, ", ");
    page_case_place(&title, c);
    text_add(&title, ")");
    plot_panel(plot, 330, text_string(&title) ? text_string(&title) : "");
    text_format(&plot->script,
                "unset key\nset boxwidth %.9g\nset style fill solid 0.7 noborder\n"
                "set xlabel '%s, ulp (bars %s wide)'\nset ylabel 'runs'\n"
                "set format x '%%.6g'\nset xtics %.9g\n"
                "set offsets graph 0.03, graph 0.03, 0, 0\nset rmargin 5\n"
                "set ytics %.0f\nset yrange [0 : %zu]\n"
                "plot '%s.dat' index %zu using 1:2 with boxes linecolor rgb colour[%zu]\n",
                0.9 * bins.width, arrays ? "largest error of an output" : "result minus exact sum",
                short_number(bins.width).text,
                step_of(bins.reach < 500   ? bins.range
                        : bins.reach < 1e5 ? 2 * bins.range
                                           : 3 * bins.range),
                step_of((double)bins.highest), bins.highest + 1, plot->name, block,
                page_ink(c->field[CASE_METHOD]).colour);
    text_free(&title);
    return STATUS_OK;
}

/* Has it more different results? Of equals the first of the file, which the findings name too. */
static bool varies_more(const struct gathered_case *a, const struct gathered_case *b)
{
    return a->distinct != b->distinct ? a->distinct > b->distinct : a < b;
}

/* Keeps of each picture the case with most different results, and puts that with most of all in
 * front. Returns how many are left. */
static size_t keep_most(const struct gathered_case **list, size_t count)
{
    size_t kept = 0, first = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && same_picture(list[kept - 1], list[i])) {
            if (varies_more(list[i], list[kept - 1]))
                list[kept - 1] = list[i];
        } else {
            list[kept++] = list[i];
        }
    }
    for (size_t i = 1; i < kept; i++)
        first = varies_more(list[i], list[first]) ? i : first;
    const struct gathered_case *most = kept ? list[first] : NULL;
    for (size_t i = first; i > 0; i--)
        list[i] = list[i - 1];
    list[0] = most;
    return kept;
}

enum status page_distinct(struct page *r, struct problem *p)
{
    const bool arrays = columns_of_arrays(r->g.of);
    struct plot plot;
    size_t count = 0;
    const struct gathered_case **list = calloc(r->g.count + 1, sizeof *list);
    if (!list)
        return problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    for (size_t i = 0; r->g.of != COLUMNS_OF_SCANS && i < r->g.count; i++)
        if (varies(&r->g.item[i]))
            list[count++] = &r->g.item[i];
    qsort(list, count, sizeof *list, by_interest);
    plot_begin(&plot, "distinct",
               "method,storage,accumulator,input,n,device,result_minus_exact_ulp,runs");
    enum status status = STATUS_OK;
    count = keep_most(list, count);
    for (size_t i = 0; status == STATUS_OK && i < count && plot.panels < PANELS_MOST; i++)
        status = draw_case(&plot, list[i], arrays, p);
    free(list);
    struct text caption = {0};
    text_add(&caption,
             arrays ? "How often each result came, by the largest error of an output, of methods "
                      "whose runs did not agree: of each method and pair of formats the case with "
                      "most different results, that with most of all first. Results that differ "
                      "in other outputs alone stand on one bar."
                    : "How often each result came, by its distance from the exact sum (0), of "
                      "methods whose runs did not agree: of each method and pair of formats the "
                      "case with most different results, that with most of all first. A bar "
                      "stands on its results; a method with one result would have one bar.");
    if (count > PANELS_MOST)
        text_format(&caption, " Not drawn: %zu more.", count - PANELS_MOST);
    enum status drawn = plot_end(&plot, r, "Results that differ from run to run",
                                 text_string(&caption) ? caption.data : "", p);
    text_free(&caption);
    return status == STATUS_OK ? drawn : status;
}
