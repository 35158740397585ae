/* A results directory, gathered by case. */
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "experiments/gathered.h"
#include "reports/csv_file.h"
#include "reports/study.h"

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
    return problem(p, STATUS_DEVICE, "%s: out of memory", path);
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

static bool is_there(enum columns_of of, size_t column)
{
    return column < CASE_COLUMNS ||
           (column == CASE_PRODUCT ? of == COLUMNS_OF_DOTS : of == COLUMNS_OF_SCANS);
}

/* A new case with the columns of the row. */
static enum status add_case(struct gathered *g, const struct csv_row *row, struct problem *p)
{
    if (g->count == g->capacity) {
        size_t capacity = 2 * g->capacity + 64;
        struct gathered_case *grown = realloc(g->item, capacity * sizeof *grown);
        if (!grown)
            return no_memory(row->path, p);
        g->item = grown;
        g->capacity = capacity;
    }
    struct gathered_case *c = &g->item[g->count++];
    *c = (struct gathered_case){0};
    for (size_t i = 0; i < CASE_ALL; i++) {
        c->field[i] = strdup(is_there(g->of, i) ? row->field[results_case_column(i)] : "");
        if (!c->field[i])
            return no_memory(row->path, p);
    }
    enum status status =
        csv_figure(row, results_case_column(CASE_COND_LOG2), "cond_log2", &c->cond_log2, p);
    uint64_t n = 0;
    if (status == STATUS_OK)
        status = csv_whole(row, results_case_column(CASE_N), "n", &n, p);
    c->n = (double)n;
    return status == STATUS_OK ? read_promise(c, row, p) : status;
}

struct gathered_case *gathered_named(struct gathered *g, const char *id)
{
    struct named wanted = {(char *)id, 0}, **found = tfind(&wanted, &g->by_id, by_id);
    return found ? &g->item[(*found)->index] : NULL;
}

