/* A results directory, gathered by case. */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "reports/results/gathered.h"
#include "reports/text/file.h"
#include "reports/results/study.h"

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

/* A new case with the columns of the row. */
static enum status add_case(struct gathered *g, const struct csv_row *row, size_t (*field)(size_t),
                            struct problem *p)
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
enum status gathered_case_of(struct gathered *g, const struct csv_row *row, size_t (*field)(size_t),
                             struct gathered_case **found, struct problem *p)
{
    if (!*row->field[field(CASE_ID)])
        return problem(p, STATUS_DATA, "%s: line %zu: case_id: found '', expected a case's",
                       row->path, row->line);
    *found = gathered_named(g, row->field[field(CASE_ID)]);
    if (*found)
        return gathered_check(g, *found, row, field, false, p);
    enum status status = add_case(g, row, field, p);
    if (status == STATUS_OK)
        status = gathered_check(g, &g->item[g->count - 1], row, field, true, p);
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

/* What a file is of, by how many columns it has, or had in the first version. Any trouble is for
 * csv_read to tell. */
static enum columns_of columns_in(const char *path, const struct gathered_file *f)
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
    while (of > COLUMNS_OF_SUMS && f->columns(of) != columns &&
           columns_first(f->column_of(of), f->columns(of)) != columns)
        of--;
    return of;
}

static enum status read_whole(struct gathered *g, const char *path, const struct gathered_file *f,
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

enum status gathered_file(struct gathered *g, const struct gathered_file *f, struct problem *p)
{
    char *path;
    if (asprintf(&path, "%s/%s", g->path, f->name) < 0)
        return no_memory(g->path, p);
    enum status status = read_whole(g, path, f, p);
    free(path);
    return status;
}

enum status gathered_study(struct gathered *g, const char *path, struct problem *p)
{
    char *study;
    *g = (struct gathered){.path = path};
    if (asprintf(&study, "%s/study.json", path) < 0)
        return no_memory(path, p);
    enum status status = study_read(&g->study, study, p);
    free(study);
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
