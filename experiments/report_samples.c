/* Samples as panels of curves, one for each pair of formats. */
#include <math.h>
#include <stdlib.h>

#include "experiments/report.h"

/* The pairs or series among the samples, in the order of interest. */
struct groups {
    const struct sample **first; /* of each */
    size_t count;
};

static int by_pair(const void *x, const void *y)
{
    const struct sample *a = *(const struct sample *const *)x,
                        *b = *(const struct sample *const *)y;
    size_t i = report_pair_rank(a->storage, a->accumulator),
           k = report_pair_rank(b->storage, b->accumulator);
    return (i > k) - (i < k);
}

static int by_series(const void *x, const void *y)
{
    const struct sample *a = *(const struct sample *const *)x,
                        *b = *(const struct sample *const *)y;
    size_t i = report_method_rank(a->method), k = report_method_rank(b->method);
    int order = (i > k) - (i < k);
    order = order ? order : strcmp(a->method, b->method);
    return order ? order : strcmp(a->device, b->device);
}

static bool same_pair(const struct sample *a, const struct sample *b)
{
    return strcmp(a->storage, b->storage) == 0 && strcmp(a->accumulator, b->accumulator) == 0;
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
        point[i].y = fmax(point[i].y, point[i - 1].y);
    for (size_t i = 0; i < found; i++) {
        struct point *last = kept ? &point[kept - 1] : NULL;
        if (last && last->x == point[i].x) {
            last->y = fmax(last->y, point[i].y);
            last->bound = fmax(last->bound, point[i].bound);
        } else {
            point[kept++] = point[i];
        }
    }
    return kept;
}

struct extent {
    double x_least, x_most, y_least, y_most; /* of y: of what is above 0 and finite */
};

static struct extent extent_of(const struct sample *sample, size_t count, const struct sample *pair)
{
    struct extent e = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
        if (!same_pair(&sample[i], pair))
            continue;
        e.x_least = fmin(e.x_least, sample[i].x);
        e.x_most = fmax(e.x_most, sample[i].x);
        for (int bound = 0; bound < 2; bound++) {
            double y = bound ? sample[i].bound : sample[i].y;
            if (y > 0 && isfinite(y)) {
                e.y_least = bound ? e.y_least : fmin(e.y_least, y);
                e.y_most = fmax(e.y_most, y);
            }
        }
    }
    return e;
}

struct edges {
    double lower, upper;
};

/* Whole powers of ten around the samples, with room for what is 0 below. */
static struct edges set_ranges(struct text *script, const struct look *look, const struct extent *e)
{
    bool any = isfinite(e->y_least);
    double top = any ? fmin(ceil(log10(e->y_most) + 0.05), look->top_most) : 1,
           bottom = any ? fmax(floor(log10(e->y_least) - 0.05), top - look->decades_most) - 1 : -1;
    text_format(script, "set logscale y\nset yrange [1e%.0f : 1e%.0f]\n", bottom, top);
    if (look->log_x)
        text_format(script,
                    "set logscale x\nset format x '10^{%%T}'\nset xrange [1e%.0f : 1e%.0f]\n",
                    floor(log10(e->x_least)), ceil(log10(e->x_most) + 1e-9));
    else
        text_format(script, "set xrange [%.6g : %.6g]\n", e->x_least - 1, e->x_most + 1);
    return (struct edges){pow(10, bottom), pow(10, top)};
}

static size_t write_series(struct plot *plot, const struct point *point, size_t count,
                           struct edges edges, const struct sample *series)
{
    text_format(&plot->data, "# %s on %s: x, y (what is 0 stands on the lower edge), bound\n",
                series->method, series->device);
    for (size_t i = 0; i < count; i++) {
        bool there = isfinite(point[i].y);
        text_format(&plot->data, "%.9g ", point[i].x);
        if (there)
            text_format(&plot->data, "%.9g ", fmin(fmax(point[i].y, edges.lower), edges.upper));
        else
            text_add(&plot->data, "NaN ");
        if (isfinite(point[i].bound) && point[i].bound > 0)
            text_format(&plot->data, "%.9g\n", point[i].bound);
        else
            text_add(&plot->data, "NaN\n");
    }
    return plot_data_end(plot);
}

static void add_curve(struct text *to, const char *name, const struct report *r,
                      const struct look *look, const struct sample *series, size_t index,
                      size_t linetype)
{
    struct text label = {0};
    text_add(&label, series->method);
    if (r->several_devices)
        text_format(&label, ", %s", series->device);
    text_format(to, ", \\\n    '%s.dat' index %zu using 1:2 with %s linetype %zu title ", name,
                index, look->lines ? "linespoints" : "points", linetype);
    plot_quote(to, text_string(&label) ? text_string(&label) : "");
    if (look->bounds)
        text_format(to,
                    ", \\\n    '%s.dat' index %zu using 1:3 with lines linetype %zu linewidth 1 "
                    "dashtype 2 notitle",
                    name, index, linetype);
    text_free(&label);
}

static bool any_finite(const struct point *point, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= isfinite(point[i].y);
    return any;
}

/* Curves of which no point can be drawn are left out, and panels without a curve. */
static void draw_panel(struct plot *plot, const struct report *r, const struct look *look,
                       const struct sample *sample, size_t count, const struct sample *pair,
                       const struct groups *series, struct point *point)
{
    struct text title = {0}, ranges = {0}, curves = {0};
    struct extent extent = extent_of(sample, count, pair);
    struct edges edges = set_ranges(&ranges, look, &extent);
    size_t shown = 0;
    for (size_t i = 0; i < series->count && shown < look->series_most; i++) {
        size_t found = points_of(point, sample, count, pair, series->first[i], look->so_far);
        if (!any_finite(point, found))
            continue;
        size_t block = write_series(plot, point, found, edges, series->first[i]);
        add_curve(&curves, plot->name, r, look, series->first[i], block, ++shown);
    }
    if (shown > 0) {
        text_format(&title, "%s added in %s", pair->storage, pair->accumulator);
        plot_panel(plot, 350 + 19 * (double)((shown + 3) / 2),
                   text_string(&title) ? text_string(&title) : "");
        text_format(&plot->script, "set xlabel '%s'\nset ylabel '%s'\nset format y '10^{%%T}'\n",
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

enum status report_samples(struct report *r, const struct look *look, const struct sample *sample,
                           size_t count, struct problem *p)
{
    struct plot plot;
    struct groups pairs = {0}, series = {0};
    struct point *point = calloc(count + 1, sizeof *point);
    if (!point || !group(&pairs, sample, count, same_pair, by_pair) ||
        !group(&series, sample, count, same_series, by_series)) {
        free(point);
        free(pairs.first);
        free(series.first);
        return problem(p, STATUS_DEVICE, "%s: out of memory for the pictures", r->folder);
    }
    plot_begin(&plot, look->name);
    for (size_t i = 0; i < pairs.count && plot.panels < PANELS_MOST; i++)
        draw_panel(&plot, r, look, sample, count, pairs.first[i], &series, point);
    free(point);
    free(pairs.first);
    free(series.first);
    return plot_end(&plot, r, look->heading, look->caption, p);
}
