/* The points of a panel of samples, and its axes: from where to where they go. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/samples.h"

int samples_by_word(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static bool same_word(const char *a, const char *b)
{
    return samples_by_word(a, b) == 0;
}

bool samples_same_pair(const struct sample *a, const struct sample *b)
{
    if (a->panel)
        return same_word(a->panel, b->panel);
    return a->operation == b->operation && strcmp(a->storage, b->storage) == 0 &&
           strcmp(a->accumulator, b->accumulator) == 0;
}

bool samples_same_series(const struct sample *a, const struct sample *b)
{
    return strcmp(a->method, b->method) == 0 && strcmp(a->device, b->device) == 0 &&
           same_word(a->chip, b->chip) && same_word(a->promote, b->promote) &&
           same_word(a->workspace, b->workspace) && same_word(a->algorithm, b->algorithm) &&
           same_word(a->label, b->label);
}

struct ink samples_ink(const struct sample *s)
{
    struct ink ink = page_ink(s->method);
    ink.colour = s->colour ? s->colour : ink.colour;
    return ink;
}

/* --- points --- */

int samples_by_x(const void *a, const void *b)
{
    double x = ((const struct point *)a)->x, y = ((const struct point *)b)->x;
    return (x > y) - (x < y);
}

static double worse(double most, double y)
{
    return figure_worse(y, most) ? y : most;
}

