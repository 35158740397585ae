/* ulpscope run: sweeps the cases of an experiment into a results directory. */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reports/results/study.h"
#include "experiments/cases/added_in.h"
#include "experiments/sweep/breaks.h"
#include "experiments/subjects/interrupt.h"
#include "experiments/system/shell.h"
#include "experiments/studies/recommend/files.h"
#include "experiments/sweep/resume.h"
#include "experiments/program/verbs.h"
#include "experiments/cases/experiment.h"
#include "experiments/options/options.h"
#include "experiments/sweep/sweep.h"
#include "reports/text/table.h"

/* The command line, resolved. */
struct run_command {
    const struct arguments *arguments;
    const struct experiment *experiment;
    const char *from_path;
    json_t *from; /* the study repeated, or NULL */
    struct request request;
    struct axes axes;
    struct plan plan;
    struct shard shard; /* `plan` is that of `whole` cases */
    size_t whole;
    uint32_t merged; /* the number of shards `out` was merged from, or 0 */
    char *out;
};

/* --- What `run --dry-run` says: the cases, and the axes that they come of --- */

/* Of all cases. */
static uint64_t run_command_runs(const struct run_command *c)
{
    uint64_t runs = 0;
    for (size_t i = 0; i < c->plan.case_count; i++)
        runs += c->plan.cases[i].runs;
    return runs;
}

/* To standard output, with a new line behind it; takes the object. */
static void run_print_json(json_t *object)
{
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(object);
}

static json_t *case_json(const struct plan *plan, const struct study_case *t)
{
    char id[CASE_ID_TEXT], device[DEVICE_TEXT];
    struct setting_columns setting;
    const struct source *s = &plan->source[t->source];
    case_id_text(id, t->id);
    device_name(t->device, device);
    json_t *object =
        json_pack("{ss ss ss ss ss ss ss sI}", "case_id", id, "method", t->method->name, "promise",
                  promise_name[t->method->promise], "device", device, "storage",
                  format_facts[s->array.format].name, "accumulator",
                  format_facts[t->accumulator].name, "input", s->name, "n", (json_int_t)s->array.n);
    if (s->generated)
        json_object_set_new(object, "seed", json_integer((json_int_t)s->seed));
    if (t->shape.threads)
        json_object_set_new(object, "threads", json_integer(t->shape.threads));
    if (t->shape.blocks)
        json_object_set_new(object, "blocks", json_integer(t->shape.blocks));
    setting_columns(&setting, t->method->operation, &t->setting);
    for (size_t i = CASE_SCAN; i < CASE_ALL; i++)
        if (*setting.column[i])
            json_object_set_new(object, case_columns[i].name, json_string(setting.column[i]));
    if (*setting.column[CASE_KEYS])
        json_object_set_new(object, "bins", json_integer((json_int_t)t->setting.bins));
    if (t->setting.segment)
        json_object_set_new(object, "segment", json_integer((json_int_t)t->setting.segment));
    if (t->load != LOAD_IDLE)
        json_object_set_new(object, "load", json_string(load_name[t->load]));
    json_object_set_new(object, "runs", json_integer((json_int_t)t->runs));
    json_object_set_new(object, "supported", json_boolean(t->supported));
    return object;
}

static void run_dry_json(const struct run_command *c)
{
    json_t *cases = json_array();
    for (size_t i = 0; i < c->plan.case_count; i++)
        json_array_append_new(cases, case_json(&c->plan, &c->plan.cases[i]));
    run_print_json(json_pack(
        "{ss so sI sI sI so so}", "experiment", c->experiment->name, "out", study_path(c->out),
        "cases", (json_int_t)c->plan.case_count, "inputs_left_out", (json_int_t)c->plan.left_out,
        "runs", (json_int_t)run_command_runs(c), "axes", axes_json(&c->axes), "case_list", cases));
}

