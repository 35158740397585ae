/* Maps, methods by pairs of formats, for results that are arrays: of largest errors, and of how
 * many different results there were. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/report.h"
#include "reference/format/format.h"

enum { METHODS_MOST = 24, PAIRS_MOST = 12, NAME_MOST = 33 };

/* Of one operation. */
struct map {
    const struct operation *operation;
    bool differing; /* of how many results there were; else of errors */
    const struct gathered_case *pair[PAIRS_MOST];
    const struct gathered_case *method[METHODS_MOST]; /* the first case of each */
    size_t pairs, methods, begin; /* which method comes first: others have maps before it */
    bool more;                    /* are there methods after the last? */
};

static bool same_pair(const struct gathered_case *a, const struct gathered_case *b)
{
    return strcmp(a->field[CASE_STORAGE], b->field[CASE_STORAGE]) == 0 &&
           strcmp(a->field[CASE_ACCUMULATOR], b->field[CASE_ACCUMULATOR]) == 0;
}

static size_t rank_of(const struct gathered_case *c)
{
    return page_pair_rank(c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR]);
}

static int by_pair(const void *x, const void *y)
{
    size_t a = rank_of(*(const struct gathered_case *const *)x),
           b = rank_of(*(const struct gathered_case *const *)y);
    return (a > b) - (a < b);
}

static bool of_map(const struct page *r, const struct map *map, const struct gathered_case *c)
{
    const bool known = map->differing ? c->runs > 1 : c->runs > 0 && page_err_ulp(c).known;
    return known && page_operation_of(r, c) == map->operation;
}

/* Pairs in the order of interest, methods as the study has them. */
static void fill_map(struct map *map, const struct page *r)
{
    size_t skipped = 0;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        size_t pair = 0;
        if (!of_map(r, map, c))
            continue;
        while (pair < map->pairs && !same_pair(map->pair[pair], c))
            pair++;
        if (pair == map->pairs && pair < PAIRS_MOST)
            map->pair[map->pairs++] = c;
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = !(of_map(r, map, &r->g.item[k]) && page_same_method(&r->g.item[k], c));
        if (!first || skipped++ < map->begin)
            continue;
        map->more = map->methods == METHODS_MOST;
        if (!map->more)
            map->method[map->methods++] = c;
        else
            break;
    }
    qsort(map->pair, map->pairs, sizeof *map->pair, by_pair);
}

/* The largest of all cases. */
static struct figure value_of(const struct page *r, const struct map *map,
                              const struct gathered_case *method, const struct gathered_case *pair)
{
    struct figure most = {0};
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (page_same_method(c, method) && same_pair(c, pair) && of_map(r, map, c))
            gathered_raise(&most, map->differing ? (struct figure){true, (double)c->distinct}
                                                 : page_err_ulp(c));
    }
    return most;
}

static double most_runs(const struct page *r)
{
    double most = 2;
    for (size_t i = 0; i < r->g.count; i++)
        most = fmax(most, (double)r->g.item[i].runs);
    return most;
}

/* Colour by how many of the accumulator's bits are wrong; what is not finite as all of them. */
static double wrong_bits(double ulp, const char *accumulator)
{
    double all = -log2(page_unit(accumulator));
    return isfinite(ulp) ? fmin(fmax(log2(2 * ulp), 0) / all, 1) : 1;
}

/* What a narrow cell has room for: 3e6. */
static struct short_number cell_text(double ulp)
{
    struct short_number n = short_number(ulp);
    if (isfinite(ulp) && ulp >= 1e5) {
        int ten = (int)floor(log10(ulp));
        int digit = (int)(ulp / pow(10, ten) + 0.5);
        snprintf(n.text, sizeof n.text, "%de%d", digit == 10 ? 1 : digit, ten + (digit == 10));
    }
    return n;
}

