/* Samples as panels of curves, one for each pair of formats. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/samples.h"

enum { MARKS_MOST = 12 };   /* along a line, nearly */
enum { SEEN_MOST = 1024 };  /* the last points of a series, for the title */
enum { NAME_LONGEST = 38 }; /* a line of the legend: what a picture has room for */
enum { SERIES_MOST = 24 };

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
    order = order ? order : strcmp(a->device, b->device);
    order = order ? order : samples_by_word(a->chip, b->chip);
    order = order ? order : samples_by_word(a->workspace, b->workspace);
    order = order ? order : samples_by_word(a->algorithm, b->algorithm);
    order = order || !a->label ? order : by_pair(x, y);
    double every = a->promote ? strtod(a->promote, NULL) : 0,
           other = b->promote ? strtod(b->promote, NULL) : 0;
    return order ? order : (every > other) - (every < other);
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

/* --- series --- */

void page_short_name(struct text *to, const char *name)
{
    const char *colon = strchr(name, ':'), *slash = NULL;
    if (colon && strncmp(name, "exec:", strlen("exec:")) != 0)
        slash = strrchr(name, '/');
    if (slash && colon < slash)
        text_append(to, name, (size_t)(colon + 1 - name));
    text_add(to, slash ? slash + 1 : name);
}

static void add_name(struct text *to, const struct page *r, const struct sample *s)
{
    struct text name = {0};
    if (s->label) {
        text_add(to, s->label);
    } else {
        page_short_name(&name, s->method);
        page_name(to, text_string(&name) ? name.data : "", s->chip, s->promote);
        page_asked(to, s->workspace, s->algorithm);
    }
    text_free(&name);
    if (r->several_devices)
        text_format(to, ", %s", s->device);
}

/* What is drawn of one panel: the series, and how each is told from those before it. */
struct drawn {
    const struct sample *series[SERIES_MOST];
    size_t place[SERIES_MOST], count;
    struct text label[SERIES_MOST];
};

/* The folders of users' functions are named where without them two series would read alike. */
static void name_series(struct drawn *d, const struct page *r)
{
    for (size_t i = 0; i < d->count; i++)
        add_name(&d->label[i], r, d->series[i]);
    for (size_t i = 0; i < d->count; i++)
        for (size_t k = 0; k < i; k++)
            if (d->label[i].length == d->label[k].length && d->label[i].length > 0 &&
                memcmp(d->label[i].data, d->label[k].data, d->label[i].length) == 0) {
                text_clear(&d->label[i]);
                page_name(&d->label[i], d->series[i]->method, d->series[i]->chip,
                          d->series[i]->promote);
                page_asked(&d->label[i], d->series[i]->workspace, d->series[i]->algorithm);
            }
}

/* Of two series of one colour in a panel the second has another shade. */
static bool shaded(const struct drawn *d, size_t i)
{
    const struct sample *s = d->series[i];
    size_t before = 0, colour = samples_ink(s).colour;
    for (size_t k = 0; k < i; k++)
        before += samples_ink(d->series[k]).colour == colour;
    return s->colour ? s->shade : before % 2 == 1;
}

/* A mark around others is hollow and larger. */
static void add_curve(struct text *to, const char *name, const struct look *look, struct drawn *d,
                      size_t i, size_t index, size_t points)
{
    const struct ink ink = samples_ink(d->series[i]);
    const char *colour = shaded(d, i) ? "shade" : "colour", *label = text_string(&d->label[i]);
    double size = look->frontier ? 1 : look->nested ? 0.5 : 0.6;
    text_format(to,
                ", \\\n    '%s.dat' index %zu using 1:2 with %s linecolor rgb %s[%zu] \\\n"
                "    pointtype %s[%zu] pointsize %.3g linewidth 1.5 pointinterval %zu title ",
                name, index, look->lines ? "linespoints" : "points", colour, ink.colour,
                d->place[i] ? "hollow" : "mark", ink.mark, size + 0.25 * (double)d->place[i],
                look->lines ? points / MARKS_MOST + 1 : 1);
    const char *rest = plot_line(to, label ? label : "", NAME_LONGEST);
    if (look->bounds)
        text_format(to,
                    ", \\\n    '%s.dat' index %zu using 1:3 with lines linecolor rgb %s[%zu] "
                    "linewidth 1 dashtype 2 notitle",
                    name, index, colour, ink.colour);
    while (*rest) { /* an entry without a sample */
        text_add(to, ", \\\n    NaN with points pointtype -1 title ");
        rest = plot_line(to, rest, NAME_LONGEST);
    }
}

/* What the legend takes in height: names in two columns where the longest leaves room for that, as
 * gnuplot finds too. */
