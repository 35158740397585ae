#include "experiments/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "experiments/experiment.h"
#include "experiments/tally.h"

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_DEVICE, "out of memory while listing the cases");
}

void case_id_text(char text[CASE_ID_TEXT], uint64_t id)
{
    snprintf(text, CASE_ID_TEXT, "%016" PRIx64, id);
}

/* Nothing of the machine. Changing this text changes the ids of all cases: that is another schema
 * version. */
uint64_t case_id(const struct trial *t, const struct source *s)
{
    struct text text = {0};
    char device[DEVICE_TEXT];
    device_name(t->device, device);
    text_format(&text, "method=%s\ndevice=%s\nstorage=%s\naccumulator=%s\ninput=%s\nn=%zu\n",
                t->method->name, device, format_facts[s->array.format].name,
                format_facts[t->accumulator].name, s->name, s->array.n);
    if (s->generated)
        text_format(&text, "seed=%" PRIu64 "\n", s->seed);
    else
        text_format(&text, "hash=%s\n", s->hash);
    text_format(&text, "threads=%u\nblocks=%u\n", t->shape.threads, t->shape.blocks);
    if (t->method->operation == &operation_scan)
        text_format(&text, "scan=%s\noutput=%s\nsegment=%zu\n", scan_name[t->exclusive],
                    format_facts[t->output].name, t->segment);
    if (t->product != PRODUCT_NONE)
        text_format(&text, "product=%s\n", product_name[t->product]);
    if (t->keys)
        text_format(&text, "keys=%s %s\nbins=%zu\nkey_seed=%" PRIu64 "\n", t->keys->name,
                    t->keys->hash, t->bins, t->key_seed);
    if (t->method->operation->matrix)
        text_format(&text, "rows=%zu\nlayout=%s\n", t->bins, t->layout ? t->layout->name : "");
    if (t->method->operation->mask)
        text_format(&text, "keep=%zu\n", t->keep);
    if (t->load != LOAD_IDLE)
        text_format(&text, "load=%s\n", load_name[t->load]);
    uint64_t id = XXH64(text.data, text.length, 0);
    text_free(&text);
    return id;
}

const char *trial_keys(const struct trial *t, char text[TRIAL_KEYS_TEXT])
{
    if (t->keys)
        return t->keys->name;
    if (t->layout)
        return t->layout->name;
    snprintf(text, TRIAL_KEYS_TEXT, "keep:%zu", t->keep);
    return t->method->operation->mask ? text : t->method->operation->matrix ? "transposed" : "";
}

/* The slot of an id, or the empty one where it belongs. */
static uint32_t *slot_of(const struct plan *plan, uint64_t id)
{
    size_t at = id & (plan->slots - 1);
    while (plan->slot[at] && plan->trial[plan->slot[at] - 1].id != id)
        at = (at + 1) & (plan->slots - 1);
    return &plan->slot[at];
}

struct trial *plan_find(const struct plan *plan, uint64_t id)
{
    uint32_t found = plan->slots ? *slot_of(plan, id) : 0;
    return found ? &plan->trial[found - 1] : NULL;
}

/* Room for one more case, with at least half of the slots empty. */
static enum status grow(struct plan *plan, struct problem *p)
{
    if (plan->trials < plan->trials_capacity)
        return STATUS_OK;
    size_t capacity = plan->trials_capacity ? 2 * plan->trials_capacity : 256;
    if (capacity >= UINT32_MAX / 4)
        return problem(p, STATUS_USAGE, "more than %zu cases were asked for", plan->trials);
    struct trial *grown = realloc(plan->trial, capacity * sizeof *grown);
    if (grown)
        plan->trial = grown;
    uint32_t *slot = calloc(2 * capacity, sizeof *slot);
    if (!grown || !slot) {
        free(slot);
        return no_memory(p);
    }
    free(plan->slot);
    plan->slot = slot;
    plan->slots = 2 * capacity;
    plan->trials_capacity = capacity;
    for (size_t i = 0; i < plan->trials; i++)
        *slot_of(plan, plan->trial[i].id) = (uint32_t)i + 1;
    return STATUS_OK;
}

