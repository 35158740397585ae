/* The user's own arrays, which promises are tried on. */
#include <stdlib.h>

#include "reference/base/grow.h"
#include "experiments/cases/axes.h"
#include "experiments/check/data.h"
#include "reports/text/text.h"

/* As the option takes it. */
static char *escaped(const char *path)
{
    struct text text = {0};
    for (; *path; path++)
        text_format(&text, "%s%c", *path == ',' ? "\\" : "", *path);
    const char *string = text_string(&text);
    char *copy = string ? strdup(string) : NULL;
    text_free(&text);
    return copy;
}

static enum status add(struct check_request *r, struct check_file *file, struct problem *p)
{
    const struct data_set *set = &file->set;
    struct check_data *grown = realloc(r->data, (r->datas + set->count) * sizeof *grown);
    if (!grown)
        return problem(p, STATUS_MEMORY, "%s: out of memory", file->asked);
    r->data = grown;
    for (size_t i = 0; i < set->count; i++)
        if (set->item[i].array.n > 0)
            r->data[r->datas++] = (struct check_data){.asked = file->asked,
                                                      .name = set->item[i].name,
                                                      .array = set->item[i].array,
                                                      .rows = set->item[i].rows,
                                                      .converted = set->item[i].converted,
                                                      .saturated = set->item[i].saturated};
    return STATUS_OK;
}

static enum status read_file(struct check_request *r, const char *path,
                             const struct data_options *options, struct problem *p)
{
    if (!grow(&r->file, r->files, sizeof *r->file))
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    struct check_file *file = &r->file[r->files];
    *file = (struct check_file){.asked = escaped(path)};
    if (!file->asked)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    r->files++;
    enum status status = data_read(&file->set, path, options, p);
    return status == STATUS_OK ? add(r, file, p) : status;
}

enum status check_read_data(struct check_request *r, const struct request *q, struct problem *p)
{
    const struct list *paths = &q->axis[AXIS_DATA];
    struct formats storage = {0};
    bool convert = q->axis[AXIS_CONVERT].count > 0, saturate = q->axis[AXIS_SATURATE].count > 0;
    enum status status = formats_parse(&storage, "storage", &q->axis[AXIS_STORAGE], p);
    size_t formats = storage.count ? storage.count : 1;
    if (status == STATUS_OK && (convert || saturate) && paths->count == 0)
        status = problem(p, STATUS_USAGE, "check: found --%s, expected it with --data",
                         convert ? "convert" : "saturate");
    for (size_t i = 0; i < paths->count * formats && status == STATUS_OK; i++) {
        struct data_options options = {.storage =
                                           storage.count ? storage.item[i % formats] : FORMATS,
                                       .convert = convert,
                                       .saturate = saturate,
                                       .raw = q->axis[AXIS_RAW].count > 0};
        status = read_file(r, paths->item[i / formats], &options, p);
    }
    if (status == STATUS_OK && paths->count > 0 && r->datas == 0)
        status = problem(p, STATUS_DATA, "%s: found no elements, expected some to check on",
                         paths->item[0]);
    return status;
}

/* A length that none of the data have would be left out, and nobody would miss it. */
enum status check_data_lengths(const struct check_request *r, struct problem *p)
{
    const struct check_data *longest = r->data;
    for (size_t i = 1; i < r->datas; i++)
        longest = r->data[i].array.n > longest->array.n ? &r->data[i] : longest;
    for (size_t i = 0; i < r->n.count && r->datas > 0 && r->inputs == 0; i++)
        if (r->n.item[i] > longest->array.n)
            return problem(p, STATUS_USAGE, "option --n: found %llu, but %s has %zu elements",
                           (unsigned long long)r->n.item[i], longest->name, longest->array.n);
    return STATUS_OK;
}

void check_data_free(struct check_request *r)
{
    for (size_t i = 0; i < r->files; i++) {
        data_free(&r->file[i].set);
        free(r->file[i].asked);
    }
    free(r->file);
    free(r->data);
    r->file = NULL;
    r->data = NULL;
    r->files = r->datas = 0;
}