static double legend_height(const struct drawn *d, size_t names)
{
    size_t longest = 0, lines = names;
    for (size_t i = 0; i < d->count; i++) {
        longest = d->label[i].length > longest ? d->label[i].length : longest;
        lines += d->label[i].length > 0 ? (d->label[i].length - 1) / NAME_LONGEST : 0;
    }
    return 20 * (double)(longest > 18 ? lines : (names + 1) / 2);
}

static void see(struct seen *s, const struct look *look, const char *name,
                const struct point *point, size_t count)
{
    double x[SEEN_MOST], y[SEEN_MOST];
    size_t first = count > SEEN_MOST ? count - SEEN_MOST : 0;
    for (size_t i = first; i < count; i++)
        x[i - first] = point[i].x, y[i - first] = point[i].y;
    seen_add(s, look, name, x, y, count - first);
}

/* --- panels --- */

/* Panels in the order of their largest sample. */
static void worst_first(struct groups *pairs, const struct sample *sample, size_t count)
{
    for (size_t i = 0; i < pairs->count; i++) {
        size_t worst = i;
        double most = -INFINITY;
        for (size_t k = i; k < pairs->count; k++)
            for (size_t s = 0; s < count; s++)
                if (sample[s].y > most && samples_same_pair(pairs->first[k], &sample[s]))
                    most = sample[s].y, worst = k;
        const struct sample *first = pairs->first[worst];
        for (size_t k = worst; k > i; k--)
            pairs->first[k] = pairs->first[k - 1];
        pairs->first[i] = first;
    }
}

/* What all panels have, for the caption. */
struct told {
    bool nested, exact, bounds, foreign, more, equal, instructions;
    struct text above; /* who errs more than so many additions can: "gemm/mma (h100) in fp32" */
};

/* Has a series a curve? */
static bool drawable(const struct panel *panel, const struct sample *series, struct point *point)
{
    size_t found = samples_points(point, panel, series);
    return samples_finite(point, found) && (!panel->look->frontier || samples_leads(panel, series));
}

/* What a title tells of a series: none at x = -INFINITY. */
struct end {
    double x, value;
};

static struct end end_of(const struct panel *panel, const struct sample *series,
                         struct point *point)
{
    struct seen one = {0};
    if (drawable(panel, series, point))
        see(&one, panel->look, "", point, samples_points(point, panel, series));
    return one.least.count ? (struct end){one.x, one.least.value} : (struct end){-INFINITY, 0};
}

/* The first of the series whose value the title names as the least, or as the largest;
 * series->count: there is none. */
static size_t extreme(const struct panel *panel, bool largest, struct point *point)
{
    size_t best = panel->series->count;
    struct end ends = {-INFINITY, 0};
    for (size_t i = 0; i < panel->series->count; i++) {
        const struct end e = end_of(panel, panel->series->first[i], point);
        struct short_number one = short_number(e.value), other = short_number(ends.value);
        const bool further = largest ? e.value > ends.value : e.value < ends.value;
        if (e.x > ends.x ||
            (e.x == ends.x && isfinite(e.x) && further && strcmp(one.text, other.text) != 0))
            ends = e, best = i;
    }
    return best;
}

/* Curves of which no point can be drawn are left out; of many the first in the order of interest
 * are drawn, the best and the worst among them. Returns whether there are more. */
static bool choose(struct drawn *d, const struct panel *panel, struct point *point)
{
    const struct look *look = panel->look;
    size_t ends[2] = {panel->series->count, panel->series->count}, due = 0;
    bool more = false;
    for (int largest = 0; !look->frontier && largest < 2; largest++)
        ends[largest] = extreme(panel, largest, point);
    for (size_t i = 0; i < panel->series->count; i++) {
        const bool end = i == ends[0] || i == ends[1];
        due = (i <= ends[0] && ends[0] < panel->series->count) +
              (i <= ends[1] && ends[1] < panel->series->count && ends[1] != ends[0]);
        if (!drawable(panel, panel->series->first[i], point))
            continue;
        if (end || d->count + due < look->series_most)
            d->series[d->count++] = panel->series->first[i];
        else
            more = true;
    }
    return more;
}

/* Have two series drawn bounds, and the same, wherever both have one? */
static bool same_bounds(const struct point *a, size_t as, const struct point *b, size_t bs)
{
    size_t same = 0;
    for (size_t i = 0, k = 0; i < as && k < bs; a[i].x < b[k].x ? i++ : k++)
        if (a[i].x == b[k].x && isfinite(a[i].bound) && isfinite(b[k].bound)) {
            if (fabs(a[i].bound - b[k].bound) > 0.02 * b[k].bound)
                return false;
            same++;
        }
    return same > 0;
}