/* Is it something that a person would ask for, and has it a value? */
static bool axis_shown(const struct run_command *c, enum axis axis, const json_t *words)
{
    bool cuda = false;
    for (size_t i = 0; i < c->axes.devices; i++)
        cuda |= c->axes.device[i].kind == DEVICE_CUDA;
    if (axis > AXIS_FORMATS && !(axis == AXIS_RUNS_CUDA && cuda))
        return false;
    const char *only =
        json_array_size(words) == 1 ? json_string_value(json_array_get(words, 0)) : "";
    return json_array_size(words) > 0 && strcmp(only, "0") != 0;
}

/* Words of an axis, in lines of at most 100 columns where the words allow it. */
static void print_axis(const char *name, const json_t *words)
{
    size_t i, column = 14;
    json_t *word;
    printf("  %-12s", name);
    json_array_foreach(words, i, word)
    {
        size_t width = 1 + json_string_length(word);
        if (column + width > 100) {
            printf("\n%14s", "");
            column = 14;
        }
        printf(" %s", json_string_value(word));
        column += width;
    }
    printf("\n");
}

/* --dry-run: what would be run, to standard output. */
static void run_dry_text(const struct run_command *c)
{
    json_t *axes = axes_json(&c->axes);
    struct text out = {0};
    text_visible(&out, c->out);
    printf("%s: cases: %zu, inputs: %zu, runs: %llu, would go to %s\n", c->experiment->name,
           c->plan.case_count, c->plan.sources, (unsigned long long)run_command_runs(c),
           text_string(&out) ? out.data : "");
    text_free(&out);
    for (enum axis axis = 0; axis < AXES; axis++) {
        const json_t *words = json_object_get(axes, axis_name[axis]);
        if (axis_shown(c, axis, words))
            print_axis(axis_name[axis], words);
    }
    json_decref(axes);
}

/* --- What `run` says at its end: tables, or summary.csv and the like as JSON --- */

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

