#include "experiments/program/method_json.h"

static json_t *shape_names(unsigned flags)
{
    json_t *names = json_array();
    if (flags & SHAPE_THREADS)
        json_array_append_new(names, json_string("threads"));
    if (flags & SHAPE_BLOCKS)
        json_array_append_new(names, json_string("blocks"));
    return names;
}

/* "fp16/fp32" for storage fp16 added in fp32: the pairs supported in this build. */
static json_t *pair_names(const struct method *m, enum device_kind device)
{
    json_t *pairs = json_array();
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format a = 0; a < FORMATS; a++)
            if (method_supports(m, device, s, a))
                json_array_append_new(
                    pairs, json_sprintf("%s/%s", format_facts[s].name, format_facts[a].name));
    return pairs;
}

/* What additions are done in, by the accumulator asked for. */
static json_t *added_in(const struct method *m)
{
    char text[ADDED_IN_TEXT];
    json_t *words = json_object();
    for (enum format a = 0; a < FORMATS; a++)
        for (enum format s = 0; s < FORMATS; s++) {
            method_added_in(text, m, a);
            if (format_pairs_have(method_pairs(m, DEVICE_CPU), s, a) ||
                format_pairs_have(method_pairs(m, DEVICE_CUDA), s, a))
                json_object_set_new(words, format_facts[a].name, json_string(text));
        }
    return words;
}

json_t *method_json(const struct method *m)
{
    static const char *const device_name[DEVICE_KINDS] = {"cpu", "cuda"};
    json_t *devices = json_array(), *pairs = json_object(), *reads = json_object();
    for (enum device_kind d = 0; d < DEVICE_KINDS; d++) {
        json_t *supported = pair_names(m, d);
        if (json_array_size(supported) > 0) {
            json_array_append_new(devices, json_string(device_name[d]));
            json_object_set(pairs, device_name[d], supported);
            json_object_set_new(reads, device_name[d], shape_names(m->shape_read[d]));
        }
        json_decref(supported);
    }
    json_t *ways = json_array();
    for (enum product_kind k = PRODUCT_ROUNDED; k < PRODUCTS; k++)
        if (m->products & 1u << k)
            json_array_append_new(ways, json_string(product_name[k]));
    json_t *json =
        json_pack("{ss ss ss ss so so so so so ss so sb sb}", "name", m->name, "summary",
                  m->summary, "operation", m->operation->name, "promise", promise_name[m->promise],
                  "devices", devices, "pairs", pairs, "added_in", added_in(m), "reads", reads,
                  "order_depends_on", shape_names(m->shape_order), "bound", theorem_words(m->bound),
                  "folds", m->folds ? json_integer(m->folds) : json_null(), "fixed_order",
                  m->order != NULL, "segmented", m->segmented);
    json_t *beside = json_array();
    for (enum promise promise = PROMISES; promise < PROMISES_ALL; promise++)
        if (m->beside & 1u << promise)
            json_array_append_new(beside, json_string(promise_name[promise]));
    json_object_set_new(json, "beside", beside);
    if (m->no_c)
        json_object_set_new(json, "no_c", json_true());
    if (m->product == PRODUCT_NONE) {
        json_decref(ways);
        return json;
    }
    json_object_set_new(json, "products", ways);
    json_object_set_new(json, "product", json_string(product_name[m->product]));
    return json;
}
