/* Tables for people: aligned columns of plain text. */
#pragma once

#include "reports/text/text.h"

/* Zero-initialised but for `align` is empty. The first row is the header. */
struct table {
    /* A letter for each column: l left, r right; L, R: may be left out of a table that is too wide.
     */
    const char *align;
    /* NULL: a line names columns that are left out; else what it says in place of that, also where
     * none are. Nothing with --wide. */
    const char *some;
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

/* Appends the table to `to`, each row a line. Columns whose cells are all empty are left out; so
 * are, beginning with the last, columns that may be, until it fits in TABLE_COLUMNS: a line says
 * which. One beside the first always stays. Before and after, long cells of the first column lose
 * their middle: "begin...the end". */
void table_draw(struct text *to, const struct table *t);
void table_free(struct table *t);

/* Are tables to show all that there is, as --wide asks, or what fits in TABLE_COLUMNS? Set once,
 * before the first table. */
enum { TABLE_COLUMNS = 100 };
void table_set_wide(bool wide);
bool table_wide(void);
