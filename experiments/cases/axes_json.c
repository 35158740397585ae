/* Axes as study.json has them: each a list of words that options would take. */
#include "experiments/cases/axes.h"
#include "experiments/cases/experiment.h"
#include "reference/format/number.h"
#include "reports/results/study.h"

static json_t *wholes(const struct numbers *numbers)
{
    json_t *list = json_array();
    for (size_t i = 0; i < numbers->count; i++)
        json_array_append_new(list, json_sprintf("%llu", (unsigned long long)numbers->item[i]));
    return list;
}

static json_t *reals(const double *real, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        char digits[NUMBER_TEXT];
        number_decimal(digits, real[i]);
        json_array_append_new(list, json_string(digits));
    }
    return list;
}

static json_t *one_word(const char *word)
{
    json_t *list = json_array();
    if (word)
        json_array_append_new(list, json_string(word));
    return list;
}

static json_t *methods(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->methods; i++)
        json_array_append_new(list, json_string(axes->method[i]->name));
    return list;
}

static json_t *devices(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->devices; i++) {
        char name[DEVICE_TEXT];
        device_name(axes->device[i], name);
        json_array_append_new(list, json_string(name));
    }
    return list;
}

static json_t *inputs(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->inputs; i++) {
        char name[INPUT_TEXT];
        input_name(&axes->input[i], name);
        json_array_append_new(list, json_string(name));
    }
    return list;
}

static json_t *paths(const struct list *files)
{
    json_t *list = json_array();
    for (size_t i = 0; i < files->count; i++) {
        json_array_append_new(list, study_path(files->item[i]));
    }
    return list;
}

static json_t *format_pairs(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->pairs.count; i++)
        json_array_append_new(list,
                              json_sprintf("%s/%s", format_facts[axes->pairs.item[i].storage].name,
                                           format_facts[axes->pairs.item[i].accumulator].name));
    return list;
}

static json_t *storages(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->data_storage.count; i++)
        json_array_append_new(list, json_string(format_facts[axes->data_storage.item[i]].name));
    return list;
}

static json_t *scans(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->setting.scans; i++)
        json_array_append_new(list, json_string(scan_name[axes->setting.scan[i]]));
    return list;
}

static json_t *outputs(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->setting.outputs; i++)
        json_array_append_new(list, json_string(output_name[axes->setting.output[i]]));
    return list;
}

static json_t *products(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->setting.products; i++)
        json_array_append_new(list, json_string(product_name[axes->setting.product[i]]));
    return list;
}

static json_t *keys(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->setting.keys; i++) {
        json_array_append_new(list, study_path(axes->setting.key[i].asked));
    }
    return list;
}

static json_t *layouts(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->setting.layouts; i++)
        json_array_append_new(list, json_string(axes->setting.layout[i].name));
    return list;
}

static json_t *shapes(const struct axes *axes)
{
    json_t *list = json_array();
    char text[SHAPE_NAME];
    for (size_t i = 0; i < axes->setting.shapes; i++) {
        shape_name(text, &axes->setting.shape[i]);
        json_array_append_new(list, json_string(text));
    }
    return list;
}

static json_t *chips(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->setting.chips; i++)
        json_array_append_new(list, json_string(axes->setting.chip[i]));
    return list;
}

static json_t *loads(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->loads; i++)
        json_array_append_new(list, json_string(load_name[axes->load[i]]));
    return list;
}

static json_t *runs(uint64_t count)
{
    json_t *list = json_array();
    json_array_append_new(list, json_sprintf("%llu", (unsigned long long)count));
    return list;
}

json_t *axes_json(const struct axes *axes)
{
    json_t *entry[AXES] = {
        [AXIS_METHOD] = methods(axes),
        [AXIS_DEVICE] = devices(axes),
        [AXIS_INPUT] = inputs(axes),
        [AXIS_DATA] = paths(&axes->data),
        [AXIS_N] = wholes(&axes->n),
        [AXIS_COND] = reals(axes->cond, axes->conds),
        [AXIS_SEED] = wholes(&axes->seed),
        [AXIS_THREADS] = wholes(&axes->threads),
        [AXIS_BLOCKS] = wholes(&axes->blocks),
        [AXIS_SCAN] = scans(axes),
        [AXIS_OUTPUT] = outputs(axes),
        [AXIS_SEGMENT] = wholes(&axes->setting.segment),
        [AXIS_PRODUCT] = products(axes),
        [AXIS_SHIFT] = wholes(&axes->setting.shift),
        [AXIS_KEYS] = keys(axes),
        [AXIS_BINS] = wholes(&axes->setting.bins),
        [AXIS_ROWS] = wholes(&axes->setting.rows),
        [AXIS_LAYOUT] = layouts(axes),
        [AXIS_KEEP] = wholes(&axes->setting.keep),
        [AXIS_SHAPE] = shapes(axes),
        [AXIS_RANKS] = wholes(&axes->setting.ranks),
        [AXIS_CHIP] = chips(axes),
        [AXIS_PROMOTE] = wholes(&axes->setting.promote),
        [AXIS_WORKSPACE] = wholes(&axes->setting.workspace),
        [AXIS_ALGORITHM] = wholes(&axes->setting.algorithm),
        [AXIS_SCALES] = paths(&axes->setting.scales),
        [AXIS_TIMED] = runs(axes->timed),
        [AXIS_LOAD] = loads(axes),
        [AXIS_WEIGHT] = json_array(), /* `run steps` says which */
        [AXIS_RUNS] = runs(axes->runs[DEVICE_CPU]),
        [AXIS_REFERENCE] = one_word(axes->reference == REFERENCE_MPFR ? "mpfr" : "fast"),
        [AXIS_CONVERT] = one_word(axes->convert ? "yes" : NULL),
        [AXIS_SATURATE] = one_word(axes->saturate ? "yes" : NULL),
        [AXIS_RAW] = one_word(axes->raw ? "yes" : NULL),
        [AXIS_FORMATS] = format_pairs(axes),
        [AXIS_DATA_STORAGE] = storages(axes),
        [AXIS_DATA_N] = wholes(&axes->data_n),
        [AXIS_RUNS_CUDA] = runs(axes->runs[DEVICE_CUDA]),
        [AXIS_METHOD_NAMED] = one_word(axes->method_named ? "yes" : NULL),
        [AXIS_COND_NAMED] = one_word(axes->cond_named ? "yes" : NULL),
    };
    json_t *object = json_object();
    bool good = object != NULL;
    for (size_t i = 0; i < AXES; i++)
        if (axis_recorded(axes->experiment, i) &&
            (!axis_where_asked(i) || json_array_size(entry[i]) > 0))
            good = json_object_set_new(object, axis_name[i], entry[i]) == 0 && good;
        else
            json_decref(entry[i]);
    if (!good)
        json_decref(object);
    return good ? object : NULL;
}
