#include "experiments/sweep/resume.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reference/base/grow.h"
#include "experiments/sweep/breaks.h"
#include "experiments/cases/case_text.h"
#include "experiments/cases/experiment.h"
#include "experiments/runs/tally.h"
#include "reports/text/file.h"
#include "reports/results/results.h"

/* A row of summary.csv as it was found. */
struct found {
    uint64_t id;
    struct summary summary;
};

/* Columns that are the same in all rows of a case, though its id does not depend on them. */
static const enum case_column told_of_case[] = {CASE_PROMISE, CASE_COND_LOG2, CASE_ADDED_IN,
                                                CASE_RESULT_FORMAT};
enum { TOLD = sizeof told_of_case / sizeof *told_of_case };

struct reading {
    struct resumed *resumed;
    struct plan *plan;
    enum columns_of of;
    struct found *found; /* ascending by id */
    size_t founds;
    struct csv_range *drop;
    size_t drops;
    struct text summary; /* the rows to keep */
    char *before[TOLD];  /* in the row before this one */
    uint64_t before_id;  /* of its case */
    bool gap; /* a finished case has none: later ones are not kept, so that the order stays */
};

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct found *)a)->id, y = ((const struct found *)b)->id;
    return (x > y) - (x < y);
}

static enum status no_memory(const struct csv_row *row, struct problem *p)
{
    return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
}

/* Summaries are derived: one that cannot be read is made anew. */
static enum status take_summary(void *context, const struct csv_row *row, struct problem *p)
{
    struct reading *r = context;
    struct found found = {.id = strtoull(row->field[CASE_ID], NULL, 16)};
    if (summary_parse(&found.summary, row, r->of, NULL) != STATUS_OK)
        return STATUS_OK;
    if (!grow(&r->found, r->founds, sizeof *r->found))
        return no_memory(row, p);
    r->found[r->founds++] = found;
    return STATUS_OK;
}

static enum status unexpected(const struct csv_row *row, size_t column, const char *expected,
                              struct problem *p)
{
    return problem(p, STATUS_DATA,
                   "%s: line %zu: %s: found '%s', expected %s: edited, or of another study; give "
                   "another --out, or --force to start over",
                   row->path, row->line, results_column(column)->name, row->field[column],
                   expected);
}

static enum status parse_outcome(const struct csv_row *row, enum outcome *outcome,
                                 struct problem *p)
{
    for (*outcome = 0; *outcome < OUTCOMES; (*outcome)++)
        if (strcmp(row->field[RESULTS_STATUS], outcome_name[*outcome]) == 0)
            return STATUS_OK;
    return unexpected(row, RESULTS_STATUS, "ok, overflow, nan, unsupported or error", p);
}

/* The columns of the case make its id; the numbers are texts of the same bits. */
static enum status check_columns(const struct reading *r, const struct study_case *t,
                                 const struct csv_row *row, struct problem *p)
{
    const struct source *s = &r->plan->source[t->source];
    const char *column[CASE_ALL], *name = r->plan->axes->experiment->name;
    char key_seed[24], id[CASE_ID_TEXT];
    if (strcmp(row->field[RESULTS_EXPERIMENT], name) != 0)
        return unexpected(row, RESULTS_EXPERIMENT, name, p);
    for (size_t i = 0; i < CASE_ALL; i++)
        column[i] = columns_case_has(r->of, i) ? row->field[results_case_column(i)] : "";
    const struct case_rest rest = case_rest(t, s, key_seed);
    case_id_text(id, case_id_columns(column, &rest));
    if (strcmp(id, row->field[RESULTS_CASE_ID]) != 0)
        return problem(p, STATUS_DATA,
                       "%s: line %zu: case_id: found '%s', expected '%s', as method, device, "
                       "formats, input, n, seed and shape make it: edited",
                       row->path, row->line, row->field[RESULTS_CASE_ID], id);
    return *row->field[RESULTS_RESULT_BITS] ? results_check(row, p) : STATUS_OK;
}

