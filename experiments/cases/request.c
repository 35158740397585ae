/* Requests: the words of the command line, completed by those of a study.json. */
#include <stdlib.h>

#include "experiments/cases/axes.h"
#include "experiments/cases/experiment.h"
#include "experiments/options/subject_name.h"
#include "reference/base/visible.h"

const char *const axis_name[AXES] = {
    [AXIS_METHOD] = "method",
    [AXIS_DEVICE] = "device",
    [AXIS_STORAGE] = "storage",
    [AXIS_ACCUMULATOR] = "accumulator",
    [AXIS_INPUT] = "input",
    [AXIS_DATA] = "data",
    [AXIS_N] = "n",
    [AXIS_COND] = "cond",
    [AXIS_SEED] = "seed",
    [AXIS_THREADS] = "threads",
    [AXIS_BLOCKS] = "blocks",
    [AXIS_SCAN] = "scan",
    [AXIS_OUTPUT] = "output",
    [AXIS_SEGMENT] = "segment",
    [AXIS_PRODUCT] = "product",
    [AXIS_SHIFT] = "shift",
    [AXIS_KEYS] = "keys",
    [AXIS_BINS] = "bins",
    [AXIS_ROWS] = "rows",
    [AXIS_LAYOUT] = "layout",
    [AXIS_KEEP] = "keep",
    [AXIS_SHAPE] = "shape",
    [AXIS_RANKS] = "ranks",
    [AXIS_CHIP] = "chip",
    [AXIS_PROMOTE] = "promote",
    [AXIS_WORKSPACE] = "workspace",
    [AXIS_ALGORITHM] = "algorithm",
    [AXIS_SCALES] = "scales",
    [AXIS_TIMED] = "timed",
    [AXIS_LOAD] = "load",
    [AXIS_SECONDS] = "seconds",
    [AXIS_BATCH] = "batch",
    [AXIS_WEIGHT] = "weight",
    [AXIS_RUNS] = "runs",
    [AXIS_REFERENCE] = "reference",
    [AXIS_CONVERT] = "convert",
    [AXIS_SATURATE] = "saturate",
    [AXIS_RAW] = "raw",
    [AXIS_FORMATS] = "formats",
    [AXIS_DATA_STORAGE] = "data_storage",
    [AXIS_DATA_N] = "data_n",
    [AXIS_RUNS_CUDA] = "runs_cuda",
    [AXIS_METHOD_NAMED] = "method_named",
    [AXIS_COND_NAMED] = "cond_named",
};

enum status request_arguments(struct request *r, const struct arguments *a, struct problem *p)
{
    *r = (struct request){0};
    for (size_t i = 0; i < AXIS_CONVERT; i++) {
        enum status status = argument_list(a, axis_name[i], &r->axis[i], p);
        if (status != STATUS_OK)
            return status;
    }
    if (r->axis[AXIS_METHOD].count > 0)
        list_split(&r->axis[AXIS_METHOD_NAMED], "yes", p);
    if (r->axis[AXIS_COND].count > 0)
        list_split(&r->axis[AXIS_COND_NAMED], "yes", p);
    for (size_t i = AXIS_CONVERT; i <= AXIS_RAW; i++)
        if (argument_flag(a, axis_name[i]))
            list_split(&r->axis[i], "yes", p);
    return p->status;
}

enum status request_operation(const struct request *r, const struct arguments *a, struct problem *p)
{
    const char *name = argument_value(a, "operation");
    const struct list *methods = &r->axis[AXIS_METHOD];
    bool read = !name;
    for (size_t i = 0; i < methods->count; i++)
        read |= name_is_python(methods->item[i]);
    return read
               ? STATUS_OK
               : problem(p, STATUS_USAGE,
                         "%s: found --operation %s, which says what python: functions compute, and "
                         "none with --method: expected no --operation",
                         a->verb->name, name);
}

/* Paths are escaped in JSON. */
static enum status append_word(struct list *list, const char *word, bool is_path, struct problem *p)
{
    char *path = is_path ? visible_unescape(word) : NULL;
    enum status status = is_path && !path
                             ? problem(p, STATUS_MEMORY, "out of memory while reading a study")
                             : list_append(list, path ? path : word, strlen(path ? path : word), p);
    free(path);
    return status;
}

