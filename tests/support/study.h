/* Studies for tests: run in this process, into the test's folder, and their rows read back. */
#pragma once

#include "experiments/cases/experiment.h"
#include "experiments/sweep/sweep.h"
#include "reports/results/results.h"
#include "reports/results/study.h"
#include "reports/text/table.h"
#include "tests/support/files.h"

struct study {
    struct request request;
    struct axes axes;
    struct plan plan;
    struct sweep_outcome outcome;
    struct problem problem;
    volatile sig_atomic_t stop;
    char notes[4096];
};

/* Options as words: {"method", "sum/serial,sum/tiled"}, ..., {NULL}. */
typedef const char *const study_words[][2];

static inline void ask(struct request *r, study_words words)
{
    for (; (*words)[0]; words++) {
        size_t axis = 0;
        while (axis < AXES && strcmp(axis_name[axis], (*words)[0]) != 0)
            axis++;
        cr_assert(axis < AXES, "no axis %s", (*words)[0]);
        cr_assert_eq(list_split(&r->axis[axis], (*words)[1], NULL), STATUS_OK);
        if (axis == AXIS_METHOD)
            list_split(&r->axis[AXIS_METHOD_NAMED], "yes", NULL);
        if (axis == AXIS_COND)
            list_split(&r->axis[AXIS_COND_NAMED], "yes", NULL);
    }
}

static inline const struct experiment *experiment_of(const char *name)
{
    const struct experiment *e;
    cr_assert_eq(experiment_named(&e, name, NULL), STATUS_OK);
    return e;
}

/* An experiment of scans, on the CPU, whose axes tests ask for themselves. */
static inline const struct experiment *scan_experiment(void)
{
    static const struct experiment e = {
        .name = "prefixes",
        .operation = {&operation_scan},
        .axes = {[DEVICE_CPU] = {.formats = "fp32/fp32", .input = "ones", .n = "10", .runs = 1},
                 [DEVICE_CUDA] = {.runs = 1}}};
    return &e;
}

/* Resolves the request that is in it. */
static inline enum status study_resolve_as(struct study *s, const struct experiment *e)
{
    enum status status = axes_resolve(&s->axes, e, &s->request, &s->problem);
    return status == STATUS_OK ? plan_make(&s->plan, &s->axes, &s->problem) : status;
}

static inline enum status study_resolve(struct study *s, const char *experiment)
{
    return study_resolve_as(s, experiment_of(experiment));
}

static inline void study_make_as(struct study *s, const struct experiment *e, study_words words)
{
    *s = (struct study){0};
    ask(&s->request, words);
    cr_assert_eq(study_resolve_as(s, e), STATUS_OK, "%s", s->problem.text);
}

static inline void study_make(struct study *s, const char *experiment, study_words words)
{
    study_make_as(s, experiment_of(experiment), words);
}

static inline void study_note(void *context, const char *line)
{
    struct study *s = context;
    size_t used = strlen(s->notes);
    snprintf(s->notes + used, sizeof s->notes - used, "%s\n", line);
}

static inline enum status study_sweep(struct study *s, const char *out, bool force)
{
    static char *words[] = {"ulpscope", "run"};
    s->problem = (struct problem){0};
    return sweep_run(&s->outcome, &s->plan,
                     &(struct sweep_options){.out = out,
                                             .force = force,
                                             .argc = 2,
                                             .argv = words,
                                             .stop = &s->stop,
                                             .note = study_note,
                                             .context = s},
                     &s->problem);
}

static inline void study_free(struct study *s)
{
    plan_free(&s->plan);
    axes_free(&s->axes);
    request_free(&s->request);
}

/* What a person is shown of its results, in lines of at most TABLE_WIDTH bytes; text_free is due.
 */
enum { TABLE_WIDTH = TABLE_COLUMNS };
static inline struct text table_of(struct study *s, const char *out)
{
    struct text text = {0};
    enum status status = s->axes.experiment->table(&text, &s->plan, out, &s->problem);
    cr_assert_eq(status, STATUS_OK, "%s", s->problem.text);
    cr_assert(text_string(&text));
    for (const char *at = text.data; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        cr_expect(strcspn(at, "\n") <= TABLE_WIDTH, "%.*s", (int)strcspn(at, "\n"), at);
    }
    return text;
}