/* Holds what a row says of its case to the row before it, if that is of the same case. */
static enum status check_told(struct reading *r, const struct study_case *t,
                              const struct csv_row *row, struct problem *p)
{
    for (size_t i = 0; i < TOLD; i++) {
        if (!columns_case_has(r->of, told_of_case[i]))
            continue;
        const struct column *column = results_column(results_case_column(told_of_case[i]));
        const char *found = row->field[results_case_column(told_of_case[i])];
        const char *before = r->before_id == t->id ? r->before[i] : NULL;
        bool lacking = column_since(column) > 1 && !(before && *before && *found);
        if (before && !lacking && strcmp(before, found) != 0)
            return problem(p, STATUS_DATA,
                           "%s: line %zu: %s: found '%s', expected '%s', as in the row before: "
                           "edited",
                           row->path, row->line, column->name, found, before);
        free(r->before[i]);
        r->before[i] = strdup(found);
        if (!r->before[i])
            return no_memory(row, p);
    }
    r->before_id = t->id;
    return STATUS_OK;
}

/* The case of a row, and the check that it is this row's turn. */
static enum status find_case(struct reading *r, const struct csv_row *row, bool done,
                             struct study_case **found, struct problem *p)
{
    uint64_t run;
    char expected[32], id[CASE_ID_TEXT];
    struct study_case *t = plan_find(r->plan, strtoull(row->field[RESULTS_CASE_ID], NULL, 16));
    if (t)
        case_id_text(id, t->id);
    if (!t || strcmp(row->field[RESULTS_CASE_ID], id) != 0)
        return unexpected(row, RESULTS_CASE_ID, "a case of this study", p);
    enum status status = csv_whole(row, RESULTS_RUN, "run", &run, p);
    if (status != STATUS_OK)
        return status;
    snprintf(expected, sizeof expected, "%llu", (unsigned long long)t->done + 1);
    if (run != t->done + 1 || t->finished || (done && t->supported && run > t->runs))
        return unexpected(row, RESULTS_RUN, t->finished ? "no more runs of this case" : expected,
                          p);
    *found = t;
    status = check_columns(r, t, row, p);
    return status == STATUS_OK && done ? check_told(r, t, row, p) : status;
}

/* What tells the result from others, and its value. */
static enum status parse_result(struct hash128 *digest, struct figure *value, struct study_case *t,
                                const struct csv_row *row, struct problem *p)
{
    if (operation_makes_array(t->method->operation)) {
        enum status status = results_parse_hash(digest, row, p);
        return status == STATUS_OK ? csv_figure(row, RESULTS_RESULT, "result", value, p) : status;
    }
    *digest = (struct hash128){{0, 0}};
    enum status status = csv_whole(row, RESULTS_RESULT_BITS, "result_bits", &digest->word[0], p);
    *value = (struct figure){true, format_decode(t->accumulator, digest->word[0])};
    return status;
}

static enum status count_run(struct reading *r, struct study_case *t, const struct csv_row *row,
                             enum outcome outcome, struct problem *p)
{
    uint64_t time_ns = 0;
    bool timed = *row->field[RESULTS_TIME_NS] != 0; /* of foreign subjects it may not be known */
    struct hash128 digest;
    struct scan_facts scan = {0};
    struct figure value, err_rel, err_ulp, err_backward, err_over_bound;
    enum status status = parse_result(&digest, &value, t, row, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RESULTS_ERR_REL, "err_rel", &err_rel, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RESULTS_ERR_ULP, "err_ulp", &err_ulp, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RESULTS_ERR_BACKWARD, "err_backward", &err_backward, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RESULTS_ERR_OVER_BOUND, "err_over_bound", &err_over_bound, p);
    if (status == STATUS_OK && timed)
        status = csv_whole(row, RESULTS_TIME_NS, "time_ns", &time_ns, p);
    if (status == STATUS_OK && columns_of_arrays(r->of))
        status = results_parse_scan(&scan, row, r->of, p);
    if (status != STATUS_OK)
        return status;
    if (!t->earlier)
        t->earlier = calloc(1, sizeof *t->earlier);
    struct distinct *d = t->earlier ? tally_add(t->earlier, digest) : NULL;
    if (!d || (timed && !tally_time(t->earlier, time_ns)))
        return no_memory(row, p);
    d->value = value;
    d->err_rel = err_rel;
    d->err_ulp = err_ulp;
    d->err_backward = err_backward;
    d->err_over_bound = err_over_bound;
    d->scan = scan; /* the last row's: what is known beside run 1 stays known */
    d->outcome = outcome;
    if (err_over_bound.known && err_over_bound.value > 1 && r->resumed->broken++ == 0)
        snprintf(r->resumed->first_broken, sizeof r->resumed->first_broken, "case %s (%s), run %s",
                 row->field[RESULTS_CASE_ID], row->field[RESULTS_METHOD], row->field[RESULTS_RUN]);
    return STATUS_OK;
}

