/* What `ulpscope run` prints at its end. */

#include <stdio.h>
#include <stdlib.h>

#include "experiments/cases/added_in.h"
#include "experiments/program/run_command.h"
#include "experiments/sweep/breaks.h"
#include "experiments/system/shell.h"
#include "reports/results/study.h"
#include "reports/text/table.h"

uint64_t run_command_runs(const struct run_command *c)
{
    uint64_t runs = 0;
    for (size_t i = 0; i < c->plan.case_count; i++)
        runs += c->plan.cases[i].runs;
    return runs;
}

void run_print_json(json_t *object)
{
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(object);
}

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
               : problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
}

static enum status read_csv(struct csv_json *to, const char *out, const char *name,
                            struct problem *p)
{
    to->rows = json_array();
    return csv_read_in(out, name, to->column, to->columns, take_row, to, p);
}

static enum status derived_json(json_t *object, const char *out, const struct derived_file *f,
                                struct problem *p)
{
    char *name;
    struct csv_json rows = {.column = f->column, .columns = f->columns, .is_name = f->is_name};
    if (asprintf(&name, "%s.csv", f->name) < 0)
        return problem(p, STATUS_MEMORY, "out of memory");
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
        status = derived_due(f, &c->plan) ? derived_json(object, c->out, f, p) : status;
    run_print_json(object);
    return status;
}

/* How many cases are unsupported; into `own`, what subjects of the user's take instead. */
static size_t unsupported(const struct plan *plan, struct text *own)
{
    enum { NAMED = 2 };
    size_t count = 0, named = 0;
    const struct method *last = NULL;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        char takes[PAIRS_TEXT];
        count += !t->supported;
        if (t->supported || !t->method->foreign || t->method == last || named == NAMED)
            continue;
        last = t->method;
        method_pairs_text(takes, t->method, t->device.kind);
        if (!*takes)
            continue;
        text_add(own, named++ ? "; " : " (");
        text_visible(own, t->method->name);
        text_format(own, " takes %s", takes);
    }
    text_add(own, named ? ")" : "");
    return count;
}

enum status run_report_text(const struct run_command *c, const struct sweep_outcome *outcome,
                            struct problem *p)
{
    struct text text = {0}, note = {0}, line = {0}, own = {0};
    breaks_headline(&text, &c->plan);
    if (outcome->broken > 0)
        text_format(&text, "! %zu result%s an error bound\n", outcome->broken,
                    outcome->broken == 1 ? " breaks" : "s break");
    c->experiment->table(&text, &c->plan, c->out, p);
    added_in_note(&note, &c->plan);
    const char *lines = text_string(&note);
    if (table_wide() || !lines || !strchr(lines, '\n') || !strchr(lines, '\n')[1])
        text_join(&text, &note);
    text_free(&note);
    breaks_lines(&text, &c->plan);
    uint64_t runs = run_command_runs(c);
    size_t none = unsupported(&c->plan, &own);
    text_format(&line, "%zu case%s, %llu run%s", c->plan.case_count, text_s(c->plan.case_count),
                (unsigned long long)runs, text_s(runs));
    if (none > 0)
        text_format(&line, ", %zu case%s unsupported", none, text_s(none));
    text_join(&line, &own);
    text_free(&own);
    if (c->plan.left_out > 0) {
        text_format(&line, ", %zu input%s left out", c->plan.left_out, text_s(c->plan.left_out));
        for (size_t i = 0; i < c->plan.families_out; i++)
            text_format(&line, "%s%s", i ? ", " : " (", c->plan.family_out[i]->name);
        text_add(&line, ": out of reach of n or format)");
    }
    if (c->merged > 0)
        text_format(&line, ", merged from %u shards", c->merged);
    else if (c->rank.count > 1)
        text_format(&line, ", by %u ranks", c->rank.count);
    else if (runs > 0 && outcome->runs == 0 && outcome->failed == 0)
        text_add(&line, ", all there before");
    text_add(&line, ": ");
    text_visible(&line, c->out);
    text_add(&line, "/results.csv (a row per run), summary.csv (a row per case), ");
    if (experiment_reads(c->experiment, SETTING_SCAN))
        text_add(&line, "profile.csv (errors along each scan), ");
    if (experiment_times(c->experiment))
        text_add(&line, "times.csv (beside the raw read), ");
    for (const struct derived_file *f = c->experiment->derived; f && f->name; f++)
        if (derived_due(f, &c->plan))
            text_format(&line, "%s.csv (%s), ", f->name, f->says);
    text_add(&line, "study.json");
    text_wrapped(&text, &line, TABLE_COLUMNS, 2);
    if (c->shard.count > 0) {
        text_format(&line,
                    "shard %u of %u: %zu of the study's %zu cases; when all are finished: ulpscope "
                    "merge DIR...",
                    c->shard.index, c->shard.count, c->plan.case_count, c->whole);
        text_wrapped(&text, &line, TABLE_COLUMNS, 2);
    }
    text_add(&text, "reproduce: ");
    shell_word(&text, c->arguments->argv[0]);
    text_add(&text, " run --from ");
    shell_word(&text, c->out);
    text_add(&text, "/study.json --out ");
    shell_word(&text, c->out);
    text_add(&text, "-again\nnext: ");
    shell_word(&text, c->arguments->argv[0]);
    text_add(&text, " report ");
    shell_word(&text, c->out);
    text_add(&text, "\n");
    const char *string = text_string(&text);
    if (string)
        fputs(string, stdout);
    else
        problem(p, STATUS_MEMORY, "out of memory for the table");
    text_free(&text);
    return p->status;
}
