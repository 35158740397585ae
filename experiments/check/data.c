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

static enum status read_file(struct check_request *r, const char *path, size_t format,
                             const struct data_options *options, struct problem *p)
{
    if (!grow(&r->file, r->files, sizeof *r->file))
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    struct check_file *file = &r->file[r->files];
    *file = (struct check_file){.asked = escaped(path), .format = format};
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
        status = read_file(r, paths->item[i / formats], i % formats, &options, p);
    }
    if (status == STATUS_OK && paths->count > 0 && r->datas == 0)
        status = problem(p, STATUS_DATA, "%s: found no elements, expected some to check on",
                         paths->item[0]);
    return status;
}

/* A length that none of the data have would be left out, and nobody would miss it; and more ranks
 * than elements divide no length. */
static enum status lengths(const struct check_request *r, struct problem *p)
{
    const struct check_data *longest = r->data;
    for (size_t i = 1; i < r->datas; i++)
        longest = r->data[i].array.n > longest->array.n ? &r->data[i] : longest;
    for (size_t i = 0; i < r->n.count && r->datas > 0 && r->inputs == 0; i++)
        if (r->n.item[i] > longest->array.n)
            return problem(p, STATUS_USAGE, "option --n: found %llu, but %s has %zu elements",
                           (unsigned long long)r->n.item[i], longest->name, longest->array.n);
    for (size_t i = 0; i < r->setting.ranks.count && r->datas > 0 && r->inputs == 0; i++)
        if (r->setting.ranks.item[i] > longest->array.n)
            return problem(p, STATUS_USAGE,
                           "option --ranks: found %llu, but %s has %zu element%s, expected as many "
                           "ranks at most",
                           (unsigned long long)r->setting.ranks.item[i], longest->name,
                           longest->array.n, text_s(longest->array.n));
    return STATUS_OK;
}

/* Names of --data, each of which was read in every format of --storage. */
static size_t listed(const struct check_request *r)
{
    return r->files ? r->files / (r->file[r->files - 1].format + 1) : 0;
}

/* Files may be one array, and longer: check_join_files knows. */
enum status check_data_lengths(const struct check_request *r, struct problem *p)
{
    return listed(r) > 1 || r->named > 1 ? STATUS_OK : lengths(r, p);
}

/* --- files that are one array --- */

/* The arrays of one format of --storage, in the order of --data. They stay the files'. */
static size_t parts(struct data *part, const struct check_request *r, size_t format)
{
    const size_t formats = r->files / listed(r), times = listed(r) > 1 ? 1 : 2;
    size_t count = 0;
    for (size_t time = 0; time < times; time++)
        for (size_t i = format; i < r->files; i += formats)
            for (size_t k = 0; k < r->file[i].set.count; k++) {
                if (part)
                    part[count] = r->file[i].set.item[k];
                count++;
            }
    return count;
}

/* Is another shape asked for than that of the files, and how much of their elements it takes, as a
 * counterexample made small does? Then they are A, B and C one after the other. */
static bool is_part(const struct check_request *one, const struct data *part, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += part[i].array.n;
    return one->setting.shapes > 0 && one->n.count == 1 && one->n.item[0] < n;
}

static enum status join(struct check_joined *to, struct check_request *one,
                        const struct operation *o, size_t format, struct problem *p)
{
    const size_t formats = one->files / listed(one);
    const struct check_file *file = &one->file[format];
    const size_t count = parts(NULL, one, format);
    struct data *part = malloc(count * sizeof *part), made;
    enum status status = STATUS_OK;
    if (!part || !grow(&to->set.item, to->set.count, sizeof made) ||
        !grow(&to->data, to->set.count, sizeof *to->data))
        status = problem(p, STATUS_MEMORY, "check: out of memory");
    if (status == STATUS_OK) {
        parts(part, one, format);
        status = setting_join(&made, o, part, count,
                              is_part(one, part, count) ? NULL : &one->setting, p);
    }
    if (status == STATUS_OK) {
        to->data[to->set.count] =
            (struct check_data){.asked = file->asked,
                                .second = file[listed(one) > 1 ? formats : 0].asked,
                                .name = made.name,
                                .array = made.array,
                                .converted = part[0].converted,
                                .saturated = part[0].saturated};
        to->set.item[to->set.count++] = made;
    }
    free(part);
    return status;
}

enum status check_join_files(struct check_request *one, struct check_joined *joined,
                             const struct operation *o, struct problem *p)
{
    const size_t names = listed(one);
    const struct gemm_shape *asked = one->setting.shape;
    enum status status = STATUS_OK;
    *joined = (struct check_joined){0};
    if (names + (one->named > 1) < 2)
        return STATUS_OK;
    if (!operation_joins(o))
        return lengths(one, p);
    if (one->named > names && one->named > 2)
        return problem(p, STATUS_USAGE,
                       "option --data: found %zu files, of which %zu differ, expected two, or "
                       "one file twice",
                       one->named, names);
    for (size_t i = 0; i < one->files / names && status == STATUS_OK; i++)
        status = join(joined, one, o, i, p);
    if (one->setting.shape != asked)
        joined->shape = one->setting.shape;
    one->data = joined->data;
    one->datas = joined->set.count;
    for (size_t i = 0; i < one->n.count && one->inputs == 0 && status == STATUS_OK; i++)
        if (one->n.item[i] > one->data->array.n ||
            (one->n.item[i] < one->data->array.n && joined->shape))
            status =
                problem(p, STATUS_USAGE,
                        "option --n: found %llu, but %s has %zu elements, expected as many, "
                        "or none",
                        (unsigned long long)one->n.item[i], one->data->name, one->data->array.n);
    return status;
}

void check_joined_free(struct check_joined *joined)
{
    data_free(&joined->set);
    free(joined->data);
    free(joined->shape);
    *joined = (struct check_joined){0};
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
