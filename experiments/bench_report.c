#include "experiments/bench_report.h"

#include <stdio.h>

enum {
    BENCH_DEVICE,
    BENCH_METHOD,
    BENCH_STORAGE,
    BENCH_ACCUMULATOR,
    BENCH_INPUT,
    BENCH_N,
    BENCH_THREADS,
    BENCH_BLOCKS,
    BENCH_TIME,
    BENCH_TIME_LEAST,
    BENCH_RATE,
    BENCH_OF_RAW,
    BENCH_OF_VENDOR,
    BENCH_REPETITIONS,
    BENCH_RUNS,
    BENCH_IN_CACHE,
    BENCH_NOTE,
    BENCH_COLUMNS
};

static const struct column columns[BENCH_COLUMNS] = {
    {"device", "", "cpu, cuda:0, ..."},
    {"method", "", "name of the method; `raw read` only reads the input"},
    {"storage", "", "format of the input"},
    {"accumulator", "", "format that additions are done in"},
    {"input", "", "specification of the generated input"},
    {"n", "", "elements"},
    {"threads", "", "threads to a block (GPU), CPU threads where the method uses them"},
    {"blocks", "", "blocks in the grid"},
    {"time_us", "us", "time of one execution, median over the repetitions"},
    {"time_us_min", "us", "time of one execution, least over the repetitions"},
    {"gb_per_s", "10^9 bytes/s", "bytes of input over the median time"},
    {"of_raw", "", "rate over that of the raw read, with as many CPU threads, in this run"},
    {"of_vendor", "", "rate over that of the vendor's routine in this run"},
    {"repetitions", "", "timed repetitions"},
    {"runs", "", "executions in one repetition, one after the other"},
    {"in_cache", "", "yes where the input fits in the device's last-level cache"},
    {"note", "", "why there is no figure, or what to know of it"},
};

/* The decimals that a table has room for. */
static const char *short_decimal(double number)
{
    return number < 10 ? "%.3f" : number < 1e5 ? "%.1f" : "%.0f";
}

/* Columns that the table leaves to the CSV file and JSON, so that it fits 120 columns. Its column
 * `storage` holds both formats. */
static bool in_table(size_t i)
{
    return i != BENCH_ACCUMULATOR && i != BENCH_TIME_LEAST && i != BENCH_REPETITIONS &&
           i != BENCH_RUNS;
}

static const struct column *column(size_t i)
{
    return &columns[i];
}

struct cell {
    enum { CELL_EMPTY, CELL_TEXT, CELL_WHOLE, CELL_REAL, CELL_FLAG } kind;
    const char *text;
    double number;
    bool flag;
};

static struct cell text(const char *text)
{
    return (struct cell){.kind = *text ? CELL_TEXT : CELL_EMPTY, .text = text};
}

static struct cell whole(size_t n)
{
    return (struct cell){.kind = n ? CELL_WHOLE : CELL_EMPTY, .number = (double)n};
}

/* Nothing where one of them is not known. */
static struct cell ratio(double a, double b)
{
    bool known = a > 0 && b > 0;
    return (struct cell){.kind = known ? CELL_REAL : CELL_EMPTY, .number = known ? a / b : 0};
}

static void fill(struct cell cell[BENCH_COLUMNS], const struct bench_input *in,
                 const struct bench_row *row, const char *device)
{
    const struct timing *t = &row->time;
    enum format s = in->array.format, f = row->accumulator;
    double bytes = (double)array_bytes(s, in->array.n);
    cell[BENCH_DEVICE] = text(device);
    cell[BENCH_METHOD] = text(row->method ? row->method->name : "raw read");
    cell[BENCH_STORAGE] = text(format_facts[s].name);
    cell[BENCH_ACCUMULATOR] = text(f < FORMATS ? format_facts[f].name : "");
    cell[BENCH_INPUT] = text(in->name);
    cell[BENCH_N] = whole(in->array.n);
    cell[BENCH_THREADS] = whole(row->shape.threads);
    cell[BENCH_BLOCKS] = whole(row->shape.blocks);
    cell[BENCH_TIME] = ratio(t->median_ns, 1e3);
    cell[BENCH_TIME_LEAST] = ratio(t->least_ns, 1e3);
    cell[BENCH_RATE] = ratio(bytes, t->median_ns);
    cell[BENCH_OF_RAW] = ratio(row->raw_ns, t->median_ns);
    cell[BENCH_OF_VENDOR] = ratio(row->vendor_ns, t->median_ns);
    cell[BENCH_REPETITIONS] = whole(t->repetitions);
    cell[BENCH_RUNS] = whole(t->runs);
    cell[BENCH_IN_CACHE] = (struct cell){.kind = CELL_FLAG, .flag = in->in_cache};
    cell[BENCH_NOTE] = text(row->note);
}

