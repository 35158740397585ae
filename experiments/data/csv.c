/* Reads a column of CSV or TSV through libcsv: FILE.csv:COLUMN, by name or by number from 1. */
#include <csv.h>
#include <ctype.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/data/file.h"
#include "experiments/system/memory.h"
#include "reports/text/text.h"

enum {
    CHUNK = 1 << 20,      /* bytes read at once */
    FIELD_MOST = 1 << 24, /* of one field: a quote that nobody closes ends here */
    BLOCK = 1 << 18       /* numbers at first, and of a block that is streamed */
};

struct table {
    const struct data_file *file;
    const struct data_options *options;
    const char *wanted; /* the column, or NULL: the only one */
    size_t column, columns;
    struct text first; /* the first record's fields, each ended by a zero */
    bool header;       /* one of them is no number */
    size_t field, records, line;
    bool row_ended; /* in the line that was parsed last */
    struct array a; /* `room` elements, of which a.n are there */
    size_t room, total, done;
    mpfr_t x;
    enum status status;
    struct problem *p;
};

static enum status hand_over(struct table *t)
{
    const struct data_stream *to = t->options->stream;
    enum status status =
        t->a.n > 0 ? to->take(to->context, &t->a, t->done, t->file->size, t->p) : STATUS_OK;
    t->a.n = 0;
    return status;
}

static enum status make_room(struct table *t)
{
    struct array grown;
    if (t->a.n < t->room)
        return STATUS_OK;
    if (t->options->stream && t->room > 0)
        return hand_over(t);
    size_t n = t->a.n;
    t->room = t->room > 0 ? 2 * t->room : BLOCK;
    enum status status = memory_array(&grown, t->a.format, t->room, t->file->path, t->p);
    if (status != STATUS_OK)
        return status;
    if (n > 0)
        memcpy(grown.data, t->a.data, array_bytes(t->a.format, n));
    free(t->a.data);
    t->a = grown;
    t->a.n = n;
    return STATUS_OK;
}

static enum status add_number(struct table *t, const char *text, size_t length)
{
    double value;
    if (strlen(text) != length || !data_number(&value, t->x, text, t->a.format))
        return problem(t->p, STATUS_DATA,
                       "%s: line %zu: column %zu: found '%.40s', expected a number (decimal, 0x "
                       "hexadecimal, inf or nan)",
                       t->file->path, t->line, t->column + 1, text);
    enum status status = make_room(t);
    if (status != STATUS_OK)
        return status;
    if (t->options->saturate)
        data_saturate(t->a.format, &value, 1);
    array_set_bits(&t->a, t->a.n++, format_encode(t->a.format, value));
    t->total++;
    return STATUS_OK;
}

static void end_field(void *bytes, size_t count, void *context)
{
    struct table *t = context;
    double value;
    const char *text = bytes ? bytes : "";
    if (t->status == STATUS_OK && t->records == 0) {
        t->header |= strlen(text) != count || !data_number(&value, t->x, text, FP64);
        text_add(&t->first, text); /* up to a zero in it */
        text_append(&t->first, "", 1);
        if (t->first.failed)
            t->status = problem(t->p, STATUS_MEMORY, "%s: out of memory", t->file->path);
    } else if (t->status == STATUS_OK && t->field == t->column) {
        t->status = add_number(t, text, count);
    }
    t->field++;
}

static const char *next_field(const char *at)
{
    return at + strlen(at) + 1;
}

static enum status no_column(const struct table *t)
{
    struct text names = {0};
    const char *at = t->first.data;
    for (size_t i = 0; i < t->columns && names.length < 200; i++, at = next_field(at))
        text_format(&names, "%s%.60s", i ? ", " : "", at);
    text_format(&names, "%s", names.length >= 200 ? ", ..." : "");
    const char *all = text_string(&names), *path = t->file->path;
    enum status status =
        t->header ? problem(t->p, STATUS_USAGE,
                            "%s: found %s%.100s%s, expected %s:COLUMN with one "
                            "of %s, or a number from 1 to %zu",
                            path, t->wanted ? "no column '" : "several columns",
                            t->wanted ? t->wanted : "", t->wanted ? "'" : "", path, all ? all : "",
                            t->columns)
                  : problem(t->p, STATUS_USAGE,
                            "%s: found %zu columns without a header, expected %s:COLUMN with a "
                            "number from 1 to %zu",
                            path, t->columns, path, t->columns);
    text_free(&names);
    return status;
}

/* A name counts before a number. */
static enum status choose_column(struct table *t)
{
    const char *at = t->first.data;
    size_t found = 0, number = 0;
    t->column = 0;
    for (size_t i = 0; t->wanted && t->header && i < t->columns; i++, at = next_field(at))
        if (strcmp(at, t->wanted) == 0 && found++ == 0)
            t->column = i;
    if (found > 1)
        return problem(t->p, STATUS_USAGE,
                       "%s: found %zu columns '%.100s', expected a number from 1 to %zu",
                       t->file->path, found, t->wanted, t->columns);
    if (found == 1 || (!t->wanted && t->columns == 1))
        return STATUS_OK;
    for (const char *c = t->wanted; c && isdigit((unsigned char)*c); c++) {
        number = number < t->columns ? 10 * number + (size_t)(*c - '0') : SIZE_MAX / 2;
        if (!c[1] && number >= 1 && number <= t->columns) {
            t->column = number - 1;
            return STATUS_OK;
        }
    }
    return no_column(t);
}

