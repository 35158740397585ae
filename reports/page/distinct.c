/* Histograms of results that differ from run to run. */
#include <math.h>
#include <stdlib.h>

#include "reports/page/report.h"

enum { RUNS_LEAST = 10, BINS_LEAST = 10, BINS_MOST = 40, DRAWN_MOST = 12 };

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

/* How a histogram is drawn: bars side by side from `begin` on. */
struct bins {
    double begin, width; /* width 0: there is nothing to draw */
    size_t bars;         /* up to the last that has a run */
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

static void write_bin(struct plot *plot, const struct gathered_case *c, const struct bins *bins,
                      double place, size_t runs)
{
    static const enum case_column column[] = {CASE_METHOD, CASE_STORAGE, CASE_ACCUMULATOR,
                                              CASE_INPUT,  CASE_N,       CASE_DEVICE};
    const double from = bins->begin + place * bins->width;
    text_format(&plot->data, "%.9g %zu\n", from + bins->width / 2, runs);
    for (size_t k = 0; k < sizeof column / sizeof *column; k++)
        plot_cell(plot, c->field[column[k]]);
    plot_number(plot, from + bins->width / 2);
    plot_number(plot, (double)runs);
    plot_number(plot, from);
    plot_number(plot, from + bins->width);
    plot_row_end(plot);
}

/* In which bar a value lies. */
static double place_of(const struct bins *bins, double value)
{
    return fmax(floor((value - bins->begin) / bins->width), 0);
}

/* Few values lie in the middle of narrow bars; many share bars of an odd number of neighbours. No
 * bar of errors, which are not negative, reaches below 0. */
static struct bins make_bins(const double *sorted, size_t count, bool errors)
{
    struct bins bins = {0};
    const double gap = least_gap(sorted, count), span = sorted[count - 1] - sorted[0];
    bins.width = fmax(gap * (2 * ceil((span / gap / BINS_MOST - 1) / 2) + 1), gap);
    bins.width = span > 0 ? fmin(bins.width, span / BINS_LEAST) : bins.width;
    bins.begin = sorted[0] - bins.width / 2;
    if (errors && bins.begin < 0)
        bins.begin = 0;
    bins.bars = (size_t)place_of(&bins, sorted[count - 1]) + 1;
    bins.reach = fmax(fabs(sorted[0]), fabs(sorted[count - 1]));
    return bins;
}

/* Counts the runs in each bar. */
static struct bins count_bins(struct plot *plot, const struct gathered_case *c, double *value,
                              size_t count, bool errors)
{
    qsort(value, count, sizeof *value, by_value);
    struct bins bins = make_bins(value, count, errors);
    text_format(&plot->data, "# %s, %s/%s, %s, n = %.0f: middle of the bar (ulp), runs\n",
                c->field[CASE_METHOD], c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR],
                c->field[CASE_INPUT], c->n);
    for (size_t i = 0, same; i < count; i += same) {
        const double place = place_of(&bins, value[i]);
        for (same = 1; i + same < count && place_of(&bins, value[i + same]) == place;)
            same++;
        bins.highest = same > bins.highest ? same : bins.highest;
        write_bin(plot, c, &bins, place, same);
    }
    return bins;
}

/* A width of 0 where no result is finite. */
static enum status fill_bins(struct bins *bins, struct plot *plot, const struct gathered_case *c,
                             bool errors, struct problem *p)
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
        *bins = count_bins(plot, c, value, count, errors);
    free(value);
    return STATUS_OK;
}

/* A step of 1, 2 or 5 times a power of ten, so that a range has three to six of them. */
static double step_of(double range)
{
    double ten = pow(10, floor(log10(range / 3)));
    return range / 3 >= 5 * ten ? 5 * ten : range / 3 >= 2 * ten ? 2 * ten : ten;
}

static enum status draw_case(struct plot *plot, const struct gathered_case *c, bool arrays,
                             struct problem *p)
{
    struct text title = {0};
    struct bins bins;
    enum status status = fill_bins(&bins, plot, c, arrays, p);
    if (status != STATUS_OK || bins.width == 0)
        return status;
    const size_t block = plot_data_end(plot);
    const double range = bins.width * (double)bins.bars;
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
                "set xrange [%.9g : %.9g]\nset rmargin 5\n"
                "set ytics %.0f\nset yrange [0 : %zu]\n"
                "plot '%s.dat' index %zu using 1:2 with boxes linecolor rgb colour[%zu]\n",
                0.9 * bins.width, arrays ? "largest error of an output" : "result minus exact sum",
                short_number(bins.width).text,
                step_of(bins.reach < 500   ? range
                        : bins.reach < 1e5 ? 2 * range
                                           : 3 * range),
                bins.begin, bins.begin + range, fmax(step_of((double)bins.highest), 1),
                bins.highest + 1, plot->name, block, page_ink(c->field[CASE_METHOD]).colour);
    text_free(&title);
    return STATUS_OK;
}

