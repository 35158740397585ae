/* A results directory, gathered by case. */
#include "reports/results/gathered.h"

#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/base/grow.h"
#include "kernels/gpu/load.h"
#include "reports/results/case_id.h"
#include "reports/text/file.h"
#include "reports/results/study.h"
#include "reports/results/results.h"

/* --- Rows that contradict the case they say they are of --- */

static enum status contradicts(const struct csv_row *row, size_t column, const char *found,
                               const char *expected, const char *why, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: line %zu: %s: found '%s', expected '%s', as %s: edited",
                   row->path, row->line, case_columns[column].name, found, expected, why);
}

static enum status check_same(const struct gathered *g, const struct gathered_case *c,
                              const struct csv_row *row, size_t (*field)(size_t), struct problem *p)
{
    for (size_t i = 0; i < CASE_ALL; i++) {
        const char *found = columns_case_has(g->of, i) ? row->field[field(i)] : "";
        struct text shown = {0};
        if (strcmp(found, c->field[i]) == 0)
            continue;
        text_visible(&shown, found);
        bool same = text_string(&shown) && strcmp(shown.data, c->field[i]) == 0;
        text_free(&shown);
        if (!same)
            return contradicts(row, i, found, c->field[i], "other rows of the case say", p);
    }
    return STATUS_OK;
}

/* The hash of data that study.json has, by the key that source_key makes; NULL where there is none.
 */
static const char *data_hash(const struct gathered *g, const struct gathered_case *c)
{
    char *key = NULL;
    if (asprintf(&key, "%s %s n=%s", c->field[CASE_INPUT], c->field[CASE_STORAGE],
                 c->field[CASE_N]) < 0)
        return NULL;
    const char *hash = json_string_value(json_object_get(json_object_get(g->study, "inputs"), key));
    free(key);
    return hash;
}

/* Keys of data are of the study's first seed. */
static const char *first_seed(const struct gathered *g)
{
    const json_t *seeds = json_object_get(json_object_get(g->study, "axes"), "seed");
    const char *seed = json_string_value(json_array_get(seeds, 0));
    return seed ? seed : "";
}

/* Files of keys have hashes that no directory tells. */
static bool is_known(const struct gathered_case *c, const struct case_rest *rest)
{
    return (*c->field[CASE_SEED] || rest->hash) && strncmp(c->field[CASE_KEYS], "file:", 5) != 0;
}

static enum status check_id(const struct gathered *g, struct gathered_case *c,
                            const struct csv_row *row, struct problem *p)
{
    char id[CASE_ID_TEXT], idle[CASE_ID_TEXT];
    const char *seed = c->field[CASE_SEED];
    struct case_rest rest = {.hash = *seed ? NULL : data_hash(g, c),
                             .keys_hash = "",
                             .key_seed = *seed ? seed : first_seed(g),
                             .load = ""};
    if (!is_known(c, &rest))
        return STATUS_OK;
    case_id_text(idle, case_id_columns((const char *const *)c->field, &rest));
    /* The load has no column here. Masks of data were once those of seed 1 whatever was asked. */
    const size_t tried = strncmp(c->field[CASE_KEYS], "keep:", 5) == 0 ? 2 : 1;
    for (size_t i = 0; i < tried * LOAD_KINDS; i++) {
        size_t load = i % LOAD_KINDS;
        rest.load = load == LOAD_IDLE ? "" : load_name[load];
        rest.key_seed = i < LOAD_KINDS ? rest.key_seed : "1";
        case_id_text(id, case_id_columns((const char *const *)c->field, &rest));
        if (strcmp(id, c->field[CASE_ID]) != 0)
            continue;
        c->key_seed = *seed ? NULL : rest.key_seed;
        return STATUS_OK;
    }
    return contradicts(row, CASE_ID, c->field[CASE_ID], idle,
                       "method, device, formats, input, n, seed and shape make it", p);
}

/* Holds the columns of a row to the case they are of: to its other rows where there are any, else
 * to its id, as far as the directory tells what makes it. STATUS_DATA. */
