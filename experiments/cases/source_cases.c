#include <stdlib.h>

#include "experiments/cases/experiment.h"
#include "experiments/cases/plan_parts.h"

/* The slot of an id, or the empty one where it belongs. */
static uint32_t *slot_of(const struct plan *plan, uint64_t id)
{
    size_t at = id & (plan->slots - 1);
    while (plan->slot[at] && plan->cases[plan->slot[at] - 1].id != id)
        at = (at + 1) & (plan->slots - 1);
    return &plan->slot[at];
}

struct study_case *plan_find(const struct plan *plan, uint64_t id)
{
    uint32_t found = plan->slots ? *slot_of(plan, id) : 0;
    return found ? &plan->cases[found - 1] : NULL;
}

/* Room for one more case, with at least half of the slots empty. */
static enum status grow(struct plan *plan, struct problem *p)
{
    if (plan->case_count < plan->case_capacity)
        return STATUS_OK;
    size_t capacity = plan->case_capacity ? 2 * plan->case_capacity : 256;
    if (capacity >= UINT32_MAX / 4)
        return problem(p, STATUS_USAGE, "more than %zu cases were asked for", plan->case_count);
    struct study_case *grown = realloc(plan->cases, capacity * sizeof *grown);
    if (grown)
        plan->cases = grown;
    uint32_t *slot = calloc(2 * capacity, sizeof *slot);
    if (!grown || !slot) {
        free(slot);
        return plan_no_memory(p);
    }
    free(plan->slot);
    plan->slot = slot;
    plan->slots = 2 * capacity;
    plan->case_capacity = capacity;
    for (size_t i = 0; i < plan->case_count; i++)
        *slot_of(plan, plan->cases[i].id) = (uint32_t)i + 1;
    return STATUS_OK;
}

static enum status add_case(struct plan *plan, struct study_case t, struct problem *p)
{
    enum status status = grow(plan, p);
    if (status != STATUS_OK)
        return status;
    t.id = case_id(&t, &plan->source[t.source]);
    uint32_t *slot = slot_of(plan, t.id);
    if (*slot) /* what it asks for makes no difference to the method */
        return STATUS_OK;
    plan->cases[plan->case_count++] = t;
    *slot = (uint32_t)plan->case_count;
    plan->source[t.source].cases++;
    return STATUS_OK;
}

/* The cases of its launch shapes. */
static enum status add_shapes(struct plan *plan, struct study_case t, struct problem *p)
{
    const struct axes *axes = plan->axes;
    const struct source *s = &plan->source[t.source];
    enum status status = STATUS_OK;
    t.supported =
        method_supports(t.method, t.device.kind, s->array.format, t.accumulator) &&
        (t.setting.product == t.method->product || (t.method->products & 1u << t.setting.product));
    t.runs = t.supported ? axes->runs[t.device.kind] : 0;
    if (!t.supported)
        return axes->method_named ? add_case(plan, t, p) : STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < axes->threads.count; i++)
        for (size_t k = 0; status == STATUS_OK && k < axes->blocks.count; k++) {
            struct shape asked = {(unsigned)axes->threads.item[i], (unsigned)axes->blocks.item[k]};
            t.shape = method_shape(t.method, t.device.kind, s->array.n, asked);
            for (size_t l = 0; status == STATUS_OK && l < axes->loads; l++) {
                t.load = axes->load[l];
                status = add_case(plan, t, p);
            }
        }
    return status;
}

/* Into bins, by every kind of keys. Those of data are of the first seed. */
static enum status add_scatters(struct plan *plan, struct study_case t, struct problem *p)
{
    const struct axes *axes = plan->axes;
    const struct source *s = &plan->source[t.source];
    enum status status = STATUS_OK;
    for (size_t k = 0; k < axes->keys; k++)
        for (size_t b = 0; status == STATUS_OK && b < axes->bins.count; b++) {
            t.setting.keys = &axes->key[k];
            t.setting.bins = axes->bins.item[b];
            t.setting.key_seed = t.setting.keys->kind == KEYS_FILE ? 0
                                 : s->generated                    ? s->seed
                                                                   : axes->seed.item[0];
            status = keys_fit(t.setting.keys, s->array.n, t.setting.bins, p);
            if (status == STATUS_OK)
                status = add_shapes(plan, t, p);
        }
    return status;
}

/* Of matrices of so many rows, which lie so where they are summed; or by masks. */
static enum status add_matrices(struct plan *plan, struct study_case t, struct problem *p)
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
            t.setting.keep = o->mask ? (size_t)each->item[i] : 0;
            t.setting.bins = o->mask ? 0 : layout_rows(n, (size_t)each->item[i]);
            t.setting.layout = o == &operation_rows ? &axes->layout[k] : NULL;
            if (o->matrix)
                status = layout_stride(&stride, t.setting.layout ? t.setting.layout : &rows, n,
                                       t.setting.bins, p);
            if (status == STATUS_OK)
                status = add_shapes(plan, t, p);
        }
    return status;
}

/* The cases of one method, device and accumulator. Of scans: what outputs cover, their format, and
 * segments where the method heeds them; of dot products: how products are formed. */
static enum status add_kinds(struct plan *plan, struct study_case t, struct problem *p)
{
    const struct axes *axes = plan->axes;
    enum format storage = plan->source[t.source].array.format;
    enum status status = STATUS_OK;
    t.setting.output = t.accumulator;
    t.setting.product = t.method->product;
    for (size_t i = 0;
         status == STATUS_OK && t.setting.product != PRODUCT_NONE && i < axes->products; i++) {
        t.setting.product = axes->product[i];
        status = add_shapes(plan, t, p);
    }
    if (t.setting.product != PRODUCT_NONE && axes->products > 0)
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
                t.setting.exclusive = axes->scan[i] == SCAN_EXCLUSIVE;
                t.setting.output = axes->output[k] == OUTPUT_STORAGE ? storage : t.accumulator;
                t.setting.segment = t.method->segmented ? axes->segment.item[s] : 0;
                status = add_shapes(plan, t, p);
            }
    return status;
}

enum status plan_add_source(struct plan *plan, const struct source *source, struct problem *p)
{
    const struct axes *axes = plan->axes;
    if (plan->sources == plan->sources_capacity) {
        size_t capacity = 2 * plan->sources_capacity + 16;
        struct source *grown = realloc(plan->source, capacity * sizeof *grown);
        if (!grown) {
            struct source lost = *source;
            source_free(&lost);
            return plan_no_memory(p);
        }
        plan->source = grown;
        plan->sources_capacity = capacity;
    }
    struct source *s = &plan->source[plan->sources++];
    *s = *source;
    s->first = plan->case_count;
    struct formats accumulator;
    enum status status = STATUS_OK;
    pairs_with(&accumulator, &axes->pairs, s->array.format);
    for (size_t d = 0; d < axes->devices; d++)
        for (size_t m = 0; m < axes->methods; m++)
            for (size_t a = 0; status == STATUS_OK && a < accumulator.count; a++)
                status = add_kinds(plan,
                                   (struct study_case){.source = plan->sources - 1,
                                                       .method = axes->method[m],
                                                       .device = axes->device[d],
                                                       .accumulator = accumulator.item[a]},
                                   p);
    if (status == STATUS_OK && s->cases == 0)
        source_free(&plan->source[--plan->sources]);
    return status;
}