/* Has it more different results? Of equals the first of the file, which the findings name too. */
static bool varies_more(const struct gathered_case *a, const struct gathered_case *b)
{
    return a->distinct != b->distinct ? a->distinct > b->distinct : a < b;
}

/* Puts a case at a place, where it is not in front of that already. Returns how many there are. */
static size_t put(const struct gathered_case **list, size_t count, size_t place,
                  const struct gathered_case *c)
{
    size_t at = 0;
    while (at < count && list[at] != c)
        at++;
    for (size_t i = at; i > place; i--)
        list[i] = list[i - 1];
    if (at >= place)
        list[place] = c;
    return at == count ? count + 1 : count;
}

/* Keeps of each picture the case with most different results, that with most of all in front, and
 * behind it the broken promise that the findings name. Returns how many are left. `list` has room
 * for one more. */
static size_t keep_most(const struct gathered_case **list, size_t count, const struct page *r)
{
    const struct gathered_case *broken = page_first_broken(r);
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
    if (kept > 0)
        kept = put(list, kept, 0, list[first]);
    return kept > 0 && broken && varies(broken) ? put(list, kept, 1, broken) : kept;
}

/* What the pictures are of, and what there is no picture of. */
static void say_caption(struct text *to, const struct page *r, size_t count)
{
    size_t without = 0;
    for (size_t i = 0; i < r->g.count; i++)
        without += r->g.item[i].distinct > 1 && !varies(&r->g.item[i]);
    text_add(to, columns_of_arrays(r->g.of)
                     ? "How often each result came, by the largest error of an output, of methods "
                       "whose runs did not agree: of each method and pair of formats the case with "
                       "most different results, that with most of all first. Results that differ "
                       "in other outputs alone stand on one bar."
                     : "How often each result came, by its distance from the exact sum (0), of "
                       "methods whose runs did not agree: of each method and pair of formats the "
                       "case with most different results, that with most of all first. A bar "
                       "stands on its results; a method with one result would have one bar.");
    const struct gathered_case *broken = page_first_broken(r);
    if (broken && varies(broken))
        text_add(to, " Before all others but the first stands the promise that the findings say is "
                     "broken, whatever else is drawn of its method.");
    if (count > DRAWN_MOST)
        text_format(to, " Not drawn: %zu more.", count - DRAWN_MOST);
    if (without > 0)
        text_format(to,
                    " No picture shows the %zu case%s with several results of fewer than %d runs, "
                    "or whose results all err alike.",
                    without, without == 1 ? "" : "s", RUNS_LEAST);
}

enum status page_distinct(struct page *r, struct problem *p)
{
    const bool arrays = columns_of_arrays(r->g.of);
    struct plot plot;
    size_t count = 0;
    const struct gathered_case **list = calloc(r->g.count + 2, sizeof *list);
    if (!list)
        return problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    for (size_t i = 0; r->g.of != COLUMNS_OF_SCANS && i < r->g.count; i++)
        if (varies(&r->g.item[i]))
            list[count++] = &r->g.item[i];
    qsort(list, count, sizeof *list, by_interest);
    plot_begin(&plot, "distinct",
               arrays ? "method,storage,accumulator,input,n,device,err_ulp,runs,bar_from,bar_to"
                      : "method,storage,accumulator,input,n,device,result_minus_exact_ulp,runs,"
                        "bar_from,bar_to");
    enum status status = STATUS_OK;
    count = keep_most(list, count, r);
    for (size_t i = 0; status == STATUS_OK && i < count && plot.panels < DRAWN_MOST; i++)
        status = draw_case(&plot, list[i], arrays, p);
    free(list);
    struct text caption = {0};
    say_caption(&caption, r, count);
    enum status drawn = plot_end(&plot, r, "Results that differ from run to run",
                                 text_string(&caption) ? caption.data : "", p);
    text_free(&caption);
    return status == STATUS_OK ? drawn : status;
}