static enum status check_case(const struct gathered *g, struct gathered_case *c,
                              const struct csv_row *row, size_t (*field)(size_t), bool first,
                              struct problem *p)
{
    const char *experiment = json_string_value(json_object_get(g->study, "experiment"));
    if (first && experiment && strcmp(c->field[CASE_EXPERIMENT], experiment) != 0)
        return contradicts(row, CASE_EXPERIMENT, c->field[CASE_EXPERIMENT], experiment,
                           "study.json says", p);
    return first ? check_id(g, c, row, p) : check_same(g, c, row, field, p);
}

/* How a file of rows is read: each row into `take`, whose context is a struct gathered. */
struct rows_file {
    const char *name;
    size_t (*columns)(enum columns_of of);
    column_at *(*column_of)(enum columns_of of);
    csv_take take;
};

/* What the tree of ids holds. */
struct named {
    char *id;
    size_t index;
};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->id, ((const struct named *)b)->id);
}

static enum status no_memory(const char *path, struct problem *p)
{
    return problem(p, STATUS_MEMORY, "%s: out of memory", path);
}

static enum status read_promise(struct gathered_case *c, const struct csv_row *row,
                                struct problem *p)
{
    const char *text = c->field[CASE_PROMISE];
    for (c->promise = 0; c->promise < PROMISES; c->promise++)
        if (strcmp(text, promise_name[c->promise]) == 0)
            return STATUS_OK;
    return problem(p, STATUS_DATA,
                   "%s: line %zu: promise: found '%s', expected none, run_to_run, gpu_to_gpu, "
                   "order_invariant or correctly_rounded",
                   row->path, row->line, text);
}

/* A new case with the columns of the row. */
static enum status add_case(struct gathered *g, const struct csv_row *row, size_t (*field)(size_t),
                            struct problem *p)
{
    if (!grow(&g->item, g->count, sizeof *g->item))
        return no_memory(row->path, p);
    struct gathered_case *c = &g->item[g->count++];
    *c = (struct gathered_case){0};
    for (size_t i = 0; i < CASE_ALL; i++) {
        struct text shown = {0};
        text_visible(&shown, columns_case_has(g->of, i) ? row->field[field(i)] : "");
        c->field[i] = text_string(&shown) ? shown.data : NULL;
        if (!c->field[i])
            return no_memory(row->path, p);
    }
    enum status status = csv_figure(row, field(CASE_COND_LOG2), "cond_log2", &c->cond_log2, p);
    uint64_t n = 0;
    if (status == STATUS_OK)
        status = csv_whole(row, field(CASE_N), "n", &n, p);
    c->n = (double)n;
    return status == STATUS_OK ? read_promise(c, row, p) : status;
}

struct gathered_case *gathered_named(struct gathered *g, const char *id)
{
    struct named wanted = {(char *)id, 0}, **found = tfind(&wanted, &g->by_id, by_id);
    return found ? &g->item[(*found)->index] : NULL;
}

/* The case of a row: rows of a case need not stand together. */
static enum status case_of(struct gathered *g, const struct csv_row *row, size_t (*field)(size_t),
                           struct gathered_case **found, struct problem *p)
{
    if (!*row->field[field(CASE_ID)])
        return problem(p, STATUS_DATA, "%s: line %zu: case_id: found '', expected a case's",
                       row->path, row->line);
    *found = gathered_named(g, row->field[field(CASE_ID)]);
    if (*found)
        return check_case(g, *found, row, field, false, p);
    enum status status = add_case(g, row, field, p);
    if (status == STATUS_OK)
        status = check_case(g, &g->item[g->count - 1], row, field, true, p);
    if (status != STATUS_OK)
        return status;
    struct named *fresh = malloc(sizeof *fresh);
    if (!fresh)
        return no_memory(row->path, p);
    *found = &g->item[g->count - 1];
    *fresh = (struct named){(*found)->field[CASE_ID], g->count - 1};
    if (!tsearch(fresh, &g->by_id, by_id)) {
        free(fresh);
        return no_memory(row->path, p);
    }
    return STATUS_OK;
}

void gathered_raise(struct figure *most, struct figure f)
{
    if (f.known && (!most->known || figure_worse(f.value, most->value)))
        *most = f;
}

/* Has a file of this kind so many columns, in some version? Of matrix products there were none in
 * the first. */
