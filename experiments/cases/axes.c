#include "experiments/cases/axes.h"

#include <math.h>
#include <stdlib.h>

#include "reference/base/grow.h"
#include "experiments/cases/experiment.h"
#include "experiments/subjects/subject.h"
#include "reports/text/near.h"

#define RUNS_MAX 1000000000

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_MEMORY, "out of memory while resolving the axes");
}

enum { OWN_TEXT = 192 };

static const char *article(const struct operation *o)
{
    return strchr("aeiou", *o->name) ? "an" : "a";
}

/* "a norm or a mean", and the families of all of them. */
static void describe_operations(const struct experiment *e, char name[OWN_TEXT],
                                char known[SUBJECT_NAMES])
{
    *name = *known = 0;
    for (size_t i = 0; i < EXPERIMENT_OPERATIONS && e->operation[i]; i++) {
        size_t named = strlen(name);
        snprintf(name + named, OWN_TEXT - named, "%s%s %s", i ? " or " : "",
                 article(e->operation[i]), e->operation[i]->name);
        subject_families(known, SUBJECT_NAMES, e->operation[i]);
    }
}

static enum status add_method(struct axes *axes, const char *name, struct problem *p)
{
    const struct experiment *e = axes->experiment;
    const struct method *m;
    char known[SUBJECT_NAMES], own[OWN_TEXT], others[128] = "";
    enum status status = subject_named(&m, "option --method", name, experiment_only(e), p);
    if (status != STATUS_OK)
        return status;
    if (experiment_takes(e, m->operation)) {
        axes->method[axes->methods++] = m;
        return STATUS_OK;
    }
    experiments_of(others, sizeof others, m->operation);
    if (operation_takes(m->operation) && !e->operation[0])
        return problem(p, STATUS_USAGE,
                       "option --method: found %s, which takes %s (see run %s), expected a method "
                       "that reads elements alone",
                       name, operation_takes(m->operation), others);
    describe_operations(e, own, known);
    return problem(p, STATUS_USAGE,
                   "option --method: found %s, %s %s (see run %s); %s takes %s: expected one of %s",
                   name, article(m->operation), m->operation->name, others, e->name, own, known);
}

static enum status resolve_methods(struct axes *axes, const struct request *r, struct problem *p)
{
    struct list otherwise = {0};
    const struct list *asked = &r->axis[AXIS_METHOD];
    const char *own = axes->experiment->method;
    enum status status = STATUS_OK;
    axes->method_named = r->axis[AXIS_METHOD_NAMED].count > 0;
    if (asked->count == 0 && own) {
        status = list_split(&otherwise, own, p);
        asked = &otherwise;
    }
    axes->method = calloc(asked->count + method_count, sizeof *axes->method);
    if (!axes->method)
        status = no_memory(p);
    for (size_t i = 0; status == STATUS_OK && asked->count == 0 && i < method_count; i++)
        if (experiment_takes(axes->experiment, method_registry[i]->operation))
            axes->method[axes->methods++] = method_registry[i];
    for (size_t i = 0; status == STATUS_OK && i < asked->count; i++)
        status = add_method(axes, asked->item[i], p);
    list_free(&otherwise);
    return status;
}

static enum status resolve_devices(struct axes *axes, const struct request *r, struct problem *p)
{
    const struct list *asked = &r->axis[AXIS_DEVICE];
    axes->device = calloc(asked->count + 1, sizeof *axes->device);
    if (!axes->device)
        return no_memory(p);
    axes->devices = asked->count ? asked->count : 1;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < axes->devices; i++)
        status = device_parse(&axes->device[i], asked->count ? asked->item[i] : "auto", p);
    return status;
}

static enum device_kind kind_of_defaults(const struct axes *axes)
{
    for (size_t i = 0; i < axes->devices; i++)
        if (axes->device[i].kind == DEVICE_CPU)
            return DEVICE_CPU;
    return DEVICE_CUDA;
}

enum status axes_words(struct list *list, const struct list *asked, const char *otherwise,
                       struct problem *p)
{
    enum status status = STATUS_OK;
    *list = (struct list){0};
    for (size_t i = 0; status == STATUS_OK && i < asked->count; i++)
        status = list_append(list, asked->item[i], strlen(asked->item[i]), p);
    return asked->count == 0 && otherwise ? list_split(list, otherwise, p) : status;
}