static void write_cell(struct plot *plot, const struct page *r, const struct map *map,
                       size_t method, size_t pair, double ulp)
{
    const struct gathered_case *of = map->pair[pair];
    double wrong = map->differing ? log(ulp) / log(most_runs(r))
                                  : wrong_bits(ulp, of->field[CASE_ACCUMULATOR]);
    text_format(&plot->data, "%zu %zu %.3f %s\n", pair, method, 1 - wrong, cell_text(ulp).text);
    plot_cell(plot, map->method[method]->field[CASE_METHOD]);
    plot_cell(plot, of->field[CASE_STORAGE]);
    plot_cell(plot, of->field[CASE_ACCUMULATOR]);
    if (isfinite(ulp))
        plot_number(plot, ulp);
    else
        plot_cell(plot, "inf");
    plot_cell(plot, map->method[method]->field[CASE_CHIP]);
    plot_cell(plot, map->method[method]->field[CASE_PROMOTE]);
    plot_row_end(plot);
}

/* Methods whose errors are printed alike. */
struct alike {
    struct text name[SEEN_NAMES];
    double error;
    size_t count;
};

static void keep(struct alike *k, const struct gathered_case *c, double error, bool better)
{
    struct short_number one = short_number(error), best = short_number(k->error);
    bool same = k->count > 0 && strcmp(one.text, best.text) == 0;
    if (k->count == 0 || (better && !same)) {
        for (size_t i = 0; i < SEEN_NAMES; i++)
            text_clear(&k->name[i]);
        k->error = error;
        k->count = 1;
        page_case_name(&k->name[0], c);
    } else if (same && k->count++ < SEEN_NAMES) {
        page_case_name(&k->name[k->count - 1], c);
    }
}

static void say_alike(struct text *to, struct alike *k)
{
    const char *name[SEEN_NAMES];
    for (size_t i = 0; i < SEEN_NAMES; i++)
        name[i] = text_string(&k->name[i]) ? k->name[i].data : "";
    text_format(to, " %s (", short_number(k->error).text);
    names_say(to, name, SEEN_NAMES, k->count);
    text_add(to, ")");
    for (size_t i = 0; i < SEEN_NAMES; i++)
        text_free(&k->name[i]);
}

/* Of the first pair of interest, the best and the worst. */
static void say_first(struct text *to, const struct page *r, const struct map *map)
{
    struct alike best = {0}, worst = {0};
    for (size_t i = 0; i < map->methods; i++) {
        struct figure f = value_of(r, map, map->method[i], map->pair[0]);
        if (f.known) {
            keep(&best, map->method[i], f.value, f.value < best.error);
            keep(&worst, map->method[i], f.value, figure_worse(f.value, worst.error));
        }
    }
    if (r->operations > 1 && map->operation)
        text_format(to, "%s: ", map->operation->name);
    if (map->differing)
        text_format(to, "%sost different results of up to %.0f runs: ", to->length ? "m" : "M",
                    most_runs(r));
    else
        text_format(to, "%sargest error, ulp: ", to->length ? "l" : "L");
    if (best.count == 0)
        return;
    page_pair_formats(to, r, map->pair[0]->field[CASE_STORAGE],
                      map->pair[0]->field[CASE_ACCUMULATOR], " from");
    say_alike(to, &best);
    text_add(to, " to");
    say_alike(to, &worst);
}

/* Names of methods, and how much of the picture's width they need. */
static double add_names(struct text *names, const struct map *map)
{
    double widest = 0;
    for (size_t i = 0; i < map->methods; i++) {
        struct text name = {0}, label = {0};
        page_case_name(&name, map->method[i]);
        text_add(names, i ? ", " : "");
        plot_axis_name(&label, text_string(&name) ? name.data : "", NAME_MOST);
        text_join(names, &label);
        text_format(names, " %zu", i);
        widest = fmax(widest, plot_room(text_string(&label) ? label.data : ""));
        text_free(&label);
        text_free(&name);
    }
    return fmax(widest, 0.2);
}

