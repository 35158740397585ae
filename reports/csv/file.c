#include "reports/csv/file.h"

#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/text/file.h"

/* Reading a CSV file: libcsv tells fields and rows, line by line, so that the end of each row is
 * known as a place in the file. */

struct reading {
    struct csv_row row;
    const struct column *(*column)(size_t);
    size_t least, columns; /* those behind `least`, and those that came later, may be missing */
    csv_skip skip;         /* or NULL */
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
        return problem(r->p, STATUS_MEMORY, "%s: out of memory", r->row.path);
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

/* A line that is a row: without quotes, so that each comma ends a field. */
static void split(struct reading *r, const char *line, size_t length)
{
    text_append(&r->bytes, line, length);
    char *from = r->bytes.data, *end = from + length;
    for (char *at = from; !r->bytes.failed && at < end; at++) {
        char *comma = memchr(at, ',', (size_t)(end - at));
        if (r->fields < r->columns)
            r->begin[r->fields] = (size_t)(at - from);
        r->fields++;
        at = comma ? comma : end - 1;
        *at = 0;
    }
    end_row('\n', r);
}

/* Is a line within a quoted field a row by itself? */
static bool is_row(const struct reading *r, const char *line)
{
    size_t fields = 1;
    for (; *line && *line != '"'; line++)
        fields += *line == ',';
    return !*line && fields == r->expected;
}

/* A line without its line break is the torn end of the file. Where a quote that nothing closes has
 * taken in whole rows, they are not to be dropped as such an end. */
static enum status read_lines(struct reading *r, struct csv_parser *parser, FILE *file,
                              uint64_t *whole)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    uint64_t at = 0;
    size_t first = 0; /* line of the row */
    bool swallowed = false;
    while (r->status == STATUS_OK && (length = getline(&line, &capacity, file)) > 0 &&
           line[length - 1] == '\n') {
        size_t rows = r->rows;
        bool begins = *whole == at;
        r->row.line++;
        first = begins ? r->row.line : first;
        swallowed = !begins && (swallowed || is_row(r, line));
        at += (uint64_t)length;
        if (r->skip && rows > 0 && begins && !strchr(line, '"') && r->skip(r->context, line)) {
            *whole = at;
            continue;
        }
        r->row.begin = *whole;
        r->row.end = at;
        if (begins && length > 1 && !memchr(line, '"', (size_t)length) &&
            !memchr(line, '\r', (size_t)length))
            split(r, line, (size_t)length);
        else if (csv_parse(parser, line, (size_t)length, end_field, end_row, r) != (size_t)length)
            r->status = problem(r->p, csv_error(parser) == CSV_ENOMEM ? STATUS_MEMORY : STATUS_DATA,
                                "%s: line %zu: %s", r->row.path, r->row.line,
                                csv_strerror(csv_error(parser)));
        if (r->rows > rows)
            *whole = at;
    }
    if (r->status == STATUS_OK && ferror(file))
        r->status = problem(r->p, STATUS_DATA, "%s: %s", r->row.path, strerror(errno));
    else if (r->status == STATUS_OK && at > *whole && swallowed)
        r->status =
            problem(r->p, STATUS_DATA, "%s: line %zu: found a quote that nothing closes: edited",
                    r->row.path, first);
    free(line);
    return r->status;
}

static enum status read_file(struct reading *r, uint64_t *whole)
{
    struct csv_parser parser;
    *whole = 0;
    FILE *file;
    enum status status = file_open(&file, r->row.path, r->p);
    if (status != STATUS_OK)
        return status;
    r->begin = calloc(r->columns, sizeof *r->begin);
    r->place = calloc(r->columns, sizeof *r->place);
    r->field = calloc(r->columns, sizeof *r->field);
    r->row.field = r->field;
    if (!r->begin || !r->place || !r->field || csv_init(&parser, CSV_STRICT) != 0) {
        r->status = problem(r->p, STATUS_MEMORY, "%s: out of memory", r->row.path);
    } else {
        csv_set_space_func(&parser, no_space);
        read_lines(r, &parser, file, whole);
        csv_free(&parser);
    }
    text_free(&r->bytes);
    free(r->begin);
    free(r->place);
    free(r->field);
    fclose(file);
    return r->status;
}

static enum status read_rows(const char *path, const struct column *(*column)(size_t), size_t least,
                             size_t columns, csv_skip skip, csv_take take, void *context,
                             uint64_t *whole, struct problem *p)
{
    struct reading r = {.row.path = path,
                        .column = column,
                        .least = least,
                        .columns = columns,
                        .skip = skip,
                        .take = take,
                        .context = context,
                        .p = p};
    return read_file(&r, whole);
}

enum status csv_read_since(const char *path, const struct column *(*column)(size_t), size_t least,
                           size_t columns, csv_take take, void *context, uint64_t *whole,
                           struct problem *p)
{
    return read_rows(path, column, least, columns, NULL, take, context, whole, p);
}

enum status csv_read_but(const char *path, const struct column *(*column)(size_t), size_t columns,
                         csv_skip skip, csv_take take, void *context, uint64_t *whole,
                         struct problem *p)
{
    return read_rows(path, column, columns, columns, skip, take, context, whole, p);
}

enum status csv_read(const char *path, const struct column *(*column)(size_t), size_t columns,
                     csv_take take, void *context, uint64_t *whole, struct problem *p)
{
    return csv_read_but(path, column, columns, NULL, take, context, whole, p);
}