/* An axis in study.json is a list of words. */
static enum status repeat_axis(struct list *list, const struct experiment *e, const json_t *words,
                               const char *axis, const char *path, struct problem *p)
{
    size_t i;
    json_t *word;
    enum status status = STATUS_OK;
    const bool in_order =
        strcmp(axis, axis_name[AXIS_DATA]) == 0 || strcmp(axis, axis_name[AXIS_SCALES]) == 0;
    const bool is_path = in_order || strcmp(axis, axis_name[AXIS_KEYS]) == 0;
    if (!json_is_array(words))
        return problem(p, STATUS_DATA, "%s: axis '%s': found none, expected a list", path, axis);
    json_array_foreach (words, i, word) {
        if (status == STATUS_OK && !json_is_string(word))
            status = problem(
                p, STATUS_DATA, "%s: axis '%s': entry %zu: found a JSON %s, expected a string",
                path, axis, i + 1, json_is_number(word) ? "number" : "value of another type");
        else if (status == STATUS_OK)
            status = append_word(list, json_string_value(word), is_path, p);
    }
    if (in_order && axes_joins(e, list->count))
        return status; /* A and B, or their scales, may be one file */
    return status == STATUS_OK ? list_distinct(list, p) : status;
}

/* What an option asks for speaks for the entries of study.json that were resolved from it too. */
static bool overruled(const struct request *r, enum axis axis)
{
    static const struct {
        enum axis entry, by;
    } resolved[] = {{AXIS_DATA_STORAGE, AXIS_STORAGE},
                    {AXIS_DATA_N, AXIS_N},
                    {AXIS_RUNS_CUDA, AXIS_RUNS},
                    {AXIS_METHOD_NAMED, AXIS_METHOD},
                    {AXIS_COND_NAMED, AXIS_COND}};
    for (size_t i = 0; i < sizeof resolved / sizeof *resolved; i++)
        if (axis == resolved[i].entry)
            return r->axis[resolved[i].by].count > 0;
    return r->axis[axis].count > 0;
}

/* What `check` reads. */
static bool of_checks(enum axis axis)
{
    static const enum axis read[] = {AXIS_METHOD, AXIS_DEVICE,  AXIS_FORMATS, AXIS_INPUT, AXIS_N,
                                     AXIS_SEED,   AXIS_THREADS, AXIS_BLOCKS,  AXIS_SCAN,  AXIS_KEYS,
                                     AXIS_BINS,   AXIS_SECONDS, AXIS_RUNS};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (axis == read[i])
            return true;
    return false;
}

bool axis_recorded(const struct experiment *e, enum axis axis)
{
    if (axis == AXIS_WEIGHT)
        return e == &experiment_steps;
    if (e->run && e != &experiment_steps)
        return of_checks(axis);
    if (axis >= AXIS_SCAN && axis <= AXIS_SCALES)
        return experiment_reads(e, axis - AXIS_SCAN);
    if (axis == AXIS_COND_NAMED)
        return experiment_conds(e);
    if (axis == AXIS_TIMED)
        return experiment_times(e);
    if (axis == AXIS_LOAD)
        return experiment_loads(e);
    if (axis == AXIS_SECONDS || axis == AXIS_BATCH)
        return false;
    return axis != AXIS_STORAGE && axis != AXIS_ACCUMULATOR;
}

enum status request_repeat(struct request *r, const struct experiment *e, const json_t *axes,
                           const char *path, struct problem *p)
{
    bool keep[AXES];
    for (size_t i = 0; i < AXES; i++)
        keep[i] = overruled(r, i) || !axis_recorded(e, i) ||
                  (axis_where_asked(i) && !json_object_get(axes, axis_name[i]));
    for (size_t i = 0; i < AXES; i++) {
        enum status status = keep[i]
                                 ? STATUS_OK
                                 : repeat_axis(&r->axis[i], e, json_object_get(axes, axis_name[i]),
                                               axis_name[i], path, p);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

void request_free(struct request *r)
{
    for (size_t i = 0; i < AXES; i++)
        list_free(&r->axis[i]);
}
