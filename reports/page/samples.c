/* Samples as panels of curves, one for each pair of formats. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/report.h"

/* --- The axes of a panel of samples: from where to where they go --- */

/* Where the axes of a panel end; what lies beyond stands on the edge. */
struct edges {
    double left, right, lower, upper;
    double drawn; /* the largest y that is drawn */
};

/* Of one panel? */
static bool same_pair(const struct sample *a, const struct sample *b)
{
    return a->operation == b->operation && strcmp(a->storage, b->storage) == 0 &&
           strcmp(a->accumulator, b->accumulator) == 0;
}

struct extent {
    double x_least, x_most, y_least, y_most; /* of y: of what is above 0 and finite */
};

enum { BOUND_ABOVE = 10 }; /* how far above all samples a bound is shown, unless whole */
/* Moved apart by a share of the axis each, to its right, at most so often. */
#define APART 0.018
enum { APART_MOST = 5 };
/* What stands on the lower edge is so far above it that no mark is cut: a share of the axis. */
#define ABOVE_EDGE 0.025
#define MARK       0.03 /* the height of a mark, likewise */

/* From the least x, or a span below the largest, with a label at 1, 2 and 5 of each power of ten.
 */
static double set_span(struct text *script, const struct extent *e, double right, double span)
{
    double left = fmax(e->x_least, e->x_most / span) / 1.12;
    const char *comma = "";
    text_format(script, "set logscale x\nset xrange [%.9g : %.9g]\nset xtics (", left, right);
    for (double ten = pow(10, floor(log10(left))); ten < right; ten *= 10)
        for (int step = 1; step <= 5; step += step == 1 ? 1 : 3) {
            text_format(script, "%s%.6g", comma, step * ten);
            comma = ", ";
        }
    text_add(script, ")\n");
    return left;
}

static double drawn_most(const struct look *look)
{
    return look->drawn_most > 0 ? look->drawn_most : INFINITY;
}

/* Whole powers of ten around the samples, with room for what is 0 below. */
static struct edges set_ranges(struct text *script, const struct look *look, const struct extent *e)
{
    bool any = isfinite(e->y_least);
    double top = any ? fmin(ceil(log10(e->y_most) + 0.05), look->top_most) : 1,
           bottom = any ? fmax(floor(log10(e->y_least) - 0.05), top - look->decades_most) - 1 : -1;
    text_format(script, "set logscale y\nset yrange [1e%.0f : 1e%.0f]\n", bottom, top);
    double margin = fmax(1, 0.02 * (e->x_most - e->x_least)); /* no mark is cut */
    double left = look->log_x ? e->x_least / 1.2 : e->x_least - margin;
    double right = look->log_x ? 1.2 * e->x_most : e->x_most + margin;
    if (look->side_by_side)
        right *= pow(right / left, APART * APART_MOST);
    if (look->x_span > 0 || (look->log_x && e->x_most < 100 * e->x_least))
        left = set_span(script, e, right / 1.2 * 1.12, look->x_span > 0 ? look->x_span : INFINITY);
    else if (look->log_x)
        text_format(script, "set logscale x\nset format x '10^{%%T}'\nset xrange [%.6g : %.6g]\n",
                    left, right);
    else
        text_format(script, "set xrange [%.6g : %.6g]\n", left, right);
    double lower = look->frontier ? bottom : bottom + ABOVE_EDGE * (top - bottom);
    return (struct edges){left, right, pow(10, lower), pow(10, top), drawn_most(look)};
}

enum { MARKS_MOST = 12 };   /* along a line, nearly */
enum { SEEN_MOST = 1024 };  /* the last points of a series, for the title */
enum { NAME_LONGEST = 38 }; /* in the legend: what a picture has room for */

/* The pairs or series among the samples, in the order of interest. */
struct groups {
    const struct sample **first; /* of each */
    size_t count;
};

static size_t place_of_operation(const struct operation *o)
{
    size_t place = 0;
    while (operations[place] && operations[place] != o)
        place++;
    return place;
}