/* Makes, sweeps to the end, frees. */
static inline struct sweep_outcome study_run_as(const struct experiment *e, study_words words,
                                                const char *out)
{
    struct study s;
    study_make_as(&s, e, words);
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct sweep_outcome outcome = s.outcome;
    study_free(&s);
    return outcome;
}

static inline struct sweep_outcome study_run(const char *experiment, study_words words,
                                             const char *out)
{
    return study_run_as(experiment_of(experiment), words, out);
}

/* Rows of a CSV file. */
struct rows {
    size_t count, columns;
    char **field; /* count x columns */
};

static inline enum status rows_take(void *context, const struct csv_row *row, struct problem *p)
{
    struct rows *r = context;
    (void)p;
    /* Doubled: sanitizers copy the whole each time. */
    if ((r->count & (r->count - 1)) == 0)
        r->field = realloc(r->field, (r->count ? 2 * r->count : 1) * r->columns * sizeof *r->field);
    cr_assert(r->field);
    for (size_t i = 0; i < r->columns; i++)
        r->field[r->count * r->columns + i] = strdup(row->field[i]);
    r->count++;
    return STATUS_OK;
}

static inline struct rows rows_of(const char *out, const char *name,
                                  const struct column *(*column)(size_t), size_t columns)
{
    char path[400];
    struct problem p = {0};
    uint64_t whole;
    struct rows r = {.columns = columns};
    snprintf(path, sizeof path, "%s/%s.csv", out, name);
    cr_assert_eq(csv_read(path, column, columns, rows_take, &r, &whole, &p), STATUS_OK, "%s",
                 p.text);
    return r;
}

/* Of a study of sums. */
static inline struct rows rows_read(const char *out, bool summary)
{
    return summary ? rows_of(out, "summary", summary_column, SUMMARY_COLUMNS)
                   : rows_of(out, "results", results_column, RESULTS_COLUMNS);
}

static inline const char *field_of(const struct rows *r, size_t row, size_t column)
{
    return r->field[row * r->columns + column];
}

/* A column of the case, of a row of results.csv. */
static inline const char *case_field(const struct rows *r, size_t row, enum case_column column)
{
    return field_of(r, row, results_case_column(column));
}

static inline void expect_text(const struct rows *r, size_t row, size_t column, const char *due)
{
    cr_expect_str_eq(field_of(r, row, column), due, "row %zu (%s, %s to %s, %s, n = %s): %s", row,
                     case_field(r, row, CASE_METHOD), case_field(r, row, CASE_ACCUMULATOR),
                     case_field(r, row, CASE_OUTPUT), case_field(r, row, CASE_SCAN),
                     case_field(r, row, CASE_N), results_column(column)->name);
}

static inline void rows_free(struct rows *r)
{
    for (size_t i = 0; i < r->count * r->columns; i++)
        free(r->field[i]);
    free(r->field);
}

/* Appends rows without the column of time, and frees them. */
static inline void digest_rows(struct text *text, struct rows r, size_t time)
{
    for (size_t i = 0; i < r.count * r.columns; i++) {
        text_field(text, i % r.columns == time ? "" : r.field[i]);
        text_add(text, (i + 1) % r.columns ? "," : "\n");
    }
    rows_free(&r);
}

/* All files without their columns of time: equal for equal studies of fixed-order methods. */
static inline char *study_digest_of(const char *out, bool scan)
{
    struct text text = {0};
    digest_rows(&text, rows_of(out, "results", results_column, results_columns(scan)),
                RESULTS_TIME_NS);
    digest_rows(&text, rows_of(out, "summary", summary_column, summary_columns(scan)),
                SUMMARY_TIME_NS_MEDIAN);
    if (scan)
        digest_rows(&text, rows_of(out, "profile", profile_column, PROFILE_COLUMNS), SIZE_MAX);
    char *digest = strdup(text_string(&text));
    text_free(&text);
    return digest;
}

static inline char *study_digest(const char *out)
{
    return study_digest_of(out, false);
}
