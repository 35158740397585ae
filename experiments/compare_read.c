/* A results directory, gathered by case. */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "experiments/compare.h"
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

static enum status read_promise(struct compare_case *c, const struct csv_row *row,
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
static enum status add_case(struct compare_side *side, const struct csv_row *row, struct problem *p)
{
    if (side->count == side->capacity) {
        size_t capacity = 2 * side->capacity + 64;
        struct compare_case *grown = realloc(side->item, capacity * sizeof *grown);
        if (!grown)
            return no_memory(row->path, p);
        side->item = grown;
        side->capacity = capacity;
    }
    struct compare_case *c = &side->item[side->count++];
    *c = (struct compare_case){0};
    for (size_t i = 0; i < CASE_ALL; i++) {
        c->field[i] = strdup(is_there(side->of, i) ? row->field[results_case_column(i)] : "");
        if (!c->field[i])
            return no_memory(row->path, p);
    }
    return read_promise(c, row, p);
}

struct compare_case *compare_case_named(struct compare_side *side, const char *id)
{
    struct named wanted = {(char *)id, 0}, **found = tfind(&wanted, &side->by_id, by_id);
    return found ? &side->item[(*found)->index] : NULL;
}

/* The case of a row: rows of a case need not stand together. */
static enum status case_of(struct compare_side *side, const struct csv_row *row,
                           struct compare_case **found, struct problem *p)
{
    if (!*row->field[RESULTS_CASE_ID])
        return problem(p, STATUS_DATA, "%s: line %zu: case_id: found '', expected a case's",
                       row->path, row->line);
    *found = compare_case_named(side, row->field[RESULTS_CASE_ID]);
    if (*found)
        return STATUS_OK;
    enum status status = add_case(side, row, p);
    if (status != STATUS_OK)
        return status;
    struct named *fresh = malloc(sizeof *fresh);
    if (!fresh)
        return no_memory(row->path, p);
    *found = &side->item[side->count - 1];
    *fresh = (struct named){(*found)->field[CASE_ID], side->count - 1};
    if (!tsearch(fresh, &side->by_id, by_id)) {
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

static enum status take_bits(struct compare_case *c, const struct csv_row *row, struct problem *p)
{
    if (c->runs == c->capacity) {
        size_t capacity = 2 * c->capacity + 4;
        struct hash128 *grown = realloc(c->bits, capacity * sizeof *grown);
        if (!grown)
            return no_memory(row->path, p);
        c->bits = grown;
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

void compare_raise(struct figure *most, struct figure f)
{
    if (f.known && (!most->known || !(f.value <= most->value)))
        *most = f;
}

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct compare_side *side = context;
    struct compare_case *c = NULL;
    struct figure ulp, share;
    enum status status = case_of(side, row, &c, p);
    if (status != STATUS_OK)
        return status;
    if (!*row->field[RESULTS_RESULT_BITS]) {
        snprintf(c->status, sizeof c->status, "%s", row->field[RESULTS_STATUS]);
        return STATUS_OK;
    }
    status = take_bits(c, row, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RESULTS_ERR_ULP, "err_ulp", &ulp, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RESULTS_ERR_OVER_BOUND, "err_over_bound", &share, p);
    if (status != STATUS_OK)
        return status;
    compare_raise(&c->err_ulp_max, ulp);
    compare_raise(&c->err_over_bound_max, share);
    return STATUS_OK;
}

static int by_bits(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct hash128));
}

static void sort_results(struct compare_case *c)
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

static enum status read_results(struct compare_side *side, const char *path, struct problem *p)
{
    uint64_t whole;
    struct stat facts;
    side->of = columns_in(path);
    enum status status = csv_read(path, results_column_of(side->of), results_columns(side->of),
                                  take, side, &whole, p);
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
    for (size_t i = 0; i < side->count; i++)
        sort_results(&side->item[i]);
    return STATUS_OK;
}

enum status compare_side_read(struct compare_side *side, const char *path, struct problem *p)
{
    char *study = NULL, *results = NULL;
    enum status status = STATUS_OK;
    *side = (struct compare_side){.path = path};
    if (asprintf(&study, "%s/study.json", path) < 0)
        study = NULL;
    if (asprintf(&results, "%s/results.csv", path) < 0)
        results = NULL;
    if (!study || !results)
        status = no_memory(path, p);
    if (status == STATUS_OK)
        status = study_read(&side->study, study, p);
    if (status == STATUS_OK)
        status = read_results(side, results, p);
    free(study);
    free(results);
    return status;
}

void compare_side_free(struct compare_side *side)
{
    tdestroy(side->by_id, free);
    for (size_t i = 0; i < side->count; i++) {
        struct compare_case *c = &side->item[i];
        for (size_t k = 0; k < CASE_ALL; k++)
            free(c->field[k]);
        free(c->bits);
        free(c->first);
        free(c->result);
    }
    free(side->item);
    json_decref(side->study);
    *side = (struct compare_side){0};
}