/* ulp(exact) from the column exact_hex. */
static struct figure ulp_of(const char *exact_hex, enum format accumulator)
{
    mpfr_t exact;
    mpfr_init2(exact, 4 * (mpfr_prec_t)strlen(exact_hex) + 64);
    bool good = mpfr_set_str(exact, exact_hex, 0, MPFR_RNDN) == 0;
    struct figure ulp = good ? tally_ulp(exact, accumulator) : (struct figure){0};
    mpfr_clear(exact);
    return ulp;
}

/* Keeps the summary that was found, where it agrees with the runs in all that does not need the
 * input: vs is taken from it. */
static void finish(struct reading *r, struct study_case *t, const struct csv_row *row)
{
    const char *text[CASE_ALL];
    struct found key = {.id = t->id};
    struct text made = {0};
    t->finished = true;
    const struct found *found =
        r->founds && !r->gap ? bsearch(&key, r->found, r->founds, sizeof key, by_id) : NULL;
    r->gap = true;
    if (!found)
        return;
    for (size_t i = 0; i < CASE_ALL; i++)
        if (columns_case_has(r->of, i))
            text[i] = row->field[results_case_column(i)];
    struct summary s = {0};
    if (t->supported)
        tally_summary(&s, t->earlier, ulp_of(row->field[RESULTS_EXACT_HEX], t->setting.output),
                      (struct figure){0});
    s.vs_max = found->summary.vs_max;
    s.vs_stddev = found->summary.vs_stddev;
    bool same = summary_same(&s, &found->summary, r->of);
    if (same)
        summary_row(&made, text, &s, r->of);
    if (same && !made.failed) {
        text_join(&r->summary, &made);
        r->gap = false;
        t->summary = s;
        t->summarised = true;
        if (t->supported) {
            t->err_rel_max = tally_err_rel_max(t->earlier);
            t->err_backward_max = tally_err_backward_max(t->earlier);
            breaks_note(t, t->earlier);
        }
        case_forget(t);
    }
    text_free(&made);
}

static enum status drop_row(struct reading *r, const struct csv_row *row, struct problem *p)
{
    if (!grow(&r->drop, r->drops, sizeof *r->drop))
        return no_memory(row, p);
    r->drop[r->drops++] = (struct csv_range){row->begin, row->end};
    return STATUS_OK;
}

static enum status take_result(void *context, const struct csv_row *row, struct problem *p)
{
    struct reading *r = context;
    struct study_case *t = NULL;
    enum outcome outcome;
    enum status status = parse_outcome(row, &outcome, p);
    if (status == STATUS_OK)
        status = find_case(r, row, outcome != OUTCOME_ERROR, &t, p);
    if (status != STATUS_OK)
        return status;
    if (outcome == OUTCOME_ERROR)
        return drop_row(r, row, p);
    if (outcome == OUTCOME_UNSUPPORTED && !t->method->cpu)
        t->supported = false; /* a library has said so */
    if (t->supported != (outcome != OUTCOME_UNSUPPORTED))
        return unexpected(row, RESULTS_STATUS,
                          t->supported ? "a result: this build has the method"
                                       : "unsupported: this build has not the method",
                          p);
    if (t->supported)
        status = count_run(r, t, row, outcome, p);
    if (status != STATUS_OK)
        return status;
    t->done++;
    if (csv_figure(row, RESULTS_METHOD + CASE_COND_LOG2 - CASE_METHOD, "cond_log2", &t->cond_log2,
                   p) == STATUS_OK &&
        (!t->supported || t->done == t->runs))
        finish(r, t, row);
    return p->status;
}