static enum status resolve_formats(struct axes *axes, const struct request *r, struct problem *p)
{
    struct formats storage, accumulator;
    struct list pairs;
    const char *defaults = axes->experiment->axes[kind_of_defaults(axes)].formats;
    enum status status = axes_words(&pairs, &r->axis[AXIS_FORMATS], defaults, p);
    for (size_t i = 0; status == STATUS_OK && i < pairs.count; i++)
        status = pairs_parse(&axes->pairs, pairs.item[i], p);
    list_free(&pairs);
    if (status == STATUS_OK)
        status = formats_parse(&storage, "storage", &r->axis[AXIS_STORAGE], p);
    if (status == STATUS_OK)
        status = formats_parse(&accumulator, "accumulator", &r->axis[AXIS_ACCUMULATOR], p);
    if (status != STATUS_OK)
        return status;
    pairs_narrow(&axes->pairs, &storage, &accumulator);
    axes->data_storage = storage;
    return storage.count
               ? STATUS_OK
               : formats_parse(&axes->data_storage, "storage", &r->axis[AXIS_DATA_STORAGE], p);
}

/* Are they those that the experiment has where nobody asks, as a study repeated names them? */
static enum status find_own(struct axes *axes, const char *defaults, struct problem *p)
{
    struct list list = {0};
    struct input in;
    char own[INPUT_TEXT], asked[INPUT_TEXT];
    enum status status = defaults ? list_split(&list, defaults, p) : STATUS_OK;
    axes->inputs_own = list.count == axes->inputs;
    for (size_t i = 0; status == STATUS_OK && axes->inputs_own && i < list.count; i++) {
        status = input_parse(&in, list.item[i], p);
        if (status != STATUS_OK)
            break;
        input_name(&in, own);
        input_name(&axes->input[i], asked);
        axes->inputs_own = strcmp(own, asked) == 0;
    }
    list_free(&list);
    return status;
}

static enum status resolve_inputs(struct axes *axes, const struct request *r, struct problem *p)
{
    struct list list;
    const char *defaults = axes->experiment->axes[kind_of_defaults(axes)].input;
    enum status status = axes_words(&axes->data, &r->axis[AXIS_DATA], NULL, p);
    if (status == STATUS_OK)
        status = axes_words(&list, &r->axis[AXIS_INPUT], axes->data.count ? NULL : defaults, p);
    else
        return status;
    axes->input = calloc(list.count + 1, sizeof *axes->input);
    if (!axes->input)
        status = no_memory(p);
    for (size_t i = 0; status == STATUS_OK && i < list.count; i++)
        status = input_parse(&axes->input[axes->inputs++], list.item[i], p);
    list_free(&list);
    if (status == STATUS_OK)
        status = find_own(axes, defaults, p);
    axes->convert = r->axis[AXIS_CONVERT].count > 0;
    axes->saturate = r->axis[AXIS_SATURATE].count > 0;
    axes->raw = r->axis[AXIS_RAW].count > 0;
    return status;
}

enum status axes_numbers(struct numbers *numbers, const struct request *r, enum axis axis,
                         const char *otherwise, enum range range, uint64_t least, uint64_t most,
                         struct problem *p)
{
    struct list list;
    enum status status = axes_words(&list, &r->axis[axis], otherwise, p);
    for (size_t i = 0; status == STATUS_OK && i < list.count; i++)
        status = numbers_parse(numbers, axis_name[axis], list.item[i], range, least, most, p);
    list_free(&list);
    return status;
}

static enum status add_cond(struct axes *axes, double cond, const char *text, struct problem *p)
{
    if (!(cond >= 1))
        return problem(p, STATUS_USAGE, "option --cond: found '%s', expected a number from 1 on",
                       text);
    if (!grow(&axes->cond, axes->conds, sizeof *axes->cond))
        return no_memory(p);
    axes->cond[axes->conds++] = cond;
    return STATUS_OK;
}

