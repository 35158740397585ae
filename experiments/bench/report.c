#include "experiments/bench/report.h"

#include <stdio.h>

#include "experiments/operations/operation.h"

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

static struct cell known(struct figure f)
{
    return (struct cell){.kind = f.known ? CELL_WHOLE : CELL_EMPTY, .number = f.value};
}

/* Nothing where one of them is not known. */
static struct cell ratio(double a, double b)
{
    bool known = a > 0 && b > 0;
    return (struct cell){.kind = known ? CELL_REAL : CELL_EMPTY, .number = known ? a / b : 0};
}

/* The columns of its setting, as in results.csv. A yardstick has none: it has those of the keys. */
static void fill_setting(struct cell cell[BENCH_COLUMNS], const struct bench_input *in,
                         const struct bench_row *row, struct setting_columns *own)
{
    static const struct operation nothing = {0};
    setting_columns(own, row->method ? row->method->operation : &nothing, &row->setting);
    cell[TIMES_SCAN] = text(own->column[CASE_SCAN]);
    cell[TIMES_OUTPUT] = text(own->column[CASE_OUTPUT]);
    cell[TIMES_SEGMENT] = whole(row->setting.segment);
    cell[BENCH_KEYS] = text(in->keys ? in->keys->name : own->column[CASE_KEYS]);
    cell[BENCH_BINS] = whole(in->keys ? in->bins : *own->column[CASE_BINS] ? row->setting.bins : 0);
}

/* Text that cells of a row point to. */
struct own {
    char device[DEVICE_TEXT], added_in[ADDED_IN_TEXT];
    struct setting_columns setting;
};

static void fill(struct cell cell[BENCH_COLUMNS], const struct bench_input *in,
                 const struct bench_row *row, struct own *own, const char *case_id)
{
    const struct timing *t = &row->time;
    enum format s = in->array.format, f = row->accumulator;
    device_name(in->device, own->device);
    fill_setting(cell, in, row, &own->setting);
    cell[TIMES_DEVICE] = text(own->device);
    cell[TIMES_METHOD] = text(bench_name(row));
    cell[TIMES_STORAGE] = text(format_facts[s].name);
    cell[TIMES_ACCUMULATOR] = text(f < FORMATS ? format_facts[f].name : "");
    cell[TIMES_INPUT] = text(in->name);
    cell[TIMES_N] = whole(in->array.n);
    cell[TIMES_THREADS] = whole(row->shape.threads);
    cell[TIMES_BLOCKS] = whole(row->shape.blocks);
    cell[TIMES_TIME] = ratio(t->median_ns, 1e3);
    cell[TIMES_TIME_LEAST] = ratio(t->least_ns, 1e3);
    cell[TIMES_RATE] = ratio(bench_bytes(in, row), t->median_ns);
    cell[TIMES_OF_RAW] = ratio(row->raw_ns, t->median_ns);
    cell[TIMES_OF_VENDOR] = ratio(row->vendor_ns, t->median_ns);
    cell[TIMES_REPETITIONS] = whole(t->repetitions);
    cell[TIMES_RUNS] = whole(t->runs);
    cell[TIMES_IN_CACHE] = (struct cell){.kind = CELL_FLAG, .flag = in->in_cache};
    cell[TIMES_NOTE] = text(row->note);
    cell[TIMES_ROUND] = whole(row->round);
    cell[TIMES_COPY] = ratio(row->copy_ns, 1);
    cell[TIMES_OF_COPY] = ratio(bench_of_copy(in, row), 1);
    cell[TIMES_MEMORY] = known(row->memory);
    cell[TIMES_CASE_ID] = text(case_id ? case_id : "");
    *own->added_in = 0;
    if (row->method)
        method_added_in(own->added_in, row->method, f);
    cell[TIMES_ADDED_IN] = text(own->added_in);
    cell[TIMES_RESULT_FORMAT] = text(row->method ? format_facts[row->setting.output].name : "");
    cell[BENCH_TIME_LOW] = ratio(t->low_ns, 1e3);
    cell[BENCH_TIME_HIGH] = ratio(t->high_ns, 1e3);
    cell[BENCH_ELEMENTS] = ratio(row->method ? (double)in->array.n : 0, t->median_ns);
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
    case CELL_WHOLE:
    case CELL_REAL:
        snprintf(line, 64, c->kind == CELL_WHOLE ? "%.0f" : "%.17g", c->number);
        return line;
    }
    return "";
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
    case CELL_REAL:
        return json_real(c->number);
    }
    return NULL;
}

enum status bench_report_open(struct bench_report *r, bool json, const char *csv, struct problem *p)
{
    *r = (struct bench_report){.json = json, .to_csv = csv != NULL};
    if (json)
        r->rows = json_array();
    enum status status =
        csv ? csv_file_open(&r->csv, csv, 0, bench_column, BENCH_COLUMNS, p) : STATUS_OK;
    r->csv.once = true;
    return status;
}

void bench_report_row(struct text *to, const struct bench_input *in, const struct bench_row *row,
                      const char *case_id)
{
    char line[64];
    struct own own;
    struct cell cell[BENCH_COLUMNS];
    fill(cell, in, row, &own, case_id);
    for (size_t i = 0; i < (case_id ? TIMES_COLUMNS : BENCH_COLUMNS); i++) {
        text_add(to, i ? "," : "");
        text_field(to, shown(line, &cell[case_id ? i : bench_place(i)]));
    }
    text_add(to, "\n");
}

static json_t *row_json(const struct bench_input *in, const struct bench_row *row)
{
    struct own own;
    struct cell cell[BENCH_COLUMNS];
    json_t *object = json_object();
    fill(cell, in, row, &own, "");
    for (size_t i = 0; i < BENCH_COLUMNS; i++)
        if (i != TIMES_CASE_ID)
            json_object_set_new(object, times_column(i)->name, json_of(&cell[i]));
    json_object_set_new(object, "promise_broken",
                        row->differing > 0 ? json_string(promise_name[PROMISE_RUN_TO_RUN])
                                           : json_null());
    json_object_set_new(object, "results_compared", json_integer((json_int_t)row->looks));
    json_object_set_new(object, "results_differing", json_integer((json_int_t)row->differing));
    return object;
}

enum status bench_report_add(struct bench_report *r, const struct bench_input *in,
                             const struct bench_row *row, struct problem *p)
{
    if (r->json)
        json_array_append_new(r->rows, row_json(in, row));
    else
        bench_table_add(&r->table, in, row);
    if (!r->to_csv)
        return STATUS_OK;
    bench_report_row(&r->csv.pending, in, row, NULL);
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
            status = problem(p, STATUS_MEMORY, "out of memory for the table");
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