static enum status run_report_json(const struct run_command *c, const struct sweep_outcome *outcome,
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

/* What was run and found, to standard output, read from the results directory. */
static enum status run_report_text(const struct run_command *c, const struct sweep_outcome *outcome,
                                   struct problem *p)
{
    struct text text = {0}, note = {0}, line = {0};
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
    text_format(&line, "%zu cases, %llu runs", c->plan.case_count,
                (unsigned long long)run_command_runs(c));
    if (unsupported(&c->plan) > 0)
        text_format(&line, ", %zu cases unsupported", unsupported(&c->plan));
    if (c->plan.left_out > 0) {
        text_format(&line, ", %zu inputs left out", c->plan.left_out);
        for (size_t i = 0; i < c->plan.families_out; i++)
            text_format(&line, "%s%s", i ? ", " : " (", c->plan.family_out[i]->name);
        text_add(&line, ": out of reach of n or format)");
    }
    if (c->merged > 0)
        text_format(&line, ", merged from %u shards", c->merged);
    else if (outcome->runs == 0 && outcome->failed == 0)
        text_add(&line, ", all there before");
    text_add(&line, ": ");
    text_visible(&line, c->out);
    text_add(&line, "/results.csv (a row per run), summary.csv (a row per case), ");
    if (experiment_reads(c->experiment, SETTING_SCAN))
        text_add(&line, "profile.csv (errors along each scan), ");
    if (experiment_times(c->experiment))
        text_add(&line, "times.csv (beside the raw read), ");
    for (const struct derived_file *f = c->experiment->derived; f && f->name; f++)
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

/* Prints a line for each of the first few failures. */
static void note(void *context, const char *line)
{
    enum { NOTES_MAX = 20 };
    size_t *notes = context;
    if (++*notes <= NOTES_MAX)
        fprintf(stderr, "ulpscope: %s\n", line);
}

/* --shard, or that of the study repeated. */
static enum status read_shard(struct run_command *c, const char *from, struct problem *p)
{
    const char *asked = argument_value(c->arguments, "shard");
    const char *theirs = json_string_value(json_object_get(c->from, "shard"));
    if (asked)
        return shard_parse(&c->shard, "option --shard", asked, p);
    return theirs ? shard_parse(&c->shard, from, theirs, p) : STATUS_OK;
}

static enum status resolve(struct run_command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    const char *from = c->from_path, *name = c->merged || !a->operands ? NULL : a->operand[0];
    enum status status = request_arguments(&c->request, a, p);
    if (status == STATUS_OK && from)
        status = study_read(&c->from, from, p);
    if (status == STATUS_OK)
        status = read_shard(c, from, p);
    if (status == STATUS_OK && from) {
        const char *theirs = json_string_value(json_object_get(c->from, "experiment"));
        if (name && strcmp(name, theirs) != 0)
            status =
                problem(p, STATUS_USAGE, "run: %s is a study of %s, found %s", from, theirs, name);
        name = theirs;
    }
    if (status == STATUS_OK)
        status = experiment_named(&c->experiment, name, p);
    if (status == STATUS_OK && from)
        status =
            request_repeat(&c->request, c->experiment, json_object_get(c->from, "axes"), from, p);
    if (status != STATUS_OK || c->experiment->run)
        return status;
    if (c->request.axis[AXIS_SECONDS].count > 0)
        return problem(p, STATUS_USAGE, "run %s: option --seconds is one of `run trial`",
                       c->experiment->name);
    status = axes_resolve(&c->axes, c->experiment, &c->request, p);
    if (status == STATUS_OK)
        status = plan_make(&c->plan, &c->axes, p);
    c->whole = c->plan.case_count;
    if (status == STATUS_OK)
        status = shard_keep(&c->plan, c->shard, p);
    return status == STATUS_OK && from ? resume_inputs(&c->plan, c->from, from, false, p) : status;
}

static enum status sweep(struct run_command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    size_t notes = 0;
    bool quiet = argument_flag(a, "quiet"), json = argument_flag(a, "json");
    struct problem why = {0};
    struct sweep_outcome outcome;
    struct sweep_options options = {.out = c->out,
                                    .force = argument_flag(a, "force") && !c->merged,
                                    .shard = c->shard,
                                    .merged = c->merged,
                                    .argc = a->argc,
                                    .argv = a->argv,
                                    .stop = interrupt_catch(),
                                    .progress = !quiet && isatty(STDERR_FILENO),
                                    .note = note,
                                    .context = &notes};
    enum status status = sweep_run(&outcome, &c->plan, &options, &why);
    if (status == STATUS_INTERRUPTED)
        return problem(
            p, status,
            "interrupted: %zu of %zu cases are finished in %s%s; the same command goes on "
            "from there",
            outcome.finished, c->plan.case_count, c->out,
            outcome.finished == c->plan.case_count ? ", but not all times" : "");
    if (status != STATUS_OK)
        return problem(p, status, "%s", why.text);
    if (json)
        status = run_report_json(c, &outcome, p);
    else if (!quiet)
        status = run_report_text(c, &outcome, p);
    return status == STATUS_OK ? sweep_verdict(&outcome, &c->plan, c->out, p) : status;
}

/* An experiment that is no sweep. */
static enum status run_itself(const struct run_command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    size_t notes = 0;
    bool quiet = argument_flag(a, "quiet");
    if (argument_flag(a, "json"))
        return problem(p, STATUS_USAGE, "run %s: option --json: see `check --json`",
                       c->experiment->name);
    return c->experiment->run(
        &(struct experiment_run){.request = &c->request,
                                 .out = c->out,
                                 .shard = c->shard,
                                 .merged = c->merged,
                                 .force = argument_flag(a, "force") && !c->merged,
                                 .dry_run = argument_flag(a, "dry-run"),
                                 .quiet = quiet,
                                 .progress = !quiet && isatty(STDERR_FILENO),
                                 .argc = a->argc,
                                 .argv = a->argv,
                                 .stop = interrupt_catch(),
                                 .note = note,
                                 .context = &notes},
        p);
}

/* Is what --from names the study of a recommendation, which is no experiment? Then it is asked
 * again. */
static bool repeats_recommend(const struct arguments *a, enum status *status, struct problem *p)
{
    const char *from = argument_value(a, "from");
    json_t *study = NULL;
    if (!from || a->operands > 0 || study_read(&study, from, NULL) != STATUS_OK)
        return false;
    bool is = strcmp(json_string_value(json_object_get(study, "experiment")), "recommend") == 0;
    if (is)
        *status = recommend_repeat(study, from, a, p);
    json_decref(study);
    return is;
}

/* --out, or results-accuracy, of a shard results-accuracy-2of4. */
static enum status name_out(struct run_command *c, const char *out, struct problem *p)
{
    int length = out                  ? asprintf(&c->out, "%s", out)
                 : c->shard.count > 0 ? asprintf(&c->out, "results-%s-%uof%u", c->experiment->name,
                                                 c->shard.index, c->shard.count)
                                      : asprintf(&c->out, "results-%s", c->experiment->name);
    if (length >= 0)
        return STATUS_OK;
    c->out = NULL;
    return problem(p, STATUS_MEMORY, "out of memory");
}

static enum status go(struct run_command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    if (c->experiment->run)
        return run_itself(c, p);
    if (!argument_flag(a, "dry-run"))
        return sweep(c, p);
    argument_flag(a, "json") ? run_dry_json(c) : run_dry_text(c);
    return STATUS_OK;
}

static void run_command_free(struct run_command *c)
{
    plan_free(&c->plan);
    axes_free(&c->axes);
    request_free(&c->request);
    json_decref(c->from);
    free(c->out);
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct run_command c = {.arguments = a, .from_path = argument_value(a, "from")};
    enum status repeated;
    if (repeats_recommend(a, &repeated, p))
        return repeated;
    enum status status = resolve(&c, p);
    if (status == STATUS_OK)
        status = name_out(&c, argument_value(a, "out"), p);
    if (status == STATUS_OK)
        status = go(&c, p);
    run_command_free(&c);
    return status;
}

enum status run_merged(const struct arguments *a, const char *out, uint32_t shards,
                       struct problem *p)
{
    struct run_command c = {.arguments = a, .merged = shards};
    char *from;
    if (asprintf(&from, "%s/study.json", out) < 0)
        return problem(p, STATUS_MEMORY, "out of memory");
    c.from_path = from;
    enum status status = resolve(&c, p);
    if (status == STATUS_OK)
        status = name_out(&c, out, p);
    if (status == STATUS_OK)
        status = go(&c, p);
    run_command_free(&c);
    free(from);
    return status;
}

const struct verb verb_run = {
    .name = "run",
    .operands = "EXPERIMENT",
    .least = 0,
    .most = 1,
    .summary = "sweeps the cases of an experiment into a results directory",
    .details =
        "Axes are comma-separated lists; each combination is a case, each execution of a case a "
        "row of\n"
        "results.csv, each case a row of summary.csv; study.json says what was run, where and with "
        "what.\n"
        "--out is results-EXPERIMENT if not given. The same command again continues where it was\n"
        "interrupted or killed; --from repeats a study, and other options then change its axes.\n"
        "Exit status 1: an error exceeded its bound, or the results of a method broke its promise. "
        "The table\n"
        "marks the method with a !, and a line below it says how.\n"
        "\n"
        "`run trial` is not a sweep: it runs `check` on each subject and writes trial.csv, with a "
        "row for each\n"
        "promise of the ladder. It takes --method, --device, --storage, --accumulator, --input, "
        "--n, --seed, --threads,\n"
        "--blocks, --scan, --runs, --seconds as `check` does; exit status 1: a promise is broken.",
    .examples = "  ulpscope run accuracy\n"
                "  ulpscope run accuracy --device cpu --method sum/serial,sum/tiled --input "
                "uniform,cond --n 2^10..2^14 --cond 1e3,1e6 --out results-mine\n"
                "  ulpscope run variance --device cpu --method sum/atomic --n 1e5 --runs 50 --out "
                "results-atomic\n"
                "  ulpscope run drift --device cpu --method scan/serial,scan/tiled --input uniform "
                "--n 2^16 --scan exclusive --output storage --out results-exclusive\n"
                "  ulpscope run trial --device cpu --seconds 1 --out results-trial\n"
                "  ulpscope run accuracy --dry-run",
    .run = run,
};
