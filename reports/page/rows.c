/* Files of the study that a page shows as they are, read whole. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reports/page/report.h"

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct report_rows *rows = context;
    if (rows->count == rows->capacity) {
        size_t capacity = 2 * rows->capacity + 64;
        char **grown = realloc(rows->cell, capacity * rows->columns * sizeof *grown);
        if (!grown)
            return problem(p, STATUS_DEVICE, "%s: out of memory", row->path);
        rows->cell = grown;
        rows->capacity = capacity;
    }
    char **cell = rows->cell + rows->count++ * rows->columns;
    bool good = true;
    for (size_t i = 0; i < rows->columns; i++)
        good &= (cell[i] = strdup(row->field[i])) != NULL;
    return good ? STATUS_OK : problem(p, STATUS_DEVICE, "%s: out of memory", row->path);
}

enum status report_file(const struct report *r, const char *name, column_at *column, size_t columns,
                        csv_take take, void *context, struct problem *p)
{
    char *path;
    uint64_t whole;
    enum status status = STATUS_OK;
    if (asprintf(&path, "%s/%s", r->g.path, name) < 0)
        return problem(p, STATUS_DEVICE, "%s: out of memory", r->g.path);
    if (access(path, F_OK) == 0)
        status = csv_read_since(path, column, column == check_column ? CHECK_COLUMNS_OLD : columns,
                                columns, take, context, &whole, p);
    free(path);
    return status;
}

enum status report_rows_read(struct report_rows *rows, const struct report *r, const char *name,
                             column_at *column, size_t columns, struct problem *p)
{
    *rows = (struct report_rows){.columns = columns};
    return report_file(r, name, column, columns, take, rows, p);
}

void report_rows_free(struct report_rows *rows)
{
    for (size_t i = 0; i < rows->count * rows->columns; i++)
        free(rows->cell[i]);
    free(rows->cell);
    *rows = (struct report_rows){0};
}

const char *report_cell(const struct report_rows *rows, size_t row, size_t column)
{
    return rows->cell[row * rows->columns + column];
}

double report_number(const struct report_rows *rows, size_t row, size_t column)
{
    const char *cell = report_cell(rows, row, column);
    char *end;
    double value = strtod(cell, &end);
    return *cell && !*end ? value : NAN;
}
