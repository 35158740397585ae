#include "reports/text/table.h"

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
    if (f.known)
        table_cell(t, format, f.value);
    else
        table_cell(t, "%s", "");
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

/* The end of a cell that is too wide, which tells more than the beginning of a path: "...end". */
static void draw_end(struct text *to, const char *cell, int width)
{
    enum { DOTS = 3 };
    int skip = width_of(cell) - (width - DOTS);
    for (; skip > 0 && *cell; cell++)
        skip -= (cell[1] & 0xc0) != 0x80;
    text_format(to, "...%s", cell);
}

static void draw_cell(struct text *to, const char *cell, char align, int width, bool last)
{
    int pad = width - width_of(cell);
    bool right = align == 'r' || align == 'R';
    if (right)
        text_format(to, "%*s", pad > 0 ? pad : 0, "");
    if (pad < 0) {
        draw_end(to, cell, width);
        pad = 0;
    } else {
        text_add(to, cell);
    }
    if (!right && !last)
        text_format(to, "%*s", pad, "");
}

/* Leaves out columns until the table fits; their names. Where that is not enough, the first column
 * gives way. */
static void narrow(struct text *names, const struct table *t, int *width)
{
    size_t columns = strlen(t->align);
    int all = 0;
    for (size_t i = 0; i < columns; i++)
        all += width[i] ? width[i] + 2 : 0;
    for (size_t i = columns; i-- > 0 && all - 2 > TABLE_COLUMNS && !is_wide;) {
        if (width[i] == 0 || (t->align[i] != 'L' && t->align[i] != 'R'))
            continue;
        text_format(names, "%s%s", names->length ? ", " : "", t->cell[i]);
        all -= width[i] + 2;
        width[i] = 0;
    }
    enum { LEAST = 20 };
    int excess = all - 2 - TABLE_COLUMNS, header = width_of(t->cell[0]);
    if (excess > 0 && !is_wide && width[0] - excess >= (header > LEAST ? header : LEAST))
        width[0] -= excess;
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
    if (left_out.length) {
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
