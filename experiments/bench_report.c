#include "experiments/bench_report.h"

#include <stdio.h>

enum {
    COLUMN_DEVICE,
    COLUMN_METHOD,
    COLUMN_STORAGE,
    COLUMN_ACCUMULATOR,
    COLUMN_INPUT,
    COLUMN_N,
    COLUMN_THREADS,
    COLUMN_BLOCKS,
    COLUMN_TIME,
    COLUMN_TIME_LEAST,
    COLUMN_RATE,
    COLUMN_OF_RAW,
    COLUMN_OF_VENDOR,
    COLUMN_REPETITIONS,
    COLUMN_RUNS,
    COLUMN_IN_CACHE,
    COLUMN_NOTE,
    COLUMN_SCAN,
    COLUMN_OUTPUT,
    COLUMN_SEGMENT,
    COLUMN_ROUND,
    COLUMN_COPY,
    COLUMN_OF_COPY,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    {"device", "", "cpu, cuda:0, ..."},
    {"method", "", "name of the method; `raw read` only reads the input, `copy` copies it"},
    {"storage", "", "format of the input"},
    {"accumulator", "", "format that additions are done in"},
    {"input", "", "specification of the generated input"},
    {"n", "", "elements"},
    {"threads", "", "threads to a block (GPU), CPU threads where the method uses them"},
    {"blocks", "", "blocks in the grid"},
    {"time_us", "us", "time of one execution, median over the repetitions"},
    {"time_us_min", "us", "time of one execution, least over the repetitions"},
    {"gb_per_s", "10^9 bytes/s",
     "bytes over the median time: of the input and, of scans and copies, of the output too (and of "
     "the head flags, a byte an element)"},
    {"of_raw", "",
     "sums: rate over that of the raw read, with as many CPU threads, in the same round"},
    {"of_vendor", "",
     "rate over that of the vendor's routine for the same formats and outputs, in the same round"},
    {"repetitions", "", "timed repetitions"},
    {"runs", "", "executions in one repetition, one after the other"},
    {"in_cache", "", "yes where the input fits in the device's last-level cache"},
    {"note", "", "why there is no figure, or what to know of it"},
    {"scan", "", "scans: inclusive or exclusive"},
    {"output", "", "scans: format that outputs are rounded to"},
    {"segment", "elements", "scans: length of the segments; empty: there is one"},
    {"round", "", "rows of one round were timed in turn, repetition by repetition"},
    {"copy_ns", "ns",
     "scans: median time of a copy of the input, with as many CPU threads, in the same round"},
    {"of_copy", "", "scans: rate over that of the copy, which reads the input and writes as much"},
};

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

static void fill(struct cell cell[COLUMNS], const struct bench_input *in,
                 const struct bench_row *row, const char *device)
{
    const struct timing *t = &row->time;
    enum format s = in->array.format, f = row->accumulator;
    const char *scan = bench_scan(row);
    cell[COLUMN_DEVICE] = text(device);
    cell[COLUMN_METHOD] = text(bench_name(row));
    cell[COLUMN_STORAGE] = text(format_facts[s].name);
    cell[COLUMN_ACCUMULATOR] = text(f < FORMATS ? format_facts[f].name : "");
    cell[COLUMN_INPUT] = text(in->name);
    cell[COLUMN_N] = whole(in->array.n);
    cell[COLUMN_THREADS] = whole(row->shape.threads);
    cell[COLUMN_BLOCKS] = whole(row->shape.blocks);
    cell[COLUMN_TIME] = ratio(t->median_ns, 1e3);
    cell[COLUMN_TIME_LEAST] = ratio(t->least_ns, 1e3);
    cell[COLUMN_RATE] = ratio(bench_bytes(in, row), t->median_ns);
    cell[COLUMN_OF_RAW] = ratio(row->raw_ns, t->median_ns);
    cell[COLUMN_OF_VENDOR] = ratio(row->vendor_ns, t->median_ns);
    cell[COLUMN_REPETITIONS] = whole(t->repetitions);
    cell[COLUMN_RUNS] = whole(t->runs);
    cell[COLUMN_IN_CACHE] = (struct cell){.kind = CELL_FLAG, .flag = in->in_cache};
    cell[COLUMN_NOTE] = text(row->note);
    cell[COLUMN_SCAN] = text(scan);
    cell[COLUMN_OUTPUT] = text(*scan ? format_facts[row->output].name : "");
    cell[COLUMN_SEGMENT] = whole(row->segment);
    cell[COLUMN_ROUND] = whole(row->round);
    cell[COLUMN_COPY] = ratio(row->copy_ns, 1);
    cell[COLUMN_OF_COPY] = ratio(bench_of_copy(in, row), 1);
}

static const char *shown(char line[64], const struct cell *c)
{
    switch (c->kind) {
    case CELL_EMPTY:
        return "";
    case CELL_TEXT:
        return c->text;
    case CELL_FLAG:
        return c->flag ? "yes" : "";
    default:
        snprintf(line, 64, c->kind == CELL_WHOLE ? "%.0f" : "%.17g", c->number);
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
    *r = (struct bench_report){.json = json, .to_csv = csv != NULL};
    if (json)
        r->rows = json_array();
    return csv ? csv_file_open(&r->csv, csv, 0, column, COLUMNS, p) : STATUS_OK;
}

enum status bench_report_add(struct bench_report *r, const struct bench_input *in,
                             const struct bench_row *row, struct problem *p)
{
    char device[DEVICE_TEXT], line[64];
    struct cell cell[COLUMNS];
    device_name(in->device, device);
    fill(cell, in, row, device);
    json_t *object = r->json ? json_object() : NULL;
    for (size_t i = 0; i < COLUMNS; i++) {
        if (object)
            json_object_set_new(object, columns[i].name, json_of(&cell[i]));
        if (r->to_csv) {
            text_add(&r->csv.pending, i ? "," : "");
            text_field(&r->csv.pending, shown(line, &cell[i]));
        }
    }
    if (object)
        json_array_append_new(r->rows, object);
    else
        bench_table_add(&r->table, in, row);
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
        bench_table_draw(&out, &r->table);
        const char *drawn = text_string(&out);
        if (drawn)
            printf("%s", drawn);
        else
            status = problem(p, STATUS_DEVICE, "out of memory for the table");
    }
    if (r->to_csv) {
        enum status closed = csv_file_close(&r->csv, p);
        status = status == STATUS_OK ? closed : status;
    }
    text_free(&out);
    bench_table_free(&r->table);
    json_decref(r->rows);
    return status;
}