static bool any_same_bounds(const struct panel *panel, const struct drawn *d, struct point *point,
                            struct point *other)
{
    for (size_t i = 0; panel->look->bounds && i < d->count; i++) {
        const size_t found = samples_points(point, panel, d->series[i]);
        for (size_t k = 0; k < i; k++)
            if (same_bounds(point, found, other, samples_points(other, panel, d->series[k])))
                return true;
    }
    return false;
}

/* Keeps the name of a series whose errors exceed what additions of exact terms alone allow. */
static void see_above(struct told *told, const struct panel *panel, const struct sample *series,
                      const char *label, const struct point *point, size_t count)
{
    for (size_t i = 0; panel->look->grows && i < count; i++)
        if (isfinite(point[i].y) && point[i].y > point[i].x) {
            text_format(&told->above, "%s%s in %s/%s", told->above.length ? ", " : "", label,
                        panel->pair->storage, panel->pair->accumulator);
            told->instructions |= series->chip && *series->chip;
            return;
        }
}

static void draw_series(struct plot *plot, struct text *curves, const struct panel *panel,
                        struct drawn *d, size_t i, struct edges edges, struct point *point,
                        struct seen *seen, struct told *told)
{
    const struct sample *series = d->series[i];
    size_t found = samples_points(point, panel, series);
    const char *label = text_string(&d->label[i]);
    for (size_t k = 0; k < found; k++) {
        told->exact |= point[k].y == 0;
        told->bounds |= panel->look->bounds && isfinite(point[k].bound);
        told->foreign |= isfinite(point[k].bound) && strchr(series->method, ':');
    }
    told->nested |= d->place[i] > 0;
    samples_rows(plot, panel, series, point, found);
    see(seen, panel->look, label ? label : "", point, found);
    see_above(told, panel, series, label ? label : "", point, found);
    text_format(&plot->data, "# %s on %s: x, y (what is 0 stands on the lower edge), bound\n",
                series->method, series->device);
    samples_write(&plot->data, point, found, edges);
    add_curve(curves, plot->name, panel->look, d, i, plot_data_end(plot), found);
}

static void set_panel(struct plot *plot, const struct page *r, const struct panel *panel,
                      const struct drawn *d, const struct seen *seen)
{
    const struct look *look = panel->look;
    struct text title = {0};
    if (panel->pair->operation)
        text_format(&title, "%s, ", panel->pair->operation->name);
    if (panel->pair->panel)
        text_add(&title, panel->pair->panel);
    else
        page_pair_formats(&title, r, panel->pair->storage, panel->pair->accumulator, "");
    seen_say(&title, look, seen);
    plot_panel(plot, 365 + legend_height(d, d->count + 3),
               text_string(&title) ? text_string(&title) : "");
    text_format(&plot->script, "set xlabel \"%s\\n \"\nset ylabel '%s'\nset format y '%s'\n",
                look->x_label, look->y_label, look->factors ? "%g" : "10^{%T}");
    text_free(&title);
}

/* Between gnuplot's `plot` arguments. */
#define CURVE_COMMA ", \\\n    "

/* The level of a look, the number on the axis of x and its root, where they pass through the panel.
 * Does any? */
static bool add_lines(struct text *to, const struct look *look, struct edges edges)
{
    const char *comma = "";
    if (look->level_says && look->level > edges.lower && look->level < edges.upper) {
        text_format(to, "%.9g with lines linecolor rgb 0x888888 dashtype 3 title '%s'", look->level,
                    look->level_says);
        comma = CURVE_COMMA;
    }
    for (int whole = 0; look->grows && whole < 2; whole++) {
        const double power = whole ? 1 : 0.5;
        if (pow(edges.left, power) < edges.upper && pow(edges.right, power) > edges.lower) {
            text_format(to,
                        whole ? "%sx with lines linecolor rgb 0x888888 dashtype 4 title '%s'"
                              : "%ssqrt(x) with lines linecolor rgb 0x888888 dashtype 3 title "
                                "'sqrt(%s)'",
                        comma, look->grows);
            comma = CURVE_COMMA;
        }
    }
    return *comma;
}

/* Is a bound of what is drawn above the axis? */
static bool bounds_above(const struct panel *panel, const struct drawn *d, struct point *point,
                         struct edges edges)
{
    for (size_t i = 0; i < d->count; i++) {
        size_t found = samples_points(point, panel, d->series[i]);
        for (size_t k = 0; k < found; k++)
            if (isfinite(point[k].bound) && point[k].bound > edges.upper)
                return true;
    }
    return false;
}