/* The case of a row: rows of a case need not stand together. */
static enum status case_of(struct gathered *g, const struct csv_row *row,
                           struct gathered_case **found, struct problem *p)
{
    if (!*row->field[RESULTS_CASE_ID])
        return problem(p, STATUS_DATA, "%s: line %zu: case_id: found '', expected a case's",
                       row->path, row->line);
    *found = gathered_named(g, row->field[RESULTS_CASE_ID]);
    if (*found)
        return STATUS_OK;
    enum status status = add_case(g, row, p);
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

/* An encoding, or a hash of many: 0x and up to 32 hexadecimal digits. */
static enum status read_bits(struct hash128 *bits, const struct csv_row *row, struct problem *p)
{
    const char *text = row->field[RESULTS_RESULT_BITS];
    size_t digits = strncmp(text, "0x", 2) == 0 ? strlen(text + 2) : 0;
    if (digits == 0 || digits > 32 || strspn(text + 2, "0123456789abcdefABCDEF") != digits)
        return problem(p, STATUS_DATA,
                       "%s: line %zu: result_bits: found '%s', expected 0x and hexadecimal digits",
                       row->path, row->line, text);
    *bits = (struct hash128){{0, 0}};
    for (const char *c = text + 2; *c; c++) {
        uint64_t digit = (uint64_t)(*c <= '9' ? *c - '0' : (*c | 0x20) - 'a' + 10);
        bits->word[0] = bits->word[0] << 4 | bits->word[1] >> 60;
        bits->word[1] = bits->word[1] << 4 | digit;
    }
    return STATUS_OK;
}

static enum status take_bits(struct gathered_case *c, const struct csv_row *row, struct problem *p)
{
    if (c->runs == c->capacity) {
        size_t capacity = 2 * c->capacity + 4;
        struct hash128 *bits = realloc(c->bits, capacity * sizeof *bits);
        c->bits = bits ? bits : c->bits;
        double *offset = realloc(c->offset, capacity * sizeof *offset);
        c->offset = offset ? offset : c->offset;
        if (!bits || !offset)
            return no_memory(row->path, p);
        c->capacity = capacity;
    }
    if (!c->first) {
        c->first = strdup(row->field[RESULTS_RESULT_BITS]);
        c->result = strdup(row->field[RESULTS_RESULT]);
        if (!c->first || !c->result)
            return no_memory(row->path, p);
    }
    return read_bits(&c->bits[c->runs++], row, p);
}

void gathered_raise(struct figure *most, struct figure f)
{
    if (f.known && (!most->known || !(f.value <= most->value)))
        *most = f;
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

/* sum|x|, as far as a row tells. */
static struct figure size_of(const struct gathered_case *c, const struct figure f[FIGURES])
{
    if (f[ABS].known && f[BACKWARD].known && f[BACKWARD].value > 0)
        return (struct figure){true, f[ABS].value / f[BACKWARD].value};
    if (f[EXACT].known && f[EXACT].value != 0 && c->cond_log2.known)
        return (struct figure){true, fabs(f[EXACT].value) * exp2(c->cond_log2.value)};
    return (struct figure){0};
}

static void take_figures(struct gathered_case *c, const struct figure f[FIGURES])
{
    struct figure size = size_of(c, f);
    double sign = f[RESULT].known && f[EXACT].known && f[RESULT].value < f[EXACT].value ? -1 : 1;
    c->offset[c->runs - 1] = f[ULP].known ? sign * f[ULP].value : NAN;
    gathered_raise(&c->err_ulp, f[ULP]);
    gathered_raise(&c->err_rel, f[REL]);
    gathered_raise(&c->err_backward, f[BACKWARD]);
    gathered_raise(&c->err_over_bound, f[SHARE]);
    if (f[BOUND].known && size.known && isfinite(size.value) && size.value > 0)
        gathered_raise(&c->bound, (struct figure){true, f[BOUND].value / size.value});
    if (f[TIME].known && !(c->time_ns.known && c->time_ns.value <= f[TIME].value))
        c->time_ns = f[TIME];
}

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct gathered *g = context;
    struct gathered_case *c = NULL;
    struct figure f[FIGURES];
    enum status status = case_of(g, row, &c, p);
    if (status != STATUS_OK)
        return status;
    if (!*row->field[RESULTS_RESULT_BITS]) {
        snprintf(c->status, sizeof c->status, "%s", row->field[RESULTS_STATUS]);
        return STATUS_OK;
    }
    status = take_bits(c, row, p);
    if (status == STATUS_OK)
        status = read_figures(f, row, p);
    if (status == STATUS_OK)
        take_figures(c, f);
    return status;
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

/* What the file is of, by how many columns it has. Any trouble is for csv_read to tell. */
static enum columns_of columns_in(const char *path)
{
    char *line = NULL;
    size_t capacity = 0, columns = 1;
    enum columns_of of = COLUMNS_OF_DOTS;
    FILE *file = fopen(path, "re");
    if (file && getline(&line, &capacity, file) > 0)
        for (const char *c = line; *c; c++)
            columns += *c == ',';
    free(line);
    if (file)
        fclose(file);
    while (of > COLUMNS_OF_SUMS && results_columns(of) != columns)
        of--;
    return of;
}

static enum status read_results(struct gathered *g, const char *path, struct problem *p)
{
    uint64_t whole;
    struct stat facts;
    g->of = columns_in(path);
    enum status status =
        csv_read(path, results_column_of(g->of), results_columns(g->of), take, g, &whole, p);
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
    for (size_t i = 0; i < g->count; i++)
        sort_results(&g->item[i]);
    return STATUS_OK;
}

enum status gathered_read(struct gathered *g, const char *path, struct problem *p)
{
    char *study = NULL, *results = NULL;
    enum status status = STATUS_OK;
    *g = (struct gathered){.path = path};
    if (asprintf(&study, "%s/study.json", path) < 0)
        study = NULL;
    if (asprintf(&results, "%s/results.csv", path) < 0)
        results = NULL;
    if (!study || !results)
        status = no_memory(path, p);
    if (status == STATUS_OK)
        status = study_read(&g->study, study, p);
    if (status == STATUS_OK)
        status = read_results(g, results, p);
    free(study);
    free(results);
    return status;
}

void gathered_free(struct gathered *g)
{
    tdestroy(g->by_id, free);
    for (size_t i = 0; i < g->count; i++) {
        struct gathered_case *c = &g->item[i];
        for (size_t k = 0; k < CASE_ALL; k++)
            free(c->field[k]);
        free(c->bits);
        free(c->offset);
        free(c->first);
        free(c->result);
    }
    free(g->item);
    json_decref(g->study);
    *g = (struct gathered){0};
}

const char *gathered_machine(const struct gathered *g)
{
    const json_t *machine = json_object_get(g->study, "machine"),
                 *gpu = json_array_get(json_object_get(machine, "gpus"), 0);
    const char *name =
        json_string_value(json_object_get(gpu ? gpu : machine, gpu ? "name" : "cpu"));
    return name ? name : "a machine that study.json does not name";
}

const char *gathered_word(const struct gathered *g, const char *object, const char *name)
{
    const json_t *from = object ? json_object_get(g->study, object) : g->study;
    const char *word = json_string_value(json_object_get(from, name));
    return word ? word : "";
}