size_t samples_points(struct point *point, const struct panel *panel, const struct sample *series)
{
    size_t found = 0, kept = 0;
    for (size_t i = 0; i < panel->count; i++) {
        const struct sample *s = &panel->sample[i];
        /* Most are of another series: that is seen by the first comparison. */
        if (samples_same_series(s, series) && samples_same_pair(s, panel->pair))
            point[found++] = (struct point){s->x, s->y, s->bound};
    }
    qsort(point, found, sizeof *point, samples_by_x);
    for (size_t i = 1; panel->look->so_far && i < found; i++)
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

bool samples_finite(const struct point *point, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= isfinite(point[i].y);
    return any;
}

void samples_write(struct text *to, const struct point *point, size_t count, struct edges edges)
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

/* A sample with the formats of a series in a panel: a series of one name may have others elsewhere.
 */
static const struct sample *formats_of(const struct panel *panel, const struct sample *series)
{
    for (size_t i = 0; panel->pair->panel && i < panel->count; i++)
        if (samples_same_pair(&panel->sample[i], panel->pair) &&
            samples_same_series(&panel->sample[i], series))
            return &panel->sample[i];
    return panel->pair;
}

void samples_rows(struct plot *plot, const struct panel *panel, const struct sample *series,
                  const struct point *point, size_t count)
{
    const struct sample *formats = formats_of(panel, series);
    double cliff = NAN; /* from here on no digit is right */
    for (size_t i = count; i-- > 0 && !(point[i].y < 1);)
        cliff = point[i].x;
    for (size_t i = 0; i < count; i++) {
        if (series->panel)
            plot_cell(plot, panel->pair->panel);
        plot_cell(plot, formats->storage);
        plot_cell(plot, formats->accumulator);
        plot_cell(plot, series->methods ? series->methods : series->method);
        plot_cell(plot, series->device);
        plot_number(plot, point[i].x);
        plot_number(plot, point[i].y);
        plot_number(plot, point[i].bound);
        for (size_t k = 0; panel->chips && k < 2; k++)
            plot_cell(plot, k ? series->promote : series->chip);
        if (panel->look->shows == SHOWS_CLIFF)
            plot_number(plot, cliff);
        plot_row_end(plot);
    }
}

/* --- axes --- */

struct extent {
    double x_least, x_most, y_least, y_most; /* of y: of what is above 0 and finite */
    bool zero;                               /* is any y 0? */
};

enum { BOUND_ABOVE = 10 }; /* how far above all samples a bound is shown, unless whole */
/* What stands on the lower edge is so far above it that no mark is cut: a share of the axis; of
 * nested marks, which are larger. */
#define ABOVE_EDGE   0.025
#define ABOVE_NESTED 0.055
#define MARK         0.03 /* the height of a mark, likewise */
#define LABEL        0.09 /* and of a label */

void plot_tics(struct text *script, double left, double right)
{
    const char *comma = "";
    text_add(script, "set xtics (");
    for (double ten = pow(10, floor(log10(left))); ten < right; ten *= 10)
        for (int step = 1; step <= 5; step += step == 1 ? 1 : 3) {
            text_format(script, "%s%.6g", comma, step * ten);
            comma = ", ";
        }
    text_add(script, ")\n");
}

/* From the least x, or a span below the largest, where what is less stands: no mark is cut. */
static double set_span(struct text *script, const struct extent *e, double right, double span)
{
    double least = fmax(e->x_least, e->x_most / span), left = least / 1.12;
    text_format(script, "set logscale x\nset xrange [%.9g : %.9g]\n", left, right);
    plot_tics(script, left, right);
    return least;
}

static double drawn_most(const struct look *look)
{
    return look->drawn_most > 0 ? look->drawn_most : INFINITY;
}

/* Of what a panel draws: of samples with the same x in one series the worst alone. */
static struct extent extent_of(const struct panel *panel, struct point *point)
{
    const struct look *look = panel->look;
    struct extent e = {INFINITY, -INFINITY, INFINITY, -INFINITY, false};
    double bound_most = -INFINITY;
    for (size_t i = 0; i < panel->series->count; i++) {
        size_t found = samples_points(point, panel, panel->series->first[i]);
        for (size_t k = 0; k < found; k++) {
            e.x_least = fmin(e.x_least, point[k].x);
            e.x_most = fmax(e.x_most, point[k].x);
            e.zero |= point[k].y == 0;
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

enum { OWN_TICS_MOST = 8 };
#define DIGIT 0.028 /* the width of a label's digit, as a share of the axis */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Few places, with room for their labels, are named themselves. */
static bool add_own_tics(struct text *script, const struct panel *panel, struct point *point,
                         double left, double right)
{
    double at[OWN_TICS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < panel->series->count; i++) {
        const size_t found = samples_points(point, panel, panel->series->first[i]);
        for (size_t k = 0; k < found; k++) {
            size_t same = 0;
            while (same < count && at[same] != point[k].x)
                same++;
            if (same == OWN_TICS_MOST)
                return false;
            at[same] = point[k].x;
            count += same == count;
        }
    }
    qsort(at, count, sizeof *at, ascending);
    for (size_t i = 1; i < count; i++) {
        char label[32];
        const int digits = snprintf(label, sizeof label, "%.9g", at[i]);
        if (log(at[i] / at[i - 1]) < DIGIT * (digits + 1) * log(right / left))
            return false;
    }
    text_format(script, "set logscale x\nset format x '%%g'\nset xrange [%.9g : %.9g]\nset xtics (",
                left, right);
    for (size_t i = 0; i < count; i++)
        text_format(script, "%s%.9g", i ? ", " : "", at[i]);
    text_add(script, ")\n");
    return count > 0;
}

/* Whole powers of ten around the samples, with room for what is 0 below. */
struct edges samples_axes(struct text *script, const struct panel *panel, struct point *point)
{
    const struct look *look = panel->look;
    const struct extent e = extent_of(panel, point);
    bool any = isfinite(e.y_least);
    double top = any ? fmin(ceil(log10(e.y_most) + 0.05), look->top_most) : 1,
           least = any ? fmax(log10(e.y_least), top - look->decades_most) : 0,
           bottom = any ? floor(least - 0.05) - (e.zero ? 1 : 0) : -1;
    /* No mark is cut. */
    bottom = fmin(bottom, least - (look->nested ? ABOVE_NESTED : ABOVE_EDGE) * (top - bottom));
    if (look->factors && any) {
        bottom = -0.2;
        top = fmax(log10(e.y_most) + 0.2, 0.7);
    }
    text_format(script,
                "set logscale y\nset yrange [%.6g : %.6g]\nunset ytics\nset ytics autofreq\n",
                pow(10, bottom), pow(10, top));
    if (look->factors)
        text_add(script, "set ytics (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096, 16384)\n");
    const double share = look->nested ? 0.045 : 0.02; /* no mark is cut */
    const double margin = fmax(1, share * (e.x_most - e.x_least)),
                 factor = fmax(1.2, pow(e.x_most / e.x_least, share));
    double left = look->log_x ? e.x_least / factor : e.x_least - margin;
    double right = look->log_x ? factor * e.x_most : e.x_most + margin;
    if (look->x_span > 0)
        left = set_span(script, &e, e.x_most * 1.12, look->x_span);
    else if (look->log_x && add_own_tics(script, panel, point, left, right))
        ;
    else if (look->log_x && e.x_most < 100 * e.x_least)
        left = set_span(script, &e, e.x_most * 1.12, INFINITY);
    else if (look->log_x)
        text_format(script, "set logscale x\nset format x '10^{%%T}'\nset xrange [%.6g : %.6g]\n",
                    left, right);
    else
        text_format(script, "set format x '%%g'\nset xrange [%.6g : %.6g]\n", left, right);
    const double lower = bottom + (look->nested ? ABOVE_NESTED : ABOVE_EDGE) * (top - bottom);
    return (struct edges){left, right, pow(10, lower), pow(10, top), drawn_most(look)};
}

void samples_zero(struct text *script, struct edges edges)
{
    const double most = log10(edges.upper), zero = log10(edges.lower);
    double least = ceil(zero + LABEL * (most - zero));
    /* With four to eight labels, of steps that are whole powers of ten, one of them at 1. */
    double step = fmax(1, ceil((most - least) / 6));
    least = ceil(least / step) * step;
    text_format(script, "set ytics 1e%.0f, 1e%.0f\nset ytics add ('0' %.6g)\n", least, step,
                edges.lower);
}

/* --- marks that would cover each other --- */

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

void samples_nest(size_t place[], const struct panel *panel, const struct sample *const drawn[],
                  size_t count, struct edges edges, struct point *point, struct point *other)
{
    for (size_t i = count; i-- > 0;) {
        size_t found = samples_points(point, panel, drawn[i]);
        place[i] = 0;
        for (size_t k = i + 1; k < count; k++) {
            size_t others = samples_points(other, panel, drawn[k]);
            if (place[k] >= place[i] && covers(point, found, other, others, edges))
                place[i] = place[k] + 1 < NESTED_MOST ? place[k] + 1 : NESTED_MOST - 1;
        }
    }
}