static void draw_map(struct plot *plot, const struct page *r, const struct map *map)
{
    struct text title = {0}, names = {0};
    /* Few methods have higher rows: names of formats do not take more than the map. */
    const double above = 10, below = 80, rows = fmax(24 * (double)map->methods, 84),
                 height = above + rows + below;
    const double beside = add_names(&names, map);
    text_add(&plot->data, map->differing
                              ? "# pair of formats, method, shade, different results\n"
                              : "# pair of formats, method, share of bits that are right, ulp\n");
    for (size_t i = 0; i < map->methods; i++)
        for (size_t k = 0; k < map->pairs; k++) {
            struct figure f = value_of(r, map, map->method[i], map->pair[k]);
            if (f.known)
                write_cell(plot, r, map, i, k, f.value);
        }
    size_t block = plot_data_end(plot);
    say_first(&title, r, map);
    plot_panel(plot, height, text_string(&title) ? text_string(&title) : "");
    text_add(&plot->script, "unset key\nunset grid\nset xtics (");
    for (size_t k = 0; k < map->pairs; k++)
        text_format(&plot->script, "%s\"%s\\n%s\" %zu", k ? ", " : "",
                    map->pair[k]->field[CASE_STORAGE], map->pair[k]->field[CASE_ACCUMULATOR], k);
    text_format(&plot->script, ") scale 0 font 'sans,11'\nset ytics (%s",
                text_string(&names) ? names.data : "");
    text_add(&plot->script, ") scale 0 noenhanced font 'sans,11'\n");
    plot_map(plot, &(struct plot_map){.block = block,
                                      .columns = map->pairs,
                                      .rows = map->methods,
                                      .beside = beside,
                                      .above = above / height,
                                      .below = below / height,
                                      .x_label = "storage, accumulator",
                                      .drop = 0.6});
    text_free(&names);
    text_free(&title);
}

/* Its methods, in as many maps as they need. */
static void draw_operation(struct plot *plot, const struct page *r, const struct operation *o,
                           bool differing)
{
    struct map map;
    size_t begin = 0;
    do {
        map = (struct map){.operation = o, .differing = differing, .begin = begin};
        fill_map(&map, r);
        if (map.pairs > 0 && map.methods > (begin == 0))
            draw_map(plot, r, &map);
        begin += map.methods;
    } while (map.more && plot->panels < sizeof plot->title / sizeof *plot->title);
}

static void draw_all(struct plot *plot, const struct page *r, bool differing)
{
    const struct operation *o;
    for (size_t i = 0; (o = page_operation_at(i)); i++)
        draw_operation(plot, r, o, differing);
    if (plot->panels == 0) /* of subjects of which nothing is known but what they gave */
        draw_operation(plot, r, NULL, differing);
}

enum status page_ulps(struct page *r, struct problem *p)
{
    struct plot plot;
    plot_begin(&plot, "ulps", "method,storage,accumulator,err_ulp,chip,promote");
    draw_all(&plot, r, false);
    return plot_end(&plot, r, "Largest error by method and formats",
                    "The largest error over all elements, inputs, shapes and runs, in units in the "
                    "last place of the exact element in the accumulator. Yellow: 0.5 ulp or less, "
                    "the error of rounding once; the darker, the more of the accumulator's bits "
                    "are wrong. A blank was not run, or is not supported.",
                    p);
}

enum status page_differing(struct page *r, struct problem *p)
{
    struct plot plot;
    bool any = false;
    for (size_t i = 0; i < r->g.count; i++)
        any |= r->g.item[i].distinct > 1;
    plot_begin(&plot, "differing", "method,storage,accumulator,distinct,chip,promote");
    if (any)
        draw_all(&plot, r, true);
    return plot_end(&plot, r, "How many different results",
                    "The most different results, all outputs taken together, that runs of one case "
                    "gave. Yellow: 1, every run gave the same bits; the darker, the more. A blank "
                    "was not run, or is not supported.",
                    p);
}