/* `decimal`: how a real number is printed. */
static const char *shown(char line[64], const struct cell *c, const char *decimal)
{
    switch (c->kind) {
    case CELL_EMPTY:
        return "";
    case CELL_TEXT:
        return c->text;
    case CELL_FLAG:
        return c->flag ? "yes" : "";
    default:
        snprintf(line, 64, c->kind == CELL_WHOLE ? "%.0f" : decimal, c->number);
        return line;
    }
}

static json_t *json_of(const struct cell *c)
{
    switch (c->kind) {
    case CELL_EMPTY:
        return json_null();
    case CELL_TEXT:
        return json_string(c->text);
    case CELL_FLAG:
        return json_boolean(c->flag);
    case CELL_WHOLE:
        return json_integer((json_int_t)c->number);
    default:
        return json_real(c->number);
    }
}

enum status bench_report_open(struct bench_report *r, bool json, const char *csv, struct problem *p)
{
    *r = (struct bench_report){.json = json, .table.align = "llllrrrrrrrll"};
    if (json)
        r->rows = json_array();
    for (size_t i = 0; i < BENCH_COLUMNS && !json; i++)
        if (in_table(i))
            table_cell(&r->table, "%s", i == BENCH_STORAGE ? "formats" : columns[i].name);
    r->to_csv = csv != NULL;
    return csv ? csv_file_open(&r->csv, csv, 0, column, BENCH_COLUMNS, p) : STATUS_OK;
}

enum status bench_report_add(struct bench_report *r, const struct bench_input *in,
                             const struct bench_row *row, struct problem *p)
{
    char device[DEVICE_TEXT], line[64];
    struct cell cell[BENCH_COLUMNS];
    device_name(in->device, device);
    fill(cell, in, row, device);
    json_t *object = r->json ? json_object() : NULL;
    for (size_t i = 0; i < BENCH_COLUMNS; i++) {
        if (object)
            json_object_set_new(object, columns[i].name, json_of(&cell[i]));
        else if (i == BENCH_STORAGE && row->accumulator < FORMATS)
            table_cell(&r->table, "%s/%s", cell[i].text, cell[BENCH_ACCUMULATOR].text);
        else if (in_table(i))
            table_cell(&r->table, "%s", shown(line, &cell[i], short_decimal(cell[i].number)));
        if (r->to_csv) {
            text_add(&r->csv.pending, i ? "," : "");
            text_field(&r->csv.pending, shown(line, &cell[i], "%.17g"));
        }
    }
    if (object)
        json_array_append_new(r->rows, object);
    if (!r->to_csv)
        return STATUS_OK;
    text_add(&r->csv.pending, "\n");
    return csv_file_flush(&r->csv, p);
}

enum status bench_report_close(struct bench_report *r, struct problem *p)
{
    struct text out = {0};
    enum status status = STATUS_OK;
    if (r->json) {
        json_dumpf(r->rows, stdout, JSON_INDENT(2));
        printf("\n");
    } else {
        table_draw(&out, &r->table);
        const char *drawn = text_string(&out);
        if (drawn && !r->table.failed)
            printf("%s", drawn);
        else
            status = problem(p, STATUS_DEVICE, "out of memory for the table");
    }
    if (r->to_csv) {
        enum status closed = csv_file_close(&r->csv, p);
        status = status == STATUS_OK ? closed : status;
    }
    text_free(&out);
    table_free(&r->table);
    json_decref(r->rows);
    return status;
}
