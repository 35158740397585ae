/* Rewriting a CSV file of an older schema version with the columns of this one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reports/csv/file.h"

struct upgrade {
    struct csv_file to;
    size_t columns;
    uint64_t keep;
};

static enum status copy_row(void *context, const struct csv_row *row, struct problem *p)
{
    struct upgrade *u = context;
    if (row->end > u->keep)
        return STATUS_OK;
    for (size_t i = 0; i < u->columns; i++) {
        text_add(&u->to.pending, i ? "," : "");
        text_field(&u->to.pending, row->field[i]);
    }
    text_add(&u->to.pending, "\n");
    return u->to.pending.length < 1 << 20 ? STATUS_OK : csv_file_flush(&u->to, p);
}

static bool has_header(const char *path, column_at *column, size_t columns)
{
    char *line = NULL;
    size_t capacity = 0;
    struct text header = {0};
    columns_header(&header, column, columns);
    const char *due = text_string(&header);
    FILE *file = fopen(path, "re");
    bool same = file && due && getline(&line, &capacity, file) > 0 && strcmp(line, due) == 0;
    if (file)
        fclose(file);
    free(line);
    text_free(&header);
    return same;
}

enum status csv_upgrade(const char *path, uint64_t *keep, column_at *column, size_t columns,
                        struct problem *p)
{
    char *part = NULL;
    uint64_t whole;
    struct upgrade u = {.columns = columns, .keep = *keep};
    if (has_header(path, column, columns))
        return STATUS_OK;
    if (asprintf(&part, "%s.part", path) < 0)
        return problem(p, STATUS_DEVICE, "%s: out of memory", path);
    enum status status = csv_file_open(&u.to, part, 0, column, columns, p);
    if (status == STATUS_OK)
        status = csv_read(path, column, columns, copy_row, &u, &whole, p);
    if (status == STATUS_OK)
        status = csv_file_flush(&u.to, p);
    *keep = u.to.whole;
    enum status closed = csv_file_close(&u.to, p);
    if (status == STATUS_OK)
        status = closed;
    if (status == STATUS_OK && rename(part, path) != 0)
        status = problem(p, STATUS_DATA, "%s: could not be rewritten: %s", path, strerror(errno));
    if (status != STATUS_OK)
        unlink(part);
    free(part);
    return status;
}
