/* Reading a CSV file: libcsv tells fields and rows, line by line, so that the end of each row is
 * known as a place in the file. */
#include <csv.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/csv/file.h"
#include "reports/text/file.h"

struct reading {
    struct csv_row row;
    const struct column *(*column)(size_t);
    size_t least, columns; /* those behind `least`, and those that came later, may be missing */
    csv_take take;
    void *context;
    struct text bytes; /* the row's fields, each with a terminating zero */
    size_t *begin;     /* of each field in the file */
    size_t *place;     /* of each column: its field's in the file; SIZE_MAX: older files lack it */
    const char **field;
    size_t expected;     /* fields in a row, by the header */
    size_t fields, rows; /* rows: whole ones, the header included */
    enum status status;
    struct problem *p;
};

static void end_field(void *bytes, size_t count, void *context)
{
    struct reading *r = context;
    if (r->fields < r->columns)
        r->begin[r->fields] = r->bytes.length;
    r->fields++;
    text_append(&r->bytes, bytes, count);
    text_append(&r->bytes, "", 1);
}

static enum status malformed(struct reading *r)
{
    if (r->bytes.failed)
        return problem(r->p, STATUS_DEVICE, "%s: out of memory", r->row.path);
    return problem(r->p, STATUS_DATA, "%s: line %zu: found %zu fields, expected %zu", r->row.path,
                   r->row.line, r->fields, r->expected);
}

static const char *field_at(const struct reading *r, size_t place)
{
    return place < r->fields && place < r->columns ? r->bytes.data + r->begin[place] : "";
}

/* Columns that came with a later version may be missing, each. */
static enum status check_header(struct reading *r)
{
    size_t at = 0;
    for (size_t i = 0; i < r->columns; i++) {
        bool there = strcmp(field_at(r, at), r->column(i)->name) == 0;
        if (!there && column_since(r->column(i)) == 1 && i < r->least)
            return problem(r->p, STATUS_DATA,
                           "%s: column %zu: found '%s', expected '%s' (schema version %d): written "
                           "by another version, or edited",
                           r->row.path, at + 1, field_at(r, at), r->column(i)->name,
                           SCHEMA_VERSION);
        r->place[i] = there ? at++ : SIZE_MAX;
    }
    r->expected = r->row.fields = at;
    return r->fields == at ? STATUS_OK : malformed(r);
}

static void end_row(int terminator, void *context)
{
    struct reading *r = context;
    (void)terminator;
    if (r->status == STATUS_OK && !r->bytes.failed) {
        if (r->rows == 0)
            r->status = check_header(r);
        else if (r->fields != r->expected)
            r->status = malformed(r);
        for (size_t i = 0; i < r->columns && r->status == STATUS_OK; i++)
            r->field[i] = field_at(r, r->place[i]);
        if (r->rows > 0 && r->status == STATUS_OK)
            r->status = r->take(r->context, &r->row, r->p);
    }
    if (r->bytes.failed)
        r->status = malformed(r);
    r->rows++;
    r->fields = 0;
    text_clear(&r->bytes);
}

static int no_space(unsigned char c)
{
    (void)c;
    return 0;
}

/* A line without its line break is the torn end of the file. */
static enum status read_lines(struct reading *r, struct csv_parser *parser, FILE *file,
                              uint64_t *whole)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    uint64_t at = 0;
    while (r->status == STATUS_OK && (length = getline(&line, &capacity, file)) > 0 &&
           line[length - 1] == '\n') {
        size_t rows = r->rows;
        r->row.line++;
        at += (uint64_t)length;
        r->row.begin = *whole;
        r->row.end = at;
        if (csv_parse(parser, line, (size_t)length, end_field, end_row, r) != (size_t)length)
            r->status = problem(r->p, csv_error(parser) == CSV_ENOMEM ? STATUS_DEVICE : STATUS_DATA,
                                "%s: line %zu: %s", r->row.path, r->row.line,
                                csv_strerror(csv_error(parser)));
        if (r->rows > rows)
            *whole = at;
    }
    if (r->status == STATUS_OK && ferror(file))
        r->status = problem(r->p, STATUS_DATA, "%s: %s", r->row.path, strerror(errno));
    free(line);
    return r->status;
}

enum status csv_read(const char *path, const struct column *(*column)(size_t), size_t columns,
                     csv_take take, void *context, uint64_t *whole, struct problem *p)
{
    return csv_read_since(path, column, columns, columns, take, context, whole, p);
}

enum status csv_read_since(const char *path, const struct column *(*column)(size_t), size_t least,
                           size_t columns, csv_take take, void *context, uint64_t *whole,
                           struct problem *p)
{
    struct reading r = {.row.path = path,
                        .column = column,
                        .least = least,
                        .columns = columns,
                        .take = take,
                        .context = context,
                        .p = p};
    struct csv_parser parser;
    *whole = 0;
    FILE *file;
    enum status status = file_open(&file, path, p);
    if (status != STATUS_OK)
        return status;
    r.begin = calloc(columns, sizeof *r.begin);
    r.place = calloc(columns, sizeof *r.place);
    r.field = calloc(columns, sizeof *r.field);
    r.row.field = r.field;
    if (!r.begin || !r.place || !r.field || csv_init(&parser, CSV_STRICT) != 0) {
        r.status = problem(p, STATUS_DEVICE, "%s: out of memory", path);
    } else {
        csv_set_space_func(&parser, no_space);
        read_lines(&r, &parser, file, whole);
        csv_free(&parser);
    }
    text_free(&r.bytes);
    free(r.begin);
    free(r.place);
    free(r.field);
    fclose(file);
    return r.status;
}

enum status csv_figure(const struct csv_row *row, size_t field, const char *column,
                       struct figure *value, struct problem *p)
{
    const char *text = row->field[field];
    char *end;
    *value = (struct figure){.known = *text != 0, .value = *text ? strtod(text, &end) : 0};
    if (value->known && (*end || strchr(" \t+", *text)))
        return problem(p, STATUS_DATA, "%s: line %zu: %s: found '%s', expected a number", row->path,
                       row->line, column, text);
    return STATUS_OK;
}

enum status csv_whole(const struct csv_row *row, size_t field, const char *column, uint64_t *value,
                      struct problem *p)
{
    const char *text = row->field[field];
    char *end;
    errno = 0;
    *value = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return problem(p, STATUS_DATA, "%s: line %zu: %s: found '%s', expected a whole number",
                       row->path, row->line, column, text);
    return STATUS_OK;
}
