/* Maps of sums over ranks: which settings gave the same bits, by the elements of a rank. A setting
 * is a method with its number of blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/page/report.h"

enum { ROWS_MOST = 24, COLUMNS_MOST = 12, MAPS_MOST = 6, LABEL_MOST = 33 };
enum { NONE = 0, RUNS_DIFFER = 1, FIRST = 2 }; /* of a cell; from FIRST on: which array */

/* Of one input in one pair of formats, on one number of ranks. */
struct map {
    const struct gathered_case *of, *row[ROWS_MOST];
    double elements[COLUMNS_MOST];
    size_t rows, columns;
    size_t cell[COLUMNS_MOST][ROWS_MOST];
    size_t arrays[COLUMNS_MOST], most; /* how many there were; in which column the most */
};

static bool same(const struct gathered_case *a, const struct gathered_case *b,
                 const enum case_column *column, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        if (strcmp(a->field[column[i]], b->field[column[i]]) != 0)
            return false;
    return true;
}

static bool same_map(const struct gathered_case *a, const struct gathered_case *b)
{
    static const enum case_column column[] = {CASE_STORAGE, CASE_ACCUMULATOR, CASE_INPUT, CASE_SEED,
                                              CASE_KEYS};
    return same(a, b, column, sizeof column / sizeof *column);
}

static bool same_row(const struct gathered_case *a, const struct gathered_case *b)
{
    static const enum case_column column[] = {CASE_METHOD, CASE_BLOCKS, CASE_DEVICE};
    return same(a, b, column, sizeof column / sizeof *column);
}

static double elements_of(const struct gathered_case *c)
{
    return strtod(c->field[CASE_BINS], NULL);
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static bool is_drawn(const struct page *r, const struct gathered_case *c)
{
    const struct operation *o = page_operation_of(r, c);
    return o && o->ranks && c->runs > 0;
}

static void list(struct map *map, const struct page *r)
{
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        size_t row = 0, column = 0;
        if (!is_drawn(r, c) || !same_map(c, map->of))
            continue;
        while (row < map->rows && !same_row(map->row[row], c))
            row++;
        while (column < map->columns && map->elements[column] != elements_of(c))
            column++;
        if (row == map->rows && row < ROWS_MOST)
            map->row[map->rows++] = c;
        if (column == map->columns && column < COLUMNS_MOST)
            map->elements[map->columns++] = elements_of(c);
    }
    qsort(map->elements, map->columns, sizeof *map->elements, ascending);
}

static const struct gathered_case *case_at(const struct page *r, const struct map *map, size_t row,
                                           size_t column)
{
    for (size_t i = 0; i < r->g.count; i++)
        if (is_drawn(r, &r->g.item[i]) && same_map(&r->g.item[i], map->of) &&
            same_row(&r->g.item[i], map->row[row]) &&
            elements_of(&r->g.item[i]) == map->elements[column])
            return &r->g.item[i];
    return NULL;
}

/* Numbers the arrays: settings with the same bits get the same number. */
static void tell_apart(struct map *map, const struct page *r, size_t column)
{
    const struct gathered_case *is[ROWS_MOST] = {0};
    for (size_t row = 0; row < map->rows; row++) {
        const struct gathered_case *c = case_at(r, map, row, column);
        size_t other = 0;
        if (!c)
            continue;
        if (c->distinct != 1) {
            map->cell[column][row] = RUNS_DIFFER;
            continue;
        }
        is[row] = c;
        while (!is[other] || memcmp(is[other]->bits, c->bits, sizeof *c->bits) != 0)
            other++;
        map->cell[column][row] =
            other < row ? map->cell[column][other] : FIRST + map->arrays[column]++;
    }
}

static struct map map_of(const struct page *r, const struct gathered_case *of)
{
    struct map map = {.of = of};
    list(&map, r);
    for (size_t k = 0; k < map.columns; k++) {
        tell_apart(&map, r, k);
        map.most = map.arrays[k] > map.arrays[map.most] ? k : map.most;
    }
    return map;
}

/* All maps of several settings, those with the most different arrays first. The caller frees them;
 * NULL: memory is short. */
static struct map *maps_of(const struct page *r, size_t *count)
{
    struct map *maps = malloc((r->g.count + 1) * sizeof *maps);
    *count = 0;
    for (size_t i = 0; maps && i < r->g.count; i++) {
        size_t k = 0, at;
        if (!is_drawn(r, &r->g.item[i]))
            continue;
        while (k < *count && !same_map(maps[k].of, &r->g.item[i]))
            k++;
        struct map map = k == *count ? map_of(r, &r->g.item[i]) : (struct map){0};
        if (map.rows < 2)
            continue;
        for (at = *count; at > 0 && maps[at - 1].arrays[maps[at - 1].most] < map.arrays[map.most];
             at--)
            maps[at] = maps[at - 1];
        maps[at] = map;
        ++*count;
    }
    return maps;
}

static void say_place(struct text *to, const struct page *r, const struct map *map)
{
    const char *ranks = strchr(map->of->field[CASE_KEYS], ':');
    page_pair_formats(to, r, map->of->field[CASE_STORAGE], map->of->field[CASE_ACCUMULATOR], "");
    text_format(to, ", %s ranks", ranks ? ranks + 1 : "");
}

