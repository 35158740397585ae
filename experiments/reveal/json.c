#include <stdlib.h>

#include "experiments/reveal/report.h"
#include "experiments/operations/operation.h"
#include "reference/format/number.h"

static const char *const verdict_name[] = {
    [REVEAL_TREE] = "tree",
    [REVEAL_EXACT] = "exact",
    [REVEAL_OUT_OF_REACH] = "out_of_reach",
    [REVEAL_CONTRADICTION] = "contradiction",
    [REVEAL_CHANGES] = "changes",
    [REVEAL_DATA] = "depends_on_data",
    [REVEAL_FALSE] = "depends_on_data_or_not_in_pairs",
    [REVEAL_OTHERWISE] = "not_in_pairs",
    [REVEAL_NO_SUM] = "no_sum",
};

static json_t *integers(const uint32_t *item, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_integer(item[i]));
    return array;
}

/* Node `elements` + k has the children nodes[k]; nodes below `elements` are elements. */
static json_t *tree_json(const struct sum_tree *t)
{
    struct sum_tree_nodes nodes;
    json_t *additions = json_array();
    if (sum_tree_nodes_make(&nodes, t, NULL) != STATUS_OK)
        return additions;
    for (size_t k = 0; k < t->additions; k++)
        json_array_append_new(additions,
                              integers(t->child + t->begin[k], t->begin[k + 1] - t->begin[k]));
    json_t *tree =
        json_pack("{so so}", "nodes", additions, "depth", integers(nodes.depth, t->leaves));
    free(nodes.parent);
    return tree;
}

static const char *declared_name(const struct reveal_beside *d)
{
    if (!d->asked || !d->shown)
        return d->asked ? "not_shown" : "none";
    return d->difference.equal ? "equal" : "different";
}

static json_t *window_json(const struct reveal_window *w)
{
    char mask[NUMBER_TEXT], unit[NUMBER_TEXT];
    number_hex(mask, w->mask);
    number_hex(unit, w->unit);
    if (w->bits == 0)
        return json_null();
    if (w->means == REVEAL_BY_TIES)
        return json_pack("{ss ss ss}", "by", "ties", "mask", mask, "unit", unit);
    if (w->means == REVEAL_BY_OVERFLOW)
        return json_pack("{ss ss}", "by", "overflow", "large", mask);
    return json_pack("{ss ss ss si}", "by", "masks", "mask", mask, "unit", unit, "elements_a_call",
                     (int)w->bits);
}

/* How many arrays the tree was held to, and of how many the bits were others. */
static json_t *held_json(const struct reveal_held *h)
{
    return json_pack("{sI sI ss}", "arrays", (json_int_t)h->arrays, "differing",
                     (json_int_t)h->differing, "by", h->permuted ? "permutations" : "bits");
}

json_t *reveal_report_json(const struct reveal_report *r)
{
    const struct probe_spec *s = &r->of.spec;
    const struct reveal *f = &r->found;
    struct shape shape = method_shape(s->method, s->device.kind, s->n, s->shape);
    bool scan = operation_asks(s->method->operation, SETTING_SCAN);
    char device[DEVICE_TEXT];
    device_name(s->device, device);
    return json_pack(
        "{ss ss ss ss ss sI so so so so sI sI ss so sI sI sb sb ss? ss so so}", "method",
        s->method->name, "device", device, "storage", format_facts[s->storage].name, "accumulator",
        format_facts[s->accumulator].name, "output", format_facts[s->output].name, "n",
        (json_int_t)s->n, "threads", shape.threads ? json_integer(shape.threads) : json_null(),
        "blocks", shape.blocks ? json_integer(shape.blocks) : json_null(), "prefix",
        scan ? json_integer((json_int_t)r->of.prefix) : json_null(), "exclusive",
        scan ? json_boolean(s->exclusive) : json_null(), "first", (json_int_t)r->first, "elements",
        (json_int_t)r->leaves, "verdict", verdict_name[f->verdict], "asked",
        window_json(&f->window), "calls", (json_int_t)f->calls, "checks", (json_int_t)f->checks,
        "sampled", (int)f->sampled, "keeps_losses", (int)f->kept, "words",
        *f->words ? f->words : NULL, "declared", declared_name(&r->declared), "tree",
        f->verdict == REVEAL_TREE || f->held.fits ? tree_json(&f->tree) : json_null(), "held",
        held_json(&f->held));
}
