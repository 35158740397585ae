#include "reports/text/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/base/grow.h"

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

static void draw_cell(struct text *to, const char *cell, char align, int width, bool last)
{
    int pad = width - width_of(cell);
    if (align == 'r')
        text_format(to, "%*s", pad, "");
    text_add(to, cell);
    if (align != 'r' && !last)
        text_format(to, "%*s", pad, "");
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
    for (size_t i = 0; i < columns; i++)
        if ((width[i] = column_width(t, i, columns)))
            last = i;
    for (size_t i = 0; i < t->cells - t->cells % columns; i++) {
        size_t column = i % columns;
        if (width[column] == 0)
            continue;
        draw_cell(to, t->cell[i], t->align[column], width[column], column == last);
        text_add(to, column == last ? "\n" : "  ");
    }
    free(width);
}

void table_free(struct table *t)
{
    for (size_t i = 0; i < t->cells; i++)
        free(t->cell[i]);
    free(t->cell);
    *t = (struct table){.align = t->align};
}