static bool has_columns(const struct rows_file *f, enum columns_of of, size_t columns)
{
    int version = of == COLUMNS_OF_PRODUCTS ? 2 : 1;
    while (version <= SCHEMA_VERSION &&
           columns_until(version, f->column_of(of), f->columns(of)) != columns)
        version++;
    return version <= SCHEMA_VERSION;
}

/* What a file is of, by how many columns it has. Any trouble is for csv_read to tell. */
static enum columns_of columns_in(const char *path, const struct rows_file *f)
{
    char *line = NULL;
    size_t capacity = 0, columns = 1;
    enum columns_of of = COLUMNS_KINDS - 1;
    FILE *file;
    if (file_open(&file, path, NULL) == STATUS_OK && getline(&line, &capacity, file) > 0)
        for (const char *c = line; *c; c++)
            columns += *c == ',';
    free(line);
    if (file)
        fclose(file);
    while (of > COLUMNS_OF_SUMS && !has_columns(f, of, columns))
        of--;
    return of;
}

static enum status read_whole(struct gathered *g, const char *path, const struct rows_file *f,
                              struct problem *p)
{
    uint64_t whole;
    struct stat facts;
    g->of = columns_in(path, f);
    enum status status =
        csv_read(path, f->column_of(g->of), f->columns(g->of), f->take, g, &whole, p);
    if (status != STATUS_OK)
        return status;
    if (stat(path, &facts) != 0)
        return problem(p, STATUS_DATA, "%s: %s", path, strerror(errno));
    if ((uint64_t)facts.st_size > whole)
        return problem(p, STATUS_DATA,
                       "%s: found %llu bytes of a torn row behind byte %llu, expected whole rows: "
                       "the study was interrupted; the command that made it, run again, resumes it",
                       path, (unsigned long long)facts.st_size - (unsigned long long)whole,
                       (unsigned long long)whole);
    return STATUS_OK;
}

static enum status read_file(struct gathered *g, const struct rows_file *f, struct problem *p)
{
    char *path;
    if (asprintf(&path, "%s/%s", g->path, f->name) < 0)
        return no_memory(g->path, p);
    enum status status = read_whole(g, path, f, p);
    free(path);
    return status;
}

void gathered_free(struct gathered *g)
{
    tdestroy(g->by_id, free);
    for (size_t i = 0; i < g->count; i++) {
        struct gathered_case *c = &g->item[i];
        for (size_t k = 0; k < CASE_ALL; k++)
            free(c->field[k]);
        free(c->run);
        free(c->bits);
        free(c->offset);
        free(c->first);
        free(c->result);
    }
    free(g->item);
    json_decref(g->study);
    *g = (struct gathered){0};
}

/* --- results.csv, gathered by case: bits, errors and times of all runs --- */

static enum status take_bits(struct gathered_case *c, const struct csv_row *row, struct problem *p)
{
    uint64_t run;
    enum status status = csv_whole(row, RESULTS_RUN, "run", &run, p);
    if (status != STATUS_OK)
        return status;
    if (run == 0)
        return problem(p, STATUS_DATA, "%s: line %zu: run: found '0', expected 1 or more: edited",
                       row->path, row->line);
    if (!grow(&c->bits, c->runs, sizeof *c->bits) ||
        !grow(&c->offset, c->runs, sizeof *c->offset) || !grow(&c->run, c->runs, sizeof *c->run))
        return no_memory(row->path, p);
    c->run[c->runs] = (struct gathered_run){run, row->line};
    if (!c->first) {
        c->first = strdup(row->field[RESULTS_RESULT_BITS]);
        c->result = strdup(row->field[RESULTS_RESULT]);
        if (!c->first || !c->result)
            return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
    }
    return results_parse_bits(&c->bits[c->runs++], row, p);
}

/* The figures that are read of a row. */
enum { RESULT, EXACT, ABS, REL, ULP, BACKWARD, BOUND, SHARE, TIME, FIGURES };