static int by_pair(const void *x, const void *y)
{
    const struct sample *a = *(const struct sample *const *)x,
                        *b = *(const struct sample *const *)y;
    size_t i = page_pair_rank(a->storage, a->accumulator),
           k = page_pair_rank(b->storage, b->accumulator);
    if (i == k)
        i = place_of_operation(a->operation), k = place_of_operation(b->operation);
    return (i > k) - (i < k);
}

static int by_series(const void *x, const void *y)
{
    const struct sample *a = *(const struct sample *const *)x,
                        *b = *(const struct sample *const *)y;
    size_t i = page_method_rank(a->method), k = page_method_rank(b->method);
    int order = (i > k) - (i < k);
    order = order ? order : strcmp(a->method, b->method);
    return order ? order : strcmp(a->device, b->device);
}

static bool same_series(const struct sample *a, const struct sample *b)
{
    return strcmp(a->method, b->method) == 0 && strcmp(a->device, b->device) == 0;
}

static bool group(struct groups *g, const struct sample *sample, size_t count,
                  bool (*same)(const struct sample *, const struct sample *),
                  int (*order)(const void *, const void *))
{
    g->first = calloc(count + 1, sizeof *g->first);
    for (size_t i = 0; g->first && i < count; i++) {
        size_t k = 0;
        while (k < g->count && !same(g->first[k], &sample[i]))
            k++;
        if (k == g->count)
            g->first[g->count++] = &sample[i];
    }
    if (g->first)
        qsort(g->first, g->count, sizeof *g->first, order);
    return g->first;
}

struct point {
    double x, y, bound;
};

static int by_x(const void *a, const void *b)
{
    double x = ((const struct point *)a)->x, y = ((const struct point *)b)->x;
    return (x > y) - (x < y);
}

static double worse(double most, double y)
{
    return figure_worse(y, most) ? y : most;
}

/* The points of a series in a panel, sorted, one for each x. Returns how many. */
static size_t points_of(struct point *point, const struct sample *sample, size_t count,
                        const struct sample *pair, const struct sample *series, bool so_far)
{
    size_t found = 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        if (same_pair(&sample[i], pair) && same_series(&sample[i], series))
            point[found++] = (struct point){sample[i].x, sample[i].y, sample[i].bound};
    qsort(point, found, sizeof *point, by_x);
    for (size_t i = 1; so_far && i < found; i++)
        point[i].y = worse(point[i - 1].y, point[i].y);
    for (size_t i = 0; i < found; i++) {
        struct point *last = kept ? &point[kept - 1] : NULL;
        if (last && last->x == point[i].x) {
            last->y = worse(last->y, point[i].y);
            last->bound = fmax(last->bound, point[i].bound);
        } else {
            point[kept++] = point[i];
        }
    }
    return kept;
}

/* Of what a panel draws: of samples with the same x in one series the worst alone. */
static struct extent extent_of(const struct look *look, const struct sample *sample, size_t count,
                               const struct sample *pair, const struct groups *series,
                               struct point *point)
{
    struct extent e = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    double bound_most = -INFINITY;
    for (size_t i = 0; i < series->count; i++) {
        size_t found = points_of(point, sample, count, pair, series->first[i], look->so_far);
        for (size_t k = 0; k < found; k++) {
            e.x_least = fmin(e.x_least, point[k].x);
            e.x_most = fmax(e.x_most, point[k].x);
            if (point[k].y > 0 && isfinite(point[k].y) && point[k].y <= drawn_most(look)) {
                e.y_least = fmin(e.y_least, point[k].y);
                e.y_most = fmax(e.y_most, point[k].y);
            }
            if (isfinite(point[k].bound))
                bound_most = fmax(bound_most, point[k].bound);
        }
    }
    /* Whole, where it leaves the errors half of the axis. */
    const double half = pow(10, look->decades_most / 2.0);
    if (look->bounds_whole && bound_most > fmax(0, e.y_most) &&
        !(e.y_most > 0 && bound_most > half * e.y_most)) {
        e.y_most = bound_most;
        e.y_least = fmin(e.y_least, bound_most);
    } else if (bound_most > e.y_most && e.y_most > 0) {
        e.y_most = fmin(bound_most, BOUND_ABOVE * e.y_most);
    }
    return e;
}