static enum status add_trial(struct plan *plan, struct trial t, struct problem *p)
{
    enum status status = grow(plan, p);
    if (status != STATUS_OK)
        return status;
    t.id = case_id(&t, &plan->source[t.source]);
    uint32_t *slot = slot_of(plan, t.id);
    if (*slot) /* what it asks for makes no difference to the method */
        return STATUS_OK;
    plan->trial[plan->trials++] = t;
    *slot = (uint32_t)plan->trials;
    plan->source[t.source].cases++;
    return STATUS_OK;
}

/* The cases of its launch shapes. */
static enum status add_shapes(struct plan *plan, struct trial t, struct problem *p)
{
    const struct axes *axes = plan->axes;
    const struct source *s = &plan->source[t.source];
    enum status status = STATUS_OK;
    t.supported = method_supports(t.method, t.device.kind, s->array.format, t.accumulator) &&
                  (t.product == t.method->product || (t.method->products & 1u << t.product));
    t.runs = t.supported ? axes->runs[t.device.kind] : 0;
    if (!t.supported)
        return axes->method_named ? add_trial(plan, t, p) : STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < axes->threads.count; i++)
        for (size_t k = 0; status == STATUS_OK && k < axes->blocks.count; k++) {
            struct shape asked = {(unsigned)axes->threads.item[i], (unsigned)axes->blocks.item[k]};
            t.shape = method_shape(t.method, t.device.kind, s->array.n, asked);
            for (size_t l = 0; status == STATUS_OK && l < axes->loads; l++) {
                t.load = axes->load[l];
                status = add_trial(plan, t, p);
            }
        }
    return status;
}

/* Into bins, by every kind of keys. Those of data are of the first seed. */
static enum status add_scatters(struct plan *plan, struct trial t, struct problem *p)
{
    const struct axes *axes = plan->axes;
    const struct source *s = &plan->source[t.source];
    enum status status = STATUS_OK;
    for (size_t k = 0; k < axes->keys; k++)
        for (size_t b = 0; status == STATUS_OK && b < axes->bins.count; b++) {
            t.keys = &axes->key[k];
            t.bins = axes->bins.item[b];
            t.key_seed = t.keys->kind == KEYS_FILE ? 0
                         : s->generated            ? s->seed
                                                   : axes->seed.item[0];
            status = keys_fit(t.keys, s->array.n, t.bins, p);
            if (status == STATUS_OK)
                status = add_shapes(plan, t, p);
        }
    return status;
}

/* Of matrices of so many rows, which lie so where they are summed; or by masks. */
static enum status add_matrices(struct plan *plan, struct trial t, struct problem *p)
{
    static const struct layout rows = {LAYOUT_ROW, 0, "row"};
    const struct axes *axes = plan->axes;
    const struct operation *o = t.method->operation;
    const struct numbers *each = o->mask ? &axes->keep : &axes->rows;
    size_t n = plan->source[t.source].array.n, stride;
    size_t layouts = o == &operation_rows ? axes->layouts : 1;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < each->count; i++)
        for (size_t k = 0; status == STATUS_OK && k < layouts; k++) {
            t.keep = o->mask ? (size_t)each->item[i] : 0;
            t.bins = o->mask ? 0 : layout_rows(n, (size_t)each->item[i]);
            t.layout = o == &operation_rows ? &axes->layout[k] : NULL;
            if (o->matrix)
                status = layout_stride(&stride, t.layout ? t.layout : &rows, n, t.bins, p);
            if (status == STATUS_OK)
                status = add_shapes(plan, t, p);
        }
    return status;
}

/* The cases of one method, device and accumulator. Of scans: what outputs cover, their format, and
 * segments where the method heeds them; of dot products: how products are formed. */