enum status csv_read_in(const char *folder, const char *name, column_at *column, size_t columns,
                        csv_take take, void *context, struct problem *p)
{
    char *path;
    uint64_t whole;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return problem(p, STATUS_MEMORY, "%s: out of memory", folder);
    enum status status = csv_read(path, column, columns, take, context, &whole, p);
    free(path);
    return status;
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

/* --- Rewriting a CSV file of an older schema version with the columns of this one --- */

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

/* Rewrites a file of which `keep` bytes are whole rows, where it is of an older schema version.
 * What fails leaves it as it was. csv_file_open does so. */
static enum status csv_upgrade(const char *path, uint64_t *keep, column_at *column, size_t columns,
                               struct problem *p)
{
    char *part = NULL;
    uint64_t whole;
    struct upgrade u = {.columns = columns, .keep = *keep};
    if (has_header(path, column, columns))
        return STATUS_OK;
    if (asprintf(&part, "%s.part", path) < 0)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
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

static enum status unwritable(const struct csv_file *f, int error, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: could not be written: %s%s", f->path, strerror(error),
                   !f->whole ? ""
                   : f->once ? "; the rows before are kept"
                             : "; the rows before are kept: run again to resume");
}

enum status csv_file_open(struct csv_file *f, const char *path, uint64_t keep,
                          const struct column *(*column)(size_t), size_t columns, struct problem *p)
{
    *f = (struct csv_file){.path = strdup(path), .whole = keep};
    if (!f->path)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    f->fd = -1;
    enum status status = keep ? csv_upgrade(path, &keep, column, columns, p) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    f->whole = keep;
    /* A FIFO that nobody reads is refused rather than waited for. */
    f->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | (keep ? 0 : O_TRUNC), 0666);
    if (f->fd >= 0)
        fcntl(f->fd, F_SETFL, 0);
    struct stat facts;
    bool as_long = f->fd >= 0 && fstat(f->fd, &facts) == 0 && (uint64_t)facts.st_size == keep;
    /* A device file cannot be cut off, and need not be. */
    if (f->fd >= 0 && !as_long && ftruncate(f->fd, (off_t)keep) != 0 && errno != EINVAL) {
        close(f->fd);
        f->fd = -1;
    }
    if (f->fd < 0 || lseek(f->fd, (off_t)keep, SEEK_SET) < 0)
        return unwritable(f, errno, p);
    if (keep == 0)
        columns_header(&f->pending, column, columns);
    return csv_file_flush(f, p);
}

/* Where the last whole row ends among the first `count` bytes of rows. */
static size_t last_row_end(const char *rows, size_t count)
{
    bool quoted = false;
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        quoted ^= rows[i] == '"';
        if (rows[i] == '\n' && !quoted)
            end = i + 1;
    }
    return end;
}

/* Keeps the rows that fitted and gives the file up. */
static enum status give_up(struct csv_file *f, size_t written, int error, struct problem *p)
{
    f->whole += last_row_end(f->pending.data, written);
    while (ftruncate(f->fd, (off_t)f->whole) != 0 && errno == EINTR)
        ;
    close(f->fd);
    f->fd = -1;
    return unwritable(f, error, p);
}

enum status csv_file_flush(struct csv_file *f, struct problem *p)
{
    if (f->fd < 0)
        return unwritable(f, EBADF, p);
    if (f->pending.failed)
        return problem(p, STATUS_MEMORY, "%s: out of memory for rows", f->path);
    for (size_t at = 0; at < f->pending.length;) {
        ssize_t written = write(f->fd, f->pending.data + at, f->pending.length - at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return give_up(f, at, written < 0 ? errno : ENOSPC, p);
        at += (size_t)written;
    }
    f->whole += f->pending.length;
    text_clear(&f->pending);
    return STATUS_OK;
}

enum status csv_file_close(struct csv_file *f, struct problem *p)
{
    enum status status = STATUS_OK;
    if (f->path && f->fd >= 0) {
        status = csv_file_flush(f, p);
        if (f->fd >= 0 && !f->passing && fdatasync(f->fd) != 0 && errno != EINVAL &&
            status == STATUS_OK)
            status = unwritable(f, errno, p);
        if (f->fd >= 0 && close(f->fd) != 0 && status == STATUS_OK)
            status = unwritable(f, errno, p); /* a file server may say so late */
    }
    text_free(&f->pending);
    free(f->path);
    *f = (struct csv_file){.fd = -1};
    return status;
}

enum status csv_file_replace(const char *folder, const char *name, const struct text *rows,
                             const struct column *(*column)(size_t), size_t columns,
                             struct problem *p)
{
    char *path = NULL, *part = NULL;
    struct csv_file file = {.fd = -1};
    if (rows->failed || asprintf(&path, "%s/%s.csv", folder, name) < 0 ||
        asprintf(&part, "%s.part", path) < 0) {
        free(path);
        return problem(p, STATUS_MEMORY, "%s: out of memory", name);
    }
    enum status status = csv_file_open(&file, part, 0, column, columns, p);
    if (status == STATUS_OK) {
        text_join(&file.pending, rows);
        status = csv_file_flush(&file, p);
    }
    enum status closed = csv_file_close(&file, p);
    if (status == STATUS_OK)
        status = closed;
    if (status == STATUS_OK && rename(part, path) != 0)
        status = problem(p, STATUS_DATA, "%s: could not be written: %s", path, strerror(errno));
    if (status != STATUS_OK)
        remove(part);
    free(path);
    free(part);
    return status;
}