static void write_points(struct text *to, const struct point *point, size_t count,
                         struct edges edges)
{
    for (size_t i = 0; i < count; i++) {
        bool there = isfinite(point[i].y) && point[i].y <= edges.drawn;
        text_format(to, "%.9g ", fmax(point[i].x, edges.left));
        if (there)
            text_format(to, "%.9g ", fmin(fmax(point[i].y, edges.lower), edges.upper));
        else
            text_add(to, "NaN ");
        if (isfinite(point[i].bound) && point[i].bound > 0)
            text_format(to, "%.9g\n", point[i].bound);
        else
            text_add(to, "NaN\n");
    }
}

/* As they were measured: nothing stands on an edge. */
static void write_rows(struct plot *plot, const struct sample *pair, const struct sample *series,
                       const struct point *point, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        plot_cell(plot, pair->storage);
        plot_cell(plot, pair->accumulator);
        plot_cell(plot, series->method);
        plot_cell(plot, series->device);
        plot_number(plot, point[i].x);
        plot_number(plot, point[i].y);
        plot_number(plot, point[i].bound);
        plot_row_end(plot);
    }
}

static size_t write_series(struct plot *plot, const struct point *point, size_t count,
                           struct edges edges, const struct sample *series)
{
    text_format(&plot->data, "# %s on %s: x, y (what is 0 stands on the lower edge), bound\n",
                series->method, series->device);
    write_points(&plot->data, point, count, edges);
    return plot_data_end(plot);
}

/* Series that a panel draws, and how many steps to the right each stands. */
struct drawn {
    const struct sample *series[APART_MOST * 4];
    size_t place[APART_MOST * 4], count, moved;
};

/* Would marks of the two, of points with the same x, cover each other? */
static bool covers(const struct point *a, size_t as, const struct point *b, size_t bs,
                   struct edges edges)
{
    double near = MARK * (log10(edges.upper) - log10(edges.lower));
    for (size_t i = 0, k = 0; i < as && k < bs; a[i].x < b[k].x ? i++ : k++)
        if (a[i].x == b[k].x && isfinite(a[i].y) && isfinite(b[k].y) &&
            fabs(log10(fmax(a[i].y, edges.lower)) - log10(fmax(b[k].y, edges.lower))) < near)
            return true;
    return false;
}

/* The first place that none of the series has that this one would cover. `other` has room for the
 * points of any. */
static size_t place_of(const struct drawn *d, const struct sample *sample, size_t count,
                       const struct sample *pair, const struct point *point, size_t found,
                       struct point *other, struct edges edges)
{
    bool taken[APART_MOST + 1] = {false};
    for (size_t i = 0; i < d->count; i++) {
        size_t others = points_of(other, sample, count, pair, d->series[i], false);
        taken[d->place[i]] |= covers(point, found, other, others, edges);
    }
    size_t place = 0;
    while (place < APART_MOST && taken[place])
        place++;
    return place;
}

/* Returns the length of its name in the legend. `factor`: of x, which moves its marks. */
static size_t add_curve(struct text *to, const char *name, const struct page *r,
                        const struct look *look, const struct sample *series, size_t index,
                        size_t points, double factor)
{
    struct text label = {0};
    struct ink ink = page_ink(series->method);
    text_add(&label, series->method);
    if (r->several_devices)
        text_format(&label, ", %s", series->device);
    text_format(to, ", \\\n    '%s.dat' index %zu using ", name, index);
    if (factor != 1)
        text_format(to, "($1*%.6g):2", factor);
    else
        text_add(to, "1:2");
    text_format(to,
                " with %s linecolor rgb colour[%zu] \\\n"
                "    pointtype mark[%zu] pointsize %s linewidth 1.5 pointinterval %zu title ",
                look->lines ? "linespoints" : "points", ink.colour, ink.mark,
                look->frontier ? "1" : "0.6", look->lines ? points / MARKS_MOST + 1 : 1);
    plot_label(to, text_string(&label) ? text_string(&label) : "", NAME_LONGEST);
    if (look->bounds)
        text_format(to,
                    ", \\\n    '%s.dat' index %zu using 1:3 with lines linecolor rgb colour[%zu] "
                    "linewidth 1 dashtype 2 notitle",
                    name, index, ink.colour);
    size_t length = label.length;
    text_free(&label);
    return length;
}