static enum status add_kinds(struct plan *plan, struct trial t, struct problem *p)
{
    const struct axes *axes = plan->axes;
    enum format storage = plan->source[t.source].array.format;
    enum status status = STATUS_OK;
    t.output = t.accumulator;
    t.product = t.method->product;
    for (size_t i = 0; status == STATUS_OK && t.product != PRODUCT_NONE && i < axes->products;
         i++) {
        t.product = axes->product[i];
        status = add_shapes(plan, t, p);
    }
    if (t.product != PRODUCT_NONE && axes->products > 0)
        return status;
    if (t.method->operation->keys)
        return add_scatters(plan, t, p);
    if (!operation_plain(t.method->operation))
        return add_matrices(plan, t, p);
    if (t.method->operation != &operation_scan)
        return add_shapes(plan, t, p);
    for (size_t i = 0; i < axes->scans; i++)
        for (size_t k = 0; k < axes->outputs; k++)
            for (size_t s = 0; status == STATUS_OK && s < axes->segment.count; s++) {
                t.exclusive = axes->scan[i] == SCAN_EXCLUSIVE;
                t.output = axes->output[k] == OUTPUT_STORAGE ? storage : t.accumulator;
                t.segment = t.method->segmented ? axes->segment.item[s] : 0;
                status = add_shapes(plan, t, p);
            }
    return status;
}

/* Appends a source and its cases; drops it where it has none of its own. The plan owns it. */
static enum status add_source(struct plan *plan, const struct source *source, struct problem *p)
{
    const struct axes *axes = plan->axes;
    if (plan->sources == plan->sources_capacity) {
        size_t capacity = 2 * plan->sources_capacity + 16;
        struct source *grown = realloc(plan->source, capacity * sizeof *grown);
        if (!grown) {
            struct source lost = *source;
            source_free(&lost);
            return no_memory(p);
        }
        plan->source = grown;
        plan->sources_capacity = capacity;
    }
    struct source *s = &plan->source[plan->sources++];
    *s = *source;
    s->first = plan->trials;
    struct formats accumulator;
    enum status status = STATUS_OK;
    pairs_with(&accumulator, &axes->pairs, s->array.format);
    for (size_t d = 0; d < axes->devices; d++)
        for (size_t m = 0; m < axes->methods; m++)
            for (size_t a = 0; status == STATUS_OK && a < accumulator.count; a++)
                status = add_kinds(plan,
                                   (struct trial){.source = plan->sources - 1,
                                                  .method = axes->method[m],
                                                  .device = axes->device[d],
                                                  .accumulator = accumulator.item[a]},
                                   p);
    if (status == STATUS_OK && s->cases == 0)
        source_free(&plan->source[--plan->sources]);
    return status;
}

/* The storage formats among the pairs. */
static void storages_of(struct formats *storage, const struct pairs *pairs)
{
    storage->count = 0;
    for (enum format f = 0; f < FORMATS; f++)
        for (size_t i = 0; i < pairs->count; i++)
            if (pairs->item[i].storage == f) {
                storage->item[storage->count++] = f;
                break;
            }
}

bool plan_leaves_out(const struct axes *axes, const struct input *in, const struct source *s)
{
    return axes->conds > 0 && !axes->cond_named && source_takes_cond(in) &&
           !(input_reaches(&s->input, s->array.n, 0, s->array.format) &&
             input_order_safe(&s->input, s->array.n, 0, s->array.format));
}

/* Are they of an operation on two arrays? */
static bool takes_pairs(const struct axes *axes)
{
    const struct operation *only = experiment_only(axes->experiment);
    return only && only->inputs == 2;
}

static enum status add_input(struct plan *plan, const struct input *in, size_t n, double cond,
                             struct problem *p)
{
    const struct axes *axes = plan->axes;
    struct formats storage;
    enum status status = STATUS_OK;
    storages_of(&storage, &axes->pairs);
    for (size_t k = 0; k < axes->seed.count; k++)
        for (size_t i = 0; status == STATUS_OK && i < storage.count; i++) {
            struct source s;
            status = source_generated(&s, in, storage.item[i], n, axes->seed.item[k], cond, p);
            if (status == STATUS_OK && takes_pairs(axes))
                source_pair(&s);
            if (status == STATUS_OK && plan_leaves_out(axes, in, &s)) {
                plan->left_out++;
                source_free(&s);
            } else if (status == STATUS_OK) {
                status = add_source(plan, &s, p);
            }
        }
    return status;
}