static enum status read_figures(struct figure f[FIGURES], const struct csv_row *row,
                                struct problem *p)
{
    static const enum results_column column[FIGURES] = {
        [RESULT] = RESULTS_RESULT, [EXACT] = RESULTS_EXACT,
        [ABS] = RESULTS_ERR_ABS,   [REL] = RESULTS_ERR_REL,
        [ULP] = RESULTS_ERR_ULP,   [BACKWARD] = RESULTS_ERR_BACKWARD,
        [BOUND] = RESULTS_BOUND,   [SHARE] = RESULTS_ERR_OVER_BOUND,
        [TIME] = RESULTS_TIME_NS};
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < FIGURES; i++)
        status = csv_figure(row, column[i], results_column(column[i])->name, &f[i], p);
    return status;
}

/* sum|x| of what a row shows, which of a product is its first element. */
static struct figure size_of_first(const struct gathered_case *c, const struct figure f[FIGURES])
{
    if (f[EXACT].known && f[EXACT].value != 0 && c->cond_log2.known)
        return (struct figure){true, fabs(f[EXACT].value) * exp2(c->cond_log2.value)};
    return (struct figure){0};
}

/* sum|x|, as far as a row tells. */
static struct figure size_of(const struct gathered_case *c, const struct figure f[FIGURES])
{
    if (f[ABS].known && f[BACKWARD].known && f[BACKWARD].value > 0)
        return (struct figure){true, f[ABS].value / f[BACKWARD].value};
    return size_of_first(c, f);
}

/* Of arrays each figure is that of another output, and the bound that of one that is shown. */
static void take_figures(struct gathered_case *c, const struct figure f[FIGURES],
                         enum columns_of of)
{
    const bool arrays = columns_of_arrays(of);
    const struct figure first = size_of_first(c, f);
    struct figure size = size_of(c, f);
    if (c->runs == 1) {
        c->first_result = f[RESULT];
        c->first_exact = f[EXACT];
    }
    bool below = f[RESULT].known && f[EXACT].known && f[RESULT].value < f[EXACT].value;
    double sign = below && !arrays ? -1 : 1;
    c->offset[c->runs - 1] = f[ULP].known ? sign * f[ULP].value : NAN;
    gathered_raise(&c->err_ulp, f[ULP]);
    gathered_raise(&c->err_rel, f[REL]);
    gathered_raise(&c->err_backward, f[BACKWARD]);
    gathered_raise(&c->err_over_bound, f[SHARE]);
    if (!arrays && f[BOUND].known && size.known && isfinite(size.value) && size.value > 0)
        gathered_raise(&c->bound, (struct figure){true, f[BOUND].value / size.value});
    if (of == COLUMNS_OF_PRODUCTS && f[BOUND].known && first.known && first.value > 0)
        gathered_raise(&c->first_bound, (struct figure){true, f[BOUND].value / first.value});
    if (f[TIME].known && !(c->time_ns.known && c->time_ns.value <= f[TIME].value))
        c->time_ns = f[TIME];
}

/* Which output of a scan the largest error so far is of; before it is raised. */
static enum status take_worst(struct gathered_case *c, const struct figure ulp,
                              const struct csv_row *row, size_t column, struct problem *p)
{
    if (!ulp.known || (c->err_ulp.known && !figure_worse(ulp.value, c->err_ulp.value)))
        return STATUS_OK;
    return csv_figure(row, column, "worst_index", &c->worst_index, p);
}

static enum status take_result(void *context, const struct csv_row *row, struct problem *p)
{
    struct gathered *g = context;
    struct gathered_case *c = NULL;
    struct figure f[FIGURES];
    enum status status = case_of(g, row, results_case_column, &c, p);
    if (status == STATUS_OK)
        status = results_check_status(row, p);
    if (status != STATUS_OK)
        return status;
    if (!*row->field[RESULTS_RESULT_BITS]) {
        snprintf(c->status, sizeof c->status, "%s", row->field[RESULTS_STATUS]);
        return STATUS_OK;
    }
    status = results_check(row, p);
    if (status == STATUS_OK)
        status = take_bits(c, row, p);
    if (status == STATUS_OK)
        status = read_figures(f, row, p);
    if (status == STATUS_OK && g->of == COLUMNS_OF_SCANS)
        status = take_worst(c, f[ULP], row, RESULTS_WORST_INDEX, p);
    if (status == STATUS_OK)
        take_figures(c, f, g->of);
    if (status == STATUS_OK && !columns_of_arrays(g->of))
        c->right_infinity |= f[RESULT].known && isinf(f[RESULT].value) &&
                             strcmp(row->field[RESULTS_STATUS], "ok") == 0;
    return status;
}