/* Panels without a curve are left out. `other` has room for the points of any series. */
static void draw_panel(struct plot *plot, const struct page *r, const struct panel *panel,
                       struct point *point, struct point *other, struct told *told)
{
    struct drawn d = {0};
    struct text ranges = {0}, curves = {0};
    struct edges edges = samples_axes(&ranges, panel, point);
    struct seen seen = {0};
    told->more |= choose(&d, panel, point);
    told->equal |= any_same_bounds(panel, &d, point, other);
    name_series(&d, r);
    if (panel->look->nested)
        samples_nest(d.place, panel, d.series, d.count, edges, point, other);
    const struct told before = *told;
    told->exact = told->bounds = false;
    for (size_t i = 0; i < d.count; i++)
        draw_series(plot, &curves, panel, &d, i, edges, point, &seen, told);
    if (told->exact)
        samples_zero(&ranges, edges);
    if (d.count > 0 && panel->look->frontier) {
        samples_others(plot, &curves, panel, point, edges);
        samples_frontier(plot, &curves, panel, point, edges);
    }
    if (told->bounds)
        text_format(&curves,
                    ", \\\n    NaN with lines linecolor rgb 0x888888 linewidth 1 dashtype 2 "
                    "title 'bound (dashed%s)'",
                    panel->look->bounds_whole && bounds_above(panel, &d, point, edges)
                        ? "; some above the picture"
                        : "");
    told->exact |= before.exact;
    told->bounds |= before.bounds;
    if (d.count > 0) {
        set_panel(plot, r, panel, &d, &seen);
        text_join(&plot->script, &ranges);
        const char *all = text_string(&curves);
        text_add(&plot->script, "plot ");
        const bool first = !add_lines(&plot->script, panel->look, edges);
        text_add(&plot->script, all ? all + (first ? strlen(CURVE_COMMA) : 0) : "");
        text_add(&plot->script, "\n");
    }
    for (size_t i = 0; i < d.count; i++)
        text_free(&d.label[i]);
    text_free(&ranges);
    text_free(&curves);
}

/* Of what is drawn alone. */
static void add_caption(struct text *to, const struct look *look, struct told *told)
{
    text_add(to, look->caption);
    if (told->bounds)
        text_add(to, told->foreign
                         ? " Dashed, in the same colour: the bound of the method's theorem; of a "
                           "function that is not ulpscope's, whose theorem it cannot know, the "
                           "bound of any order of additions, (n - 1) u sum|x|."
                         : " Dashed, in the same colour: the bound of the method's theorem.");
    if (told->equal)
        text_add(to, " Of equal bounds only the last is seen.");
    const char *above = text_string(&told->above);
    if (told->above.length > 0 && above) {
        text_format(to, " Above the line %s: ", look->grows);
        html_text(to, above);
        text_add(to, ": they round more than each addition in the accumulator.");
        if (told->instructions)
            text_add(to, " Matrix instructions read fp32 as tf32, 11 bits, before they add, and of "
                         "fp8 some keep fewer bits of a sum than fp32 has.");
    }
    if (told->more)
        text_format(to,
                    " Where there are more, %zu methods are drawn, among them the one that errs "
                    "least and the one that errs most of what the picture reaches; the table of "
                    "methods has all.",
                    look->series_most);
    if (told->nested)
        text_add(to, " Marks that would cover each other are nested, the hollow ones around the "
                     "smaller; none is moved.");
    if (told->exact && !look->frontier)
        text_add(to, " Exact results, whose error is 0, stand just above the lower edge.");
}

enum status page_samples(struct page *r, const struct look *look, const struct sample *sample,
                         size_t count, struct problem *p)
{
    struct plot plot;
    char columns[128];
    struct told told = {0};
    struct text caption = {0};
    struct groups pairs = {0}, series = {0};
    /* A frontier has two ends more; of two series at a time. */
    struct point *point = calloc(2 * (count + 2), sizeof *point);
    if (!point || !group(&pairs, sample, count, samples_same_pair, by_pair) ||
        !group(&series, sample, count, samples_same_series, by_series)) {
        free(point);
        free(pairs.first);
        free(series.first);
        return problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    }
    bool chips = false;
    if (look->worst_first)
        worst_first(&pairs, sample, count);
    for (size_t i = 0; i < count; i++)
        chips |= sample[i].chip && *sample[i].chip;
    snprintf(columns, sizeof columns, "%sstorage,accumulator,method,device,%s,%s,bound%s%s",
             sample->panel ? "panel," : "", look->x_name, look->y_name,
             chips ? ",chip,promote" : "", look->shows == SHOWS_CLIFF ? ",cliff_log2" : "");
    plot_begin(&plot, look->name, columns);
    for (size_t i = 0; i < pairs.count && plot.panels < PANELS_MOST; i++) {
        struct panel panel = {look, sample, count, pairs.first[i], &series, chips};
        draw_panel(&plot, r, &panel, point, point + count + 2, &told);
    }
    free(point);
    free(pairs.first);
    free(series.first);
    add_caption(&caption, look, &told);
    text_free(&told.above);
    enum status status =
        plot_end(&plot, r, look->heading, text_string(&caption) ? text_string(&caption) : "", p);
    text_free(&caption);
    return status;
}