/* Does no other sample of the panel have as large an x with a smaller y, or a larger x with as
 * small a y? */
static bool unbeaten(const struct sample *sample, size_t count, const struct sample *one)
{
    for (size_t i = 0; i < count; i++) {
        const struct sample *other = &sample[i];
        if (same_pair(other, one) && other->x >= one->x && other->y <= one->y &&
            (other->x > one->x || other->y < one->y))
            return false;
    }
    return true;
}

/* The frontier, as stairs: between two of its samples nothing is better than the one to the right.
 */
static void add_frontier(struct plot *plot, struct text *curves, const struct sample *sample,
                         size_t count, const struct sample *pair, struct point *point,
                         struct edges edges)
{
    size_t found = 1; /* the first is on the left edge */
    for (size_t i = 0; i < count; i++)
        if (same_pair(&sample[i], pair) && unbeaten(sample, count, &sample[i]))
            point[found++] = (struct point){sample[i].x, sample[i].y, NAN};
    qsort(point + 1, found - 1, sizeof *point, by_x);
    point[0] = (struct point){edges.left, point[1].y, NAN};
    point[found] = (struct point){point[found - 1].x, edges.upper, NAN};
    text_add(&plot->data, "# what no other beats\n");
    write_points(&plot->data, point, found + 1, edges);
    text_format(curves,
                ", \\\n    '%s.dat' index %zu using 1:2 with fsteps linecolor rgb 0x888888 title "
                "'the frontier'",
                plot->name, plot_data_end(plot));
}

/* Is a sample of the series one that no other of the panel beats? */
static bool leads(const struct sample *sample, size_t count, const struct sample *pair,
                  const struct sample *series)
{
    bool unbeaten_one = false;
    for (size_t i = 0; i < count; i++)
        unbeaten_one |= same_pair(&sample[i], pair) && same_series(&sample[i], series) &&
                        unbeaten(sample, count, &sample[i]);
    return unbeaten_one;
}

static bool any_finite(const struct point *point, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= isfinite(point[i].y);
    return any;
}

/* What others beat, in grey, as one. */
static void add_others(struct plot *plot, struct text *curves, const struct sample *sample,
                       size_t count, const struct sample *pair, const struct groups *series,
                       struct point *point, struct edges edges)
{
    size_t others = 0;
    for (size_t i = 0; i < series->count; i++) {
        size_t found = points_of(point, sample, count, pair, series->first[i], false);
        if (!any_finite(point, found) || leads(sample, count, pair, series->first[i]))
            continue;
        if (others++ == 0)
            text_add(&plot->data, "# what others beat\n");
        write_rows(plot, pair, series->first[i], point, found);
        write_points(&plot->data, point, found, edges);
    }
    if (others > 0)
        text_format(curves,
                    ", \\\n    '%s.dat' index %zu using 1:2 with points linecolor rgb 0xbbbbbb "
                    "pointtype 6 \\\n    pointsize 0.6 title '%zu other%s'",
                    plot->name, plot_data_end(plot), others, others > 1 ? "s" : "");
}

/* What the legend takes in height: names in two columns where the longest leaves room for that, as
 * gnuplot finds too. */
static double legend_height(size_t names, size_t longest)
{
    return 20 * (double)(longest > 18 ? names : (names + 1) / 2);
}

static void see(struct seen *s, const struct look *look, const struct sample *series,
                const struct point *point, size_t count)
{
    double x[SEEN_MOST], y[SEEN_MOST];
    size_t first = count > SEEN_MOST ? count - SEEN_MOST : 0;
    for (size_t i = first; i < count; i++)
        x[i - first] = point[i].x, y[i - first] = point[i].y;
    seen_add(s, look, series->method, x, y, count - first);
}

