/* A map of largest errors: methods by pairs of formats, for results that are arrays. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/report.h"
#include "reference/format/format.h"

enum { METHODS_MOST = 24, PAIRS_MOST = 12 };

struct map {
    const struct gathered_case *pair[PAIRS_MOST];
    const char *method[METHODS_MOST];
    size_t pairs, methods;
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

/* Pairs in the order of interest, methods as the study has them. */
static struct map map_of(const struct page *r)
{
    struct map map = {0};
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        size_t pair = 0, method = 0;
        if (c->runs == 0 || !page_err_ulp(c).known)
            continue;
        while (pair < map.pairs && !same_pair(map.pair[pair], c))
            pair++;
        if (pair == map.pairs && pair < PAIRS_MOST)
            map.pair[map.pairs++] = c;
        while (method < map.methods && strcmp(map.method[method], c->field[CASE_METHOD]) != 0)
            method++;
        if (method == map.methods && method < METHODS_MOST)
            map.method[map.methods++] = c->field[CASE_METHOD];
    }
    qsort(map.pair, map.pairs, sizeof *map.pair, by_pair);
    return map;
}

static struct figure error_of(const struct page *r, const char *method,
                              const struct gathered_case *pair)
{
    struct figure most = {0};
    for (size_t i = 0; i < r->g.count; i++)
        if (strcmp(r->g.item[i].field[CASE_METHOD], method) == 0 && same_pair(&r->g.item[i], pair))
            gathered_raise(&most, page_err_ulp(&r->g.item[i]));
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

static void write_cell(struct plot *plot, const struct map *map, size_t method, size_t pair,
                       double ulp)
{
    const struct gathered_case *of = map->pair[pair];
    double wrong = wrong_bits(ulp, of->field[CASE_ACCUMULATOR]);
    text_format(&plot->data, "%zu %zu %.3f %s\n", pair, method, 1 - wrong, cell_text(ulp).text);
    plot_cell(plot, map->method[method]);
    plot_cell(plot, of->field[CASE_STORAGE]);
    plot_cell(plot, of->field[CASE_ACCUMULATOR]);
    if (isfinite(ulp))
        plot_number(plot, ulp);
    else
        plot_cell(plot, "inf");
    plot_row_end(plot);
}

/* The pair that the title tells: the first of interest, whose best and worst it names. */
static void say_first(struct text *to, const struct page *r, const struct map *map)
{
    double least = INFINITY, most = -INFINITY;
    const char *best = NULL, *worst = NULL;
    for (size_t i = 0; i < map->methods; i++) {
        struct figure f = error_of(r, map->method[i], map->pair[0]);
        if (f.known && (!best || f.value < least))
            least = f.value, best = map->method[i];
        if (f.known && (!worst || figure_worse(f.value, most)))
            most = f.value, worst = map->method[i];
    }
    text_format(to, "Largest error, ulp: ");
    if (best && worst)
        text_format(to, "%s added in %s from %s (%s) to %s (%s)", map->pair[0]->field[CASE_STORAGE],
                    map->pair[0]->field[CASE_ACCUMULATOR], short_number(least).text, best,
                    short_number(most).text, worst);
}

static void draw_map(struct plot *plot, const struct page *r, const struct map *map)
{
    struct text title = {0}, names = {0};
    const double above = 10, below = 80, height = above + 24 * (double)map->methods + below;
    text_add(&plot->data, "# pair of formats, method, share of bits that are right, ulp\n");
    for (size_t i = 0; i < map->methods; i++)
        for (size_t k = 0; k < map->pairs; k++) {
            struct figure f = error_of(r, map->method[i], map->pair[k]);
            if (f.known)
                write_cell(plot, map, i, k, f.value);
        }
    size_t block = plot_data_end(plot);
    say_first(&title, r, map);
    plot_panel(plot, height, text_string(&title) ? text_string(&title) : "");
    text_add(&plot->script, "unset key\nunset grid\nset xtics (");
    for (size_t k = 0; k < map->pairs; k++)
        text_format(&plot->script, "%s\"%s\\n%s\" %zu", k ? ", " : "",
                    map->pair[k]->field[CASE_STORAGE], map->pair[k]->field[CASE_ACCUMULATOR], k);
    text_add(&plot->script, ") scale 0 font 'sans,11'\nset ytics (");
    for (size_t i = 0; i < map->methods; i++) {
        text_add(&plot->script, i ? ", " : "");
        plot_label(&plot->script, map->method[i], 22);
        text_format(&plot->script, " %zu", i);
    }
    text_format(
        &plot->script,
        ") scale 0 noenhanced font 'sans,11'\nset lmargin at screen 0.33\n"
        "set rmargin at screen 0.99\nset tmargin at screen %.4f\n"
        "set bmargin at screen %.4f\nset xrange [-0.5 : %zu.5]\nset yrange [%zu.5 : -0.5]\n"
        "set xlabel 'storage, accumulator' offset 0,-0.6\nunset ylabel\nset cbrange [0 : 1]\n"
        "unset colorbox\nset palette defined (0 '#440154', 0.25 '#3b528b', 0.5 '#21918c', "
        "\\\n    0.75 '#5ec962', 1 '#fde725')\n"
        "plot '%s.dat' index %zu using 1:2:(0.48):(0.46):3 with boxxyerror fillstyle solid "
        "\\\n    noborder linecolor palette, \\\n"
        "    '' index %zu using 1:2:(stringcolumn(4)):($3 > 0.5 ? 0x000001 : 0xffffff) "
        "with labels \\\n    textcolor rgb variable font 'sans,10'\n",
        1 - above / height, below / height, map->pairs - 1, map->methods - 1, plot->name, block,
        block);
    text_free(&names);
    text_free(&title);
}

enum status page_ulps(struct page *r, struct problem *p)
{
    struct plot plot;
    struct map map = map_of(r);
    plot_begin(&plot, "ulps", "method,storage,accumulator,err_ulp");
    if (map.pairs > 0 && map.methods > 1)
        draw_map(&plot, r, &map);
    return plot_end(&plot, r, "Largest error by method and formats",
                    "The largest error over all elements, inputs, shapes and runs, in units in the "
                    "last place of the exact element in the accumulator. Yellow: 0.5 ulp or less, "
                    "the error of rounding once; the darker, the more of the accumulator's bits "
                    "are wrong. A blank was not run, or is not supported.",
                    p);
}
