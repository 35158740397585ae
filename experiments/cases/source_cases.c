#include <stdlib.h>
#include <string.h>

#include "reference/base/grow.h"
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

void plan_index(struct plan *plan)
{
    if (plan->slots)
        memset(plan->slot, 0, plan->slots * sizeof *plan->slot);
    for (size_t i = 0; i < plan->case_count; i++)
        *slot_of(plan, plan->cases[i].id) = (uint32_t)i + 1;
}

/* Room for one more case, with at least half of the slots empty. */
static enum status make_room(struct plan *plan, struct problem *p)
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
    plan_index(plan);
    return STATUS_OK;
}

static enum status add_case(struct plan *plan, struct study_case t, struct problem *p)
{
    enum status status = make_room(plan, p);
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
    t.supported = method_supports(t.method, t.device.kind, s->array.format, t.accumulator) &&
                  setting_can(t.method, &t.setting, s->array.format, t.accumulator);
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

/* What settings of one method, device and accumulator are visited with. */
struct adding {
    struct plan *plan;
    struct study_case of;
    struct setting_asked asked;
};

static enum status add_setting(void *context, const struct setting *s, struct problem *p)
{
    struct adding *a = context;
    a->of.setting = *s;
    return add_shapes(a->plan, a->of, p);
}

static enum status add_own_settings(void *context, const struct setting *s, struct problem *p)
{
    const struct adding *a = context;
    return setting_each_own(&a->asked, s, add_setting, context, p);
}

/* The cases of one method, device and accumulator. Generated keys and masks of data are of
 * the first seed. */
static enum status add_settings(struct plan *plan, struct study_case of, struct problem *p)
{
    const struct source *s = &plan->source[of.source];
    const struct axes *axes = plan->axes;
    struct setting_axes setting = axes->setting;
    setting.file_rows = s->rows;
    struct adding a = {plan,
                       of,
                       {.axes = &setting,
                        .method = of.method,
                        .storage = s->array.format,
                        .accumulator = of.accumulator,
                        .n = s->array.n,
                        .key_seed = s->generated ? s->seed : axes->seed.item[0]}};
    return setting_each(of.method->operation, &a.asked, add_own_settings, &a, p);
}

enum status plan_add_source(struct plan *plan, const struct source *source, struct problem *p)
{
    const struct axes *axes = plan->axes;
    if (!grow(&plan->source, plan->sources, sizeof *plan->source)) {
        struct source lost = *source;
        source_free(&lost);
        return plan_no_memory(p);
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
                status = add_settings(plan,
                                      (struct study_case){.source = plan->sources - 1,
                                                          .method = axes->method[m],
                                                          .device = axes->device[d],
                                                          .accumulator = accumulator.item[a]},
                                      p);
    if (status == STATUS_OK && s->cases == 0)
        source_free(&plan->source[--plan->sources]);
    return status;
}
