/* What `run` says at its end: tables, or summary.csv and the like as JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/cases/added_in.h"
#include "experiments/sweep/breaks.h"
#include "experiments/program/run.h"
#include "reports/results/study.h"

/* A CSV file as an array of objects. */
struct csv_json {
    const struct column *(*column)(size_t);
    size_t columns;
    bool (*is_name)(size_t column); /* else it is a number, or what JSON has no number for */
    json_t *rows;
};

static bool summary_name(size_t column)
{
    return column < CASE_N;
}

static bool times_name(size_t column)
{
    return column < TIMES_N || column == TIMES_NOTE || column == TIMES_CASE_ID;
}

static json_t *field_json(const char *text, bool name)
{
    char *end;
    if (!*text)
        return json_null();
    double value = strtod(text, &end);
    if (name || *end || !(value - value == 0))
        return json_string(text);
    return strchr(text, '.') || strchr(text, 'e') ? json_real(value)
                                                  : json_integer(strtoll(text, NULL, 10));
}

static enum status take_row(void *context, const struct csv_row *row, struct problem *p)
{
    const struct csv_json *c = context;
    json_t *object = json_object();
    for (size_t i = 0; i < c->columns; i++)
        json_object_set_new(object, c->column(i)->name, field_json(row->field[i], c->is_name(i)));
    return json_array_append_new(c->rows, object) == 0
               ? STATUS_OK
               : problem(p, STATUS_DEVICE, "%s: out of memory", row->path);
}

static enum status read_csv(struct csv_json *to, const char *out, const char *name,
                            struct problem *p)
{
    char *path;
    uint64_t whole;
    to->rows = json_array();
    if (asprintf(&path, "%s/%s", out, name) < 0)
        return problem(p, STATUS_DEVICE, "out of memory");
    enum status status = csv_read(path, to->column, to->columns, take_row, to, &whole, p);
    free(path);
    return status;
}

static enum status derived_json(json_t *object, const char *out, const struct derived_file *f,
                                struct problem *p)
{
    char *name;
    struct csv_json rows = {.column = f->column, .columns = f->columns, .is_name = f->is_name};
    if (asprintf(&name, "%s.csv", f->name) < 0)
        return problem(p, STATUS_DEVICE, "out of memory");
    enum status status = read_csv(&rows, out, name, p);
    json_object_set_new(object, f->name, rows.rows);
    free(name);
    return status;
}

enum status run_report_json(const struct run_command *c, const struct sweep_outcome *outcome,
                            struct problem *p)
{
    struct csv_json summary = {.column = summary_column_of(experiment_columns(c->experiment)),
                               .columns = summary_columns(experiment_columns(c->experiment)),
                               .is_name = summary_name};
    struct csv_json times = {
        .column = times_column, .columns = TIMES_COLUMNS, .is_name = times_name};
    enum status status = read_csv(&summary, c->out, "summary.csv", p);
    json_t *object =
        json_pack("{ss so sI sI sI sI sI sI so so}", "experiment", c->experiment->name, "out",
                  study_path(c->out), "cases", (json_int_t)c->plan.case_count, "inputs_left_out",
                  (json_int_t)c->plan.left_out, "finished", (json_int_t)outcome->finished, "runs",
                  (json_int_t)outcome->runs, "failed", (json_int_t)outcome->failed, "broken",
                  (json_int_t)outcome->broken, "promises_broken", breaks_json(&c->plan), "summary",
                  summary.rows);
    if (status == STATUS_OK && experiment_times(c->experiment)) {
        status = read_csv(&times, c->out, "times.csv", p);
        json_object_set_new(object, "times", times.rows);
    }
    for (const struct derived_file *f = c->experiment->derived; status == STATUS_OK && f && f->name;
         f++)
        status = derived_json(object, c->out, f, p);
    run_print_json(object);
    return status;
}

static size_t unsupported(const struct plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->case_count; i++)
        count += !plan->cases[i].supported;
    return count;
}

enum status run_report_text(const struct run_command *c, const struct sweep_outcome *outcome,
                            struct problem *p)
{
    struct text text = {0};
    c->experiment->table(&text, &c->plan, c->out, p);
    added_in_note(&text, &c->plan);
    breaks_lines(&text, &c->plan);
    text_format(&text, "%zu cases, %llu runs", c->plan.case_count,
                (unsigned long long)run_command_runs(c));
    if (unsupported(&c->plan) > 0)
        text_format(&text, ", %zu cases unsupported", unsupported(&c->plan));
    if (c->plan.left_out > 0)
        text_format(&text, ", %zu inputs left out, beyond the range of their format",
                    c->plan.left_out);
    if (outcome->runs == 0 && outcome->failed == 0)
        text_add(&text, ", all there before");
    text_add(&text, ": ");
    text_visible(&text, c->out);
    text_add(&text, "/results.csv (a row per run), summary.csv (a row per case), ");
    if (experiment_reads(c->experiment, SETTING_SCAN))
        text_add(&text, "profile.csv (errors along each scan), ");
    if (experiment_times(c->experiment))
        text_add(&text, "times.csv (beside the raw read), ");
    for (const struct derived_file *f = c->experiment->derived; f && f->name; f++)
        text_format(&text, "%s.csv (%s), ", f->name, f->says);
    text_add(&text, "study.json\n");
    const char *string = text_string(&text);
    if (string)
        fputs(string, stdout);
    else
        problem(p, STATUS_DEVICE, "out of memory for the table");
    text_free(&text);
    return p->status;
}