static int by_number(const void *a, const void *b)
{
    const struct gathered_run *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->line > y->line) - (x->line < y->line);
}

/* A row that stands twice, as in files that somebody joined, would count as two runs. */
static enum status check_once(const struct gathered *g, struct gathered_case *c, struct problem *p)
{
    if (c->runs > 0)
        qsort(c->run, c->runs, sizeof *c->run, by_number);
    for (size_t i = 1; i < c->runs; i++)
        if (c->run[i].number == c->run[i - 1].number)
            return problem(p, STATUS_DATA,
                           "%s/results.csv: line %zu: run: found '%llu', which line %zu has too, "
                           "expected each once: edited",
                           g->path, c->run[i].line, (unsigned long long)c->run[i].number,
                           c->run[i - 1].line);
    return STATUS_OK;
}

static int by_bits(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct hash128));
}

static void sort_results(struct gathered_case *c)
{
    if (c->runs == 0)
        return;
    qsort(c->bits, c->runs, sizeof *c->bits, by_bits);
    for (size_t i = 0; i < c->runs; i++)
        if (i == 0 || by_bits(&c->bits[c->distinct - 1], &c->bits[i]) != 0)
            c->bits[c->distinct++] = c->bits[i];
}

enum status gathered_results(struct gathered *g, struct problem *p)
{
    static const struct rows_file file = {"results.csv", results_columns, results_column_of,
                                          take_result};
    enum status status = read_file(g, &file, p);
    for (size_t i = 0; status == STATUS_OK && i < g->count; i++) {
        status = check_once(g, &g->item[i], p);
        sort_results(&g->item[i]);
    }
    return status;
}

enum status gathered_read(struct gathered *g, const char *path, struct problem *p)
{
    char *results = NULL;
    enum status status = gathered_study(g, path, p);
    if (status == STATUS_OK && asprintf(&results, "%s/results.csv", path) < 0)
        return no_memory(path, p);
    const char *experiment = json_string_value(json_object_get(g->study, "experiment"));
    if (status == STATUS_OK && access(results, F_OK) != 0 && errno == ENOENT)
        status = problem(p, STATUS_DATA,
                         "%s: found no such file beside a study.json of `%s`, expected the results "
                         "of a study (trial and steps have none)",
                         results, experiment ? experiment : "");
    free(results);
    return status == STATUS_OK ? gathered_results(g, p) : status;
}

/* --- summary.csv, gathered by case, of a study whose rows were not kept --- */

static enum status take_summary(void *context, const struct csv_row *row, struct problem *p)
{
    struct gathered *g = context;
    struct gathered_case *c = NULL;
    uint64_t distinct = 0;
    enum status status = case_of(g, row, summary_case_column, &c, p);
    if (status == STATUS_OK)
        status = csv_whole(row, SUMMARY_RUNS, "runs", &c->runs, p);
    if (status == STATUS_OK && c->runs > 0)
        status = csv_whole(row, SUMMARY_DISTINCT, "distinct", &distinct, p);
    if (status == STATUS_OK)
        status = csv_figure(row, SUMMARY_ERR_ULP_MAX, "err_ulp_max", &c->err_ulp, p);
    if (status == STATUS_OK && g->of == COLUMNS_OF_SCANS)
        status = csv_figure(row, SUMMARY_WORST_INDEX, "worst_index", &c->worst_index, p);
    if (status == STATUS_OK)
        status = csv_figure(row, SUMMARY_ERR_OVER_BOUND_MAX, "err_over_bound_max",
                            &c->err_over_bound, p);
    if (status == STATUS_OK)
        c->distinct = distinct;
    return status;
}

enum status gathered_summary(struct gathered *g, struct problem *p)
{
    static const struct rows_file file = {"summary.csv", summary_columns, summary_column_of,
                                          take_summary};
    return read_file(g, &file, p);
}