/* Curves of which no point can be drawn are left out, and panels without a curve. */
static void draw_panel(struct plot *plot, const struct page *r, const struct look *look,
                       const struct sample *sample, size_t count, const struct sample *pair,
                       const struct groups *series, struct point *point, struct point *other)
{
    struct drawn drawn = {0};
    struct text title = {0}, ranges = {0}, curves = {0};
    struct extent extent = extent_of(look, sample, count, pair, series, point);
    struct edges edges = set_ranges(&ranges, look, &extent);
    size_t shown = 0, longest = 0;
    struct seen seen = {0};
    for (size_t i = 0; i < series->count && shown < look->series_most; i++) {
        size_t found = points_of(point, sample, count, pair, series->first[i], look->so_far);
        if (!any_finite(point, found) ||
            (look->frontier && !leads(sample, count, pair, series->first[i])))
            continue;
        write_rows(plot, pair, series->first[i], point, found);
        see(&seen, look, series->first[i], point, found);
        size_t block = write_series(plot, point, found, edges, series->first[i]);
        size_t place = 0;
        if (look->side_by_side && drawn.count < sizeof drawn.place / sizeof *drawn.place) {
            place = place_of(&drawn, sample, count, pair, point, found, other, edges);
            drawn.series[drawn.count] = series->first[i];
            drawn.place[drawn.count++] = place;
            drawn.moved += place > 0;
        }
        double factor = pow(edges.right / edges.left, APART * (double)place);
        size_t length =
            add_curve(&curves, plot->name, r, look, series->first[i], block, found, factor);
        longest = length > longest ? length : longest;
        shown++;
    }
    if (shown > 0 && look->frontier) {
        add_others(plot, &curves, sample, count, pair, series, point, edges);
        add_frontier(plot, &curves, sample, count, pair, point, edges);
    }
    if (shown > 0 && look->bounds)
        text_add(&curves, ", \\\n    NaN with lines linecolor rgb 0x888888 linewidth 1 dashtype 2 "
                          "title 'bound (dashed)'");
    if (drawn.moved > 0)
        text_add(&curves, ", \\\n    NaN with points pointtype 0 linecolor rgb 0x888888 title "
                          "'offset: same n'");
    if (shown > 0) {
        if (pair->operation)
            text_format(&title, "%s, ", pair->operation->name);
        text_format(&title, "%s added in %s", pair->storage, pair->accumulator);
        seen_say(&title, look, &seen);
        plot_panel(plot, 365 + legend_height(shown + 3 + (drawn.moved > 0), longest),
                   text_string(&title) ? text_string(&title) : "");
        text_format(&plot->script,
                    "set xlabel \"%s\\n \"\nset ylabel '%s'\nset format y '10^{%%T}'\n",
                    look->x_label, look->y_label);
        text_join(&plot->script, &ranges);
        text_format(&plot->script, "plot %s", look->also(pair->accumulator));
        text_join(&plot->script, &curves);
        text_add(&plot->script, "\n");
    }
    text_free(&title);
    text_free(&ranges);
    text_free(&curves);
}

enum status page_samples(struct page *r, const struct look *look, const struct sample *sample,
                         size_t count, struct problem *p)
{
    struct plot plot;
    char columns[128];
    struct groups pairs = {0}, series = {0};
    /* A frontier has two ends more; of two series at a time. */
    struct point *point = calloc(2 * (count + 2), sizeof *point);
    if (!point || !group(&pairs, sample, count, same_pair, by_pair) ||
        !group(&series, sample, count, same_series, by_series)) {
        free(point);
        free(pairs.first);
        free(series.first);
        return problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    }
    snprintf(columns, sizeof columns, "storage,accumulator,method,device,%s,%s,bound", look->x_name,
             look->y_name);
    plot_begin(&plot, look->name, columns);
    for (size_t i = 0; i < pairs.count && plot.panels < PANELS_MOST; i++)
        draw_panel(&plot, r, look, sample, count, pairs.first[i], &series, point,
                   point + count + 2);
    free(point);
    free(pairs.first);
    free(series.first);
    return plot_end(&plot, r, look->heading, look->caption, p);
}