/* Does the file have these rows, and nothing else? */
static bool has_rows(const char *path, const struct text *header, const struct text *rows)
{
    size_t due = header->length + rows->length;
    char *found = malloc(due + 1);
    FILE *file = NULL;
    bool same = found && file_open(&file, path, NULL) == STATUS_OK &&
                fread(found, 1, due + 1, file) == due &&
                memcmp(found, header->data, header->length) == 0 &&
                memcmp(found + header->length, rows->data, rows->length) == 0;
    if (file)
        fclose(file);
    free(found);
    return same;
}

/* Replaces summary.csv by the rows that are kept, where it has others. */
static enum status write_summary(struct reading *r, const struct directory *d, struct problem *p)
{
    struct text header = {0};
    columns_header(&header, summary_column_of(r->of), summary_columns(r->of));
    bool same = !header.failed && !r->summary.failed && r->summary.length > 0 &&
                has_rows(d->summary, &header, &r->summary);
    r->resumed->summary = header.length + r->summary.length;
    text_free(&header);
    if (same)
        return STATUS_OK;
    char *part = file_part(d->summary);
    struct csv_file file;
    if (!part)
        return problem(p, STATUS_MEMORY, "%s: out of memory", d->summary);
    enum status status =
        csv_file_open(&file, part, 0, summary_column_of(r->of), summary_columns(r->of), p);
    if (status == STATUS_OK) {
        text_join(&file.pending, &r->summary);
        status = csv_file_flush(&file, p);
        r->resumed->summary = file.whole;
    }
    enum status closed = csv_file_close(&file, p);
    if (status == STATUS_OK)
        status = closed;
    if (status == STATUS_OK && rename(part, d->summary) != 0)
        status =
            problem(p, STATUS_DATA, "%s: could not be written: %s", d->summary, strerror(errno));
    if (status != STATUS_OK)
        remove(part);
    free(part);
    return status;
}

enum status resume_read(struct resumed *resumed, struct plan *plan, const struct directory *d,
                        struct problem *p)
{
    enum columns_of of = experiment_columns(plan->axes->experiment);
    struct reading r = {.resumed = resumed, .plan = plan, .of = of};
    uint64_t ignored;
    *resumed = (struct resumed){0};
    csv_read(d->summary, summary_column_of(of), summary_columns(of), take_summary, &r, &ignored,
             NULL);
    if (r.founds > 0)
        qsort(r.found, r.founds, sizeof *r.found, by_id);
    bool there = access(d->results, F_OK) == 0;
    enum status status = there ? csv_read(d->results, results_column_of(of), results_columns(of),
                                          take_result, &r, &resumed->whole, p)
                               : STATUS_OK;
    if (status == STATUS_OK && r.drops > 0)
        status = csv_drop(d->results, &resumed->whole, r.drop, r.drops, p);
    if (status == STATUS_OK && of == COLUMNS_OF_SCANS)
        status = resume_profile(plan, d->profile, &resumed->profile, p);
    if (status == STATUS_OK)
        status = write_summary(&r, d, p);
    free(r.found);
    for (size_t i = 0; i < TOLD; i++)
        free(r.before[i]);
    free(r.drop);
    text_free(&r.summary);
    return status;
}

enum status resume_inputs(struct plan *plan, const json_t *study, const char *path, bool own,
                          struct problem *p)
{
    const json_t *inputs = json_object_get(study, "inputs");
    for (size_t i = 0; i < plan->sources; i++) {
        struct source *s = &plan->source[i];
        char *key = source_key(s);
        if (!key)
            return problem(p, STATUS_MEMORY, "%s: out of memory", path);
        const char *hash = json_string_value(json_object_get(inputs, key));
        free(key);
        if (hash && *s->hash && strcmp(hash, s->hash) != 0)
            return problem(p, STATUS_DATA,
                           "%s: found other elements%s%s than %s has recorded (XXH3 %s, expected "
                           "%s)",
                           s->name, s->with ? " or " : "", s->with ? s->with : "", path, s->hash,
                           hash);
        s->recorded = own && hash;
        if (hash)
            snprintf(s->hash, HASH_TEXT, "%s", hash);
    }
    return STATUS_OK;
}