/* The first record names the columns, or is of numbers and the first of them. */
static enum status end_first(struct table *t)
{
    t->columns = t->field;
    enum status status = choose_column(t);
    const char *at = t->first.data;
    for (size_t i = 0; i < t->column; i++)
        at = next_field(at);
    return status == STATUS_OK && !t->header ? add_number(t, at, strlen(at)) : status;
}

static void end_row(int terminator, void *context)
{
    struct table *t = context;
    (void)terminator;
    if (t->status == STATUS_OK && t->records == 0)
        t->status = end_first(t);
    else if (t->status == STATUS_OK && t->field != t->columns)
        t->status = problem(t->p, STATUS_DATA, "%s: line %zu: found %zu fields, expected %zu",
                            t->file->path, t->line, t->field, t->columns);
    t->records++;
    t->field = 0;
    t->row_ended = true;
}

/* Of nothing but blanks, or a comment; only where no field is open. */
static bool to_skip(const char *at, size_t length)
{
    size_t blanks = 0;
    while (blanks < length && memchr(" \t\r\v\f\n", at[blanks], 6))
        blanks++;
    return blanks == length || at[blanks] == '#';
}

/* Lines of a chunk. *fresh: no record is open where it begins; *within: nor does a line begin. */
static enum status parse_chunk(struct table *t, struct csv_parser *parser, const char *at,
                               const char *end, bool *fresh, bool *skipping, bool *begun)
{
    while (at < end && t->status == STATUS_OK) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop + 1 : end) - at);
        if (!*begun) {
            t->line++;
            *skipping = *fresh && stop && to_skip(at, length);
            *skipping |= *fresh && *at == '#';
        }
        *begun = !stop;
        t->row_ended = false;
        size_t parsed = *skipping ? length : csv_parse(parser, at, length, end_field, end_row, t);
        if (t->status != STATUS_OK) /* a CR ends a row too: what came first counts */
            return t->status;
        if (parsed != length)
            return problem(t->p, csv_error(parser) == CSV_ENOMEM ? STATUS_MEMORY : STATUS_DATA,
                           "%s: line %zu: malformed: %s", t->file->path, t->line,
                           csv_strerror(csv_error(parser)));
        if (csv_get_buffer_size(parser) > FIELD_MOST)
            return problem(t->p, STATUS_DATA,
                           "%s: line %zu: found a field of more than %d bytes, expected a number",
                           t->file->path, t->line, FIELD_MOST);
        *fresh = t->row_ended || *skipping;
        at += length;
    }
    return t->status;
}

static enum status parse_file(struct table *t, struct csv_parser *parser, char *chunk)
{
    bool fresh = true, skipping = false, begun = false;
    enum status status = STATUS_OK;
    size_t size = t->file->size, count;
    for (size_t at = 0; status == STATUS_OK && at < size; at += count) {
        count = size - at < CHUNK ? size - at : CHUNK;
        status = data_file_read(t->file, at, count, chunk, t->p);
        size_t mark = at == 0 && count >= 3 && memcmp(chunk, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        t->done = at + count;
        if (status == STATUS_OK)
            status = parse_chunk(t, parser, chunk + mark, chunk + count, &fresh, &skipping, &begun);
    }
    if (status == STATUS_OK && csv_fini(parser, end_field, end_row, t) != 0 &&
        t->status == STATUS_OK)
        status = problem(t->p, STATUS_DATA, "%s: line %zu: found a quoted field that does not end",
                         t->file->path, t->line);
    if (status == STATUS_OK)
        status = t->status;
    if (status == STATUS_OK && t->total == 0)
        status = problem(t->p, STATUS_DATA, "%s: found no number in %zu lines, expected some",
                         t->file->path, t->line);
    return status;
}

static enum status parse_all(struct table *t)
{
    struct csv_parser parser;
    char *chunk = malloc(CHUNK);
    enum status status = STATUS_MEMORY;
    if (!chunk || csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0) {
        free(chunk);
        return problem(t->p, status, "%s: out of memory", t->file->path);
    }
    size_t length = strlen(t->file->name);
    if (length > 4 && strcasecmp(t->file->name + length - 4, ".tsv") == 0)
        csv_set_delim(&parser, CSV_TAB);
    csv_set_blk_size(&parser, 1 << 16);
    mpfr_init2(t->x, 53);
    status = parse_file(t, &parser, chunk);
    mpfr_clear(t->x);
    csv_free(&parser);
    free(chunk);
    return status;
}

static enum status read_csv(struct data_set *set, struct data_file *file, const char *member,
                            const struct data_options *options, struct problem *p)
{
    enum format f = options->storage == FORMATS ? FP64 : options->storage;
    struct table t = {.file = file, .options = options, .wanted = member, .a.format = f, .p = p};
    if (data_stream_idle(options->stream))
        return data_stream_end(options->stream, file, member, &t.a, f, options->saturate, p);
    enum status status = parse_all(&t);
    text_free(&t.first);
    if (status == STATUS_OK && options->stream)
        status = hand_over(&t);
    struct array whole = {f, t.total, NULL};
    if (status == STATUS_OK && !options->stream)
        return data_append(set, file, member, &t.a, f, options->saturate, p);
    if (status == STATUS_OK)
        status = data_stream_end(options->stream, file, member, &whole, f, options->saturate, p);
    free(t.a.data);
    return status;
}

const struct data_reader csv_reader = {.what = "a CSV file",
                                       .members = "a column",
                                       .ending = {".csv", ".tsv"},
                                       .plain = true,
                                       .read = read_csv};