/* A part of a text, as a number. */
static enum status parse_part(double *value, const char *part, size_t length, struct problem *p)
{
    char copy[128]; /* what is cut is too long anyway */
    snprintf(copy, sizeof copy, "%.*s", length < sizeof copy ? (int)length : 127, part);
    return real_parse(value, "cond", copy, p);
}

/* A number, a doubling range FROM..TO, or FROM..TOxFACTOR. */
static enum status parse_cond(struct axes *axes, const char *text, struct problem *p)
{
    double from, to, factor = 2;
    const char *dots = strstr(text, ".."), *end = dots ? dots + 2 : text;
    const char *times = dots ? strchr(end, 'x') : NULL;
    enum status status = parse_part(&from, text, dots ? (size_t)(dots - text) : strlen(text), p);
    if (status == STATUS_OK)
        status = parse_part(&to, end, times ? (size_t)(times - end) : strlen(end), p);
    if (status == STATUS_OK && times)
        status = parse_part(&factor, times + 1, strlen(times + 1), p);
    if (status == STATUS_OK && from > to)
        status = problem(p, STATUS_USAGE,
                         "option --cond: found the range '%s', expected it to ascend", text);
    if (status == STATUS_OK && !(factor > 1.001))
        status = problem(p, STATUS_USAGE,
                         "option --cond: found the range '%s', expected a factor above 1 behind "
                         "the x",
                         text);
    for (double cond = from; status == STATUS_OK && cond <= to; cond *= factor)
        status = add_cond(axes, cond, text, p);
    return status;
}

static enum status resolve_conds(struct axes *axes, const struct request *r, struct problem *p)
{
    struct list list;
    const char *defaults = axes->experiment->axes[kind_of_defaults(axes)].cond;
    enum status status = axes_words(&list, &r->axis[AXIS_COND], defaults, p);
    axes->cond_named = r->axis[AXIS_COND_NAMED].count > 0;
    for (size_t i = 0; status == STATUS_OK && i < list.count; i++)
        status = parse_cond(axes, list.item[i], p);
    list_free(&list);
    return status;
}