static void say_most(struct text *to, const struct page *r, const struct map *map)
{
    size_t arrays = map->arrays[map->most];
    if (arrays <= 1)
        text_format(to, "All %zu settings gave the same bits: ", map->rows);
    else
        text_format(to, "%zu settings gave %zu different arrays: ", map->rows, arrays);
    say_place(to, r, map);
    if (arrays > 1)
        text_format(to, " of %.0f elements", map->elements[map->most]);
}

static void say_name(struct text *to, const struct gathered_case *c)
{
    page_case_name(to, c);
    if (*c->field[CASE_BLOCKS])
        text_format(to, ", %s", c->field[CASE_BLOCKS]);
}

static void write_cells(struct plot *plot, const struct map *map, size_t arrays)
{
    for (size_t row = 0; row < map->rows; row++)
        for (size_t column = 0; column < map->columns; column++) {
            size_t cell = map->cell[column][row];
            const struct gathered_case *c = map->row[row];
            char letter[2] = {cell == RUNS_DIFFER ? '*' : (char)('A' + cell - FIRST)};
            if (cell == NONE)
                continue;
            double shade = cell == RUNS_DIFFER || arrays <= 1
                               ? 0
                               : (double)(cell - FIRST) / (double)(arrays - 1);
            text_format(&plot->data, "%zu %zu %.3f %s\n", column, row, 1 - shade, letter);
            plot_cell(plot, c->field[CASE_METHOD]);
            plot_cell(plot, c->field[CASE_BLOCKS]);
            plot_cell(plot, c->field[CASE_STORAGE]);
            plot_cell(plot, c->field[CASE_ACCUMULATOR]);
            plot_cell(plot, c->field[CASE_INPUT]);
            plot_cell(plot, c->field[CASE_KEYS]);
            plot_number(plot, map->elements[column]);
            plot_cell(plot, letter);
            plot_row_end(plot);
        }
}

static void draw(struct plot *plot, const struct page *r, const struct map *map)
{
    struct text title = {0}, names = {0};
    const double above = 10, below = 60, rows = 24 * (double)map->rows;
    const double height = above + (rows < 84 ? 84 : rows) + below;
    double beside = 0.2;
    for (size_t i = 0; i < map->rows; i++) {
        struct text name = {0}, label = {0};
        say_name(&name, map->row[i]);
        plot_axis_name(&label, text_string(&name) ? name.data : "", LABEL_MOST);
        text_format(&names, "%s%s %zu", i ? ", " : "", text_string(&label) ? label.data : "''", i);
        double wide = plot_room(text_string(&label) ? label.data : "");
        beside = wide > beside ? wide : beside;
        text_free(&label);
        text_free(&name);
    }
    text_add(&plot->data, "# elements, setting, shade, array\n");
    write_cells(plot, map, map->arrays[map->most]);
    size_t block = plot_data_end(plot);
    say_most(&title, r, map);
    plot_panel(plot, height, text_string(&title) ? title.data : "");
    text_add(&plot->script, "unset key\nunset grid\nset xtics (");
    for (size_t k = 0; k < map->columns; k++)
        text_format(&plot->script, "%s\"%.0f\" %zu", k ? ", " : "", map->elements[k], k);
    text_format(&plot->script,
                ") scale 0 font 'sans,11'\nset ytics (%s) scale 0 noenhanced font 'sans,11'\n",
                text_string(&names) ? names.data : "");
    plot_map(plot, &(struct plot_map){.block = block,
                                      .columns = map->columns,
                                      .rows = map->rows,
                                      .beside = beside,
                                      .above = above / height,
                                      .below = below / height,
                                      .x_label = "elements of a rank"});
    text_free(&names);
    text_free(&title);
}

enum status page_same(struct page *r, struct problem *p)
{
    struct plot plot;
    struct text caption = {0};
    size_t count;
    struct map *maps = maps_of(r, &count);
    if (!maps)
        return problem(p, STATUS_MEMORY, "report: out of memory");
    plot_begin(&plot, "same", "method,blocks,storage,accumulator,input,ranks,elements,array");
    for (size_t i = 0; i < count && i < MAPS_MOST; i++)
        draw(&plot, r, &maps[i]);
    free(maps);
    text_add(&caption,
             "In a column the same letter is the same array, bit for bit, from the same "
             "addends; letters of two columns have nothing to do with each other. *: runs "
             "of one setting differed. A number behind a name is that of its blocks, of "
             "NCCL its channels.");
    if (count > MAPS_MOST)
        text_format(&caption, " Not drawn: %zu more, of as many different arrays or fewer.",
                    count - MAPS_MOST);
    enum status status = plot_end(&plot, r, "Which settings give the same bits",
                                  text_string(&caption) ? caption.data : "", p);
    text_free(&caption);
    return status;
}

void page_ranks_findings(struct text *to, const struct page *r)
{
    size_t count;
    struct map *maps = maps_of(r, &count);
    if (maps && count > 0) {
        struct text line = {0};
        say_most(&line, r, &maps[0]);
        text_format(to, "<li class=\"plain\">%s.</li>\n", text_string(&line) ? line.data : "");
        text_free(&line);
    }
    free(maps);
    page_error_findings(to, r);
}
