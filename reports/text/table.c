#include "reports/text/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/base/grow.h"

static bool is_wide;

void table_set_wide(bool wide)
{
    is_wide = wide;
}

bool table_wide(void)
{
    return is_wide;
}

void table_cell(struct table *t, const char *format, ...)
{
    if (!grow(&t->cell, t->cells, sizeof *t->cell)) {
        t->failed = true;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    char *cell;
    struct text shown = {0};
    if (vasprintf(&cell, format, arguments) < 0) {
        t->failed = true;
    } else {
        text_visible(&shown, cell);
        free(cell);
        t->cell[t->cells] = text_string(&shown) ? shown.data : NULL;
        t->failed |= !t->cell[t->cells];
        t->cells += t->cell[t->cells] != NULL;
    }
    va_end(arguments);
}

void table_figure(struct table *t, const char *format, struct figure f)
{
    if (!f.known)
        table_cell(t, "%s", "");
    else if (isnan(f.value)) /* of either sign, which printf tells apart */
        table_cell(t, "nan");
    else
        table_cell(t, format, f.value);
}

void table_count(struct table *t, size_t count)
{
    if (count)
        table_cell(t, "%zu", count);
    else
        table_cell(t, "%s", "");
}

/* Characters, not bytes, of UTF-8. */
static int width_of(const char *cell)
{
    int width = 0;
    for (; *cell; cell++)
        width += (*cell & 0xc0) != 0x80;
    return width;
}

/* The widest cell of a column, the header included; 0 where all below it are empty. */
static int column_width(const struct table *t, size_t column, size_t columns)
{
    int widest = 0;
    for (size_t i = column + columns; i < t->cells; i += columns)
        widest = width_of(t->cell[i]) > widest ? width_of(t->cell[i]) : widest;
    int header = width_of(t->cell[column]);
    return widest == 0 || widest > header ? widest : header;
}

/* Past so many characters. */
static const char *skipped(const char *cell, int characters)
{
    for (; characters > 0 && *cell; cell++)
        characters -= (cell[1] & 0xc0) != 0x80;
    return cell;
}

/* A cell that is too wide without its middle: of a path the end tells most. */
static void draw_ends(struct text *to, const char *cell, int width)
{
    enum { DOTS = 3 };
    int head = (width - DOTS) / 4, tail = width - DOTS - head;
    text_format(to, "%.*s...%s", (int)(skipped(cell, head) - cell), cell,
                skipped(cell, width_of(cell) - tail));
}

static void draw_cell(struct text *to, const char *cell, char align, int width, bool last)
{
    int pad = width - width_of(cell);
    bool right = align == 'r' || align == 'R';
    if (right)
        text_format(to, "%*s", pad > 0 ? pad : 0, "");
    if (pad < 0) {
        draw_ends(to, cell, width);
        pad = 0;
    } else {
        text_add(to, cell);
    }
    if (!right && !last)
        text_format(to, "%*s", pad, "");
}

static int width_of_all(const int *width, size_t columns)
{
    int all = 0;
    for (size_t i = 0; i < columns; i++)
        all += width[i] ? width[i] + 2 : 0;
    return all - 2;
}

/* The first column gives way, down to `least` or its header. */
static void narrow_first(const struct table *t, int *width, int least)
{
    int header = width_of(t->cell[0]);
    int due = width[0] - (width_of_all(width, strlen(t->align)) - TABLE_COLUMNS);
    least = header > least ? header : least;
    due = due > least ? due : least;
    if (due < width[0])
        width[0] = due;
}

static size_t shown(const int *width, size_t columns)
{
    size_t count = 0;
    for (size_t i = 1; i < columns; i++)
        count += width[i] > 0;
    return count;
}

/* Until the table fits: long names give way, then columns that may be left out, whose names these
 * are, but for the last that stands beside names, then names again. */
static void narrow(struct text *names, const struct table *t, int *width)
{
    enum { NAME = 60, LEAST = 20 };
    size_t columns = strlen(t->align);
    if (is_wide)
        return;
    narrow_first(t, width, NAME);
    for (size_t i = columns; i-- > 0 && width_of_all(width, columns) > TABLE_COLUMNS;) {
        if (width[i] == 0 || (t->align[i] != 'L' && t->align[i] != 'R') ||
            (i > 0 && shown(width, columns) == 1))
            continue;
        text_format(names, "%s%s", names->length ? ", " : "", t->cell[i]);
        width[i] = 0;
    }
    narrow_first(t, width, LEAST);
}

void table_draw(struct text *to, const struct table *t)
{
    size_t columns = strlen(t->align), last = 0;
    int *width = calloc(columns, sizeof *width);
    if (t->failed || !width || t->cells < columns) {
        to->failed |= t->failed || !width;
        free(width);
        return;
    }
    struct text left_out = {0};
    for (size_t i = 0; i < columns; i++)
        width[i] = column_width(t, i, columns);
    narrow(&left_out, t, width);
    for (size_t i = 0; i < columns; i++)
        last = width[i] ? i : last;
    for (size_t i = 0; i < t->cells - t->cells % columns; i++) {
        size_t column = i % columns;
        if (width[column] == 0)
            continue;
        draw_cell(to, t->cell[i], t->align[column], width[column], column == last);
        text_add(to, column == last ? "\n" : "  ");
    }
    if (t->some && !is_wide) {
        text_format(to, "%s\n", t->some);
    } else if (left_out.length) {
        text_add(to, "columns left out (--wide has them): ");
        text_join(to, &left_out);
        text_add(to, "\n");
    }
    text_free(&left_out);
    free(width);
}

void table_free(struct table *t)
{
    for (size_t i = 0; i < t->cells; i++)
        free(t->cell[i]);
    free(t->cell);
    *t = (struct table){.align = t->align};
}