static enum status add_inputs(struct plan *plan, struct problem *p)
{
    const struct axes *axes = plan->axes;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < axes->inputs; i++)
        for (size_t k = 0; k < axes->n.count; k++) {
            const struct input *in = &axes->input[i];
            size_t n = axes->n.item[k], conds = axes->conds ? axes->conds : 1;
            for (size_t c = 0; status == STATUS_OK && c < conds; c++)
                status = add_input(plan, in, n, axes->conds ? axes->cond[c] : 0, p);
        }
    return status;
}

/* The first n elements of data; for dot products against themselves, with every shift. */
static enum status add_data_part(struct plan *plan, const struct data *data, size_t n,
                                 struct problem *p)
{
    const struct axes *axes = plan->axes;
    size_t count = takes_pairs(axes) ? axes->shift.count : 1;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        struct source s;
        status = source_data(&s, data, n, p);
        if (status == STATUS_OK && takes_pairs(axes)) {
            status = source_shift(&s, axes->shift.item[i], p);
            if (status != STATUS_OK)
                source_free(&s);
        }
        if (status == STATUS_OK)
            status = add_source(plan, &s, p);
    }
    return status;
}

static enum status add_data_set(struct plan *plan, const struct data_set *set, struct problem *p)
{
    const struct numbers *n = &plan->axes->data_n;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; status == STATUS_OK && k < (n->count ? n->count : 1); k++)
            status =
                add_data_part(plan, &set->item[i], n->count ? n->item[k] : set->item[i].array.n, p);
    return status;
}

static enum status add_data(struct plan *plan, struct problem *p)
{
    const struct axes *axes = plan->axes;
    size_t storages = axes->data_storage.count ? axes->data_storage.count : 1;
    enum status status = STATUS_OK;
    plan->data = calloc(axes->data.count * storages + 1, sizeof *plan->data);
    if (!plan->data)
        return no_memory(p);
    for (size_t i = 0; i < axes->data.count; i++)
        for (size_t k = 0; status == STATUS_OK && k < storages; k++) {
            struct data_options options = {
                axes->data_storage.count ? axes->data_storage.item[k] : FORMATS, axes->convert};
            struct data_set *set = &plan->data[plan->data_sets];
            if (k > 0 && strcmp(axes->data.item[i], "-") == 0)
                return problem(p, STATUS_USAGE,
                               "option --data: standard input can be read only once: expected one "
                               "--storage");
            status = data_read(set, axes->data.item[i], &options, p);
            plan->data_sets += status == STATUS_OK;
            if (status == STATUS_OK)
                status = add_data_set(plan, set, p);
        }
    return status;
}

enum status plan_make(struct plan *plan, const struct axes *axes, struct problem *p)
{
    *plan = (struct plan){.axes = axes};
    enum status status = add_data(plan, p);
    if (status == STATUS_OK)
        status = add_inputs(plan, p);
    if (status == STATUS_OK && plan->trials == 0)
        status = problem(p, STATUS_USAGE,
                         "%s: nothing to run: no method supports these formats on this device",
                         axes->experiment->name);
    return status;
}

void trial_forget(struct trial *t)
{
    if (t->earlier)
        tally_free(t->earlier);
    free(t->earlier);
    t->earlier = NULL;
}

void plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->sources; i++)
        source_free(&plan->source[i]);
    for (size_t i = 0; i < plan->data_sets; i++)
        data_free(&plan->data[i]);
    for (size_t i = 0; i < plan->trials; i++)
        trial_forget(&plan->trial[i]);
    free(plan->source);
    free(plan->data);
    free(plan->trial);
    free(plan->slot);
    *plan = (struct plan){0};
}