static enum status resolve_runs(struct axes *axes, const struct request *r, struct problem *p)
{
    for (enum device_kind d = 0; d < DEVICE_KINDS; d++) {
        struct numbers runs = {0};
        enum axis axis =
            d == DEVICE_CUDA && r->axis[AXIS_RUNS_CUDA].count ? AXIS_RUNS_CUDA : AXIS_RUNS;
        enum status status = axes_numbers(&runs, r, axis, NULL, RANGE_DOUBLING, 1, RUNS_MAX, p);
        if (status == STATUS_OK && runs.count > 1)
            status = problem(p, STATUS_USAGE, "option --runs: found %zu numbers, expected one",
                             runs.count);
        axes->runs[d] = runs.count ? runs.item[0] : axes->experiment->axes[d].runs;
        numbers_free(&runs);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status resolve_reference(struct axes *axes, const struct request *r, struct problem *p)
{
    const struct list *asked = &r->axis[AXIS_REFERENCE];
    const char *name = asked->count == 1 ? asked->item[0] : asked->count ? "several" : "fast";
    axes->reference = strcmp(name, "mpfr") == 0 ? REFERENCE_MPFR : REFERENCE_FAST;
    return axes->reference == REFERENCE_MPFR || strcmp(name, "fast") == 0
               ? STATUS_OK
               : near_unknown_option(p, "reference", name, "fast or mpfr");
}

static enum status resolve_threads(struct axes *axes, const struct request *r, struct problem *p)
{
    const char *defaults = axes->experiment->axes[kind_of_defaults(axes)].threads;
    return axes_numbers(&axes->threads, r, AXIS_THREADS, defaults ? defaults : "0", RANGE_DOUBLING,
                        0, THREADS_MAX, p);
}

static enum status resolve_timed(struct axes *axes, const struct request *r, struct problem *p)
{
    const char *defaults = axes->experiment->axes[kind_of_defaults(axes)].timed;
    struct numbers n = {0};
    char others[128];
    experiments_that(others, sizeof others, experiment_times);
    if (!defaults && r->axis[AXIS_TIMED].count > 0)
        return problem(p, STATUS_USAGE,
                       "option --timed: found '%s' with %s, which times nothing: expected it with "
                       "an experiment that does: %s",
                       r->axis[AXIS_TIMED].item[0], axes->experiment->name, others);
    enum status status =
        axes_numbers(&n, r, AXIS_TIMED, defaults, RANGE_DOUBLING, 1, MEMORY_ELEMENTS_MAX, p);
    if (status == STATUS_OK && n.count > 1)
        status =
            problem(p, STATUS_USAGE, "option --timed: found %zu numbers, expected one", n.count);
    axes->timed = n.count > 0 ? n.item[0] : 0;
    numbers_free(&n);
    return status;
}

static enum status resolve_sizes(struct axes *axes, const struct request *r, struct problem *p)
{
    const struct experiment_axes *defaults = &axes->experiment->axes[kind_of_defaults(axes)];
    enum axis data_n = r->axis[AXIS_DATA_N].count ? AXIS_DATA_N : AXIS_N;
    enum status status = STATUS_OK;
    if (axes->inputs > 0)
        status = axes_numbers(&axes->n, r, AXIS_N, defaults->n, RANGE_DOUBLING, 0,
                              MEMORY_ELEMENTS_MAX, p);
    if (status == STATUS_OK && axes->data.count > 0)
        status =
            axes_numbers(&axes->data_n, r, data_n, NULL, RANGE_DOUBLING, 0, MEMORY_ELEMENTS_MAX, p);
    if (status == STATUS_OK)
        status = resolve_conds(axes, r, p);
    return status;
}

enum status axes_resolve(struct axes *axes, const struct experiment *e, const struct request *r,
                         struct problem *p)
{
    *axes = (struct axes){.experiment = e};
    enum status status = resolve_methods(axes, r, p);
    if (status == STATUS_OK)
        status = resolve_devices(axes, r, p);
    if (status == STATUS_OK)
        status = resolve_formats(axes, r, p);
    if (status == STATUS_OK)
        status = resolve_inputs(axes, r, p);
    if (status == STATUS_OK)
        status = resolve_sizes(axes, r, p);
    if (status == STATUS_OK)
        status = axes_numbers(&axes->seed, r, AXIS_SEED, "1", RANGE_EVERY, 0, UINT64_MAX, p);
    if (status == STATUS_OK)
        status = resolve_threads(axes, r, p);
    if (status == STATUS_OK)
        status = axes_numbers(&axes->blocks, r, AXIS_BLOCKS, "0", RANGE_DOUBLING, 0, BLOCKS_MAX, p);
    if (status == STATUS_OK)
        status = axes_resolve_setting(axes, r, p);
    if (status == STATUS_OK)
        status = axes_resolve_load(axes, r, axes->experiment->axes[kind_of_defaults(axes)].load, p);
    if (status == STATUS_OK)
        status = resolve_timed(axes, r, p);
    if (status == STATUS_OK)
        status = resolve_runs(axes, r, p);
    return status == STATUS_OK ? resolve_reference(axes, r, p) : status;
}

void axes_free(struct axes *axes)
{
    free(axes->method);
    free(axes->device);
    free(axes->input);
    free(axes->cond);
    list_free(&axes->data);
    data_free(&axes->joined);
    numbers_free(&axes->n);
    numbers_free(&axes->data_n);
    numbers_free(&axes->seed);
    numbers_free(&axes->threads);
    numbers_free(&axes->blocks);
    numbers_free(&axes->setting.segment);
    numbers_free(&axes->setting.shift);
    numbers_free(&axes->setting.bins);
    numbers_free(&axes->setting.rows);
    numbers_free(&axes->setting.ranks);
    numbers_free(&axes->setting.promote);
    numbers_free(&axes->setting.workspace);
    numbers_free(&axes->setting.algorithm);
    free(axes->setting.chip);
    numbers_free(&axes->setting.keep);
    free(axes->setting.layout);
    free(axes->setting.shape);
    list_free(&axes->setting.scales);
    scales_free(axes->setting.given);
    for (size_t i = 0; i < axes->setting.keys; i++)
        keys_free(&axes->setting.key[i]);
    free(axes->setting.key);
    *axes = (struct axes){0};
}
