/* Tables for people: aligned columns of plain text. */
#pragma once

#include "reports/text/text.h"

/* Zero-initialised but for `align` is empty. The first row is the header. */
struct table {
    const char *align; /* a letter for each column: l left, r right */
    size_t cells;
    char **cell;
    bool failed; /* memory ran out: the table draws nothing */
};

/* Appends a cell; a row is full when each column has one. */
void table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same of a figure, and of a number that 0 stands for none of; an empty cell where there is
 * none. */
void table_figure(struct table *t, const char *format, struct figure f);
void table_count(struct table *t, size_t count);

/* Appends the table to `to`, each row a line. Columns whose cells are all empty are left out. */
void table_draw(struct text *to, const struct table *t);
void table_free(struct table *t);
