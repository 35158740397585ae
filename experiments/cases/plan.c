#include <stdlib.h>

#include "experiments/cases/experiment.h"
#include "experiments/cases/plan_parts.h"
#include "experiments/runs/tally.h"

enum status plan_no_memory(struct problem *p)
{
    return problem(p, STATUS_MEMORY, "out of memory while listing the cases");
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
    bool reached = input_reaches(&s->input, s->array.n, 0, s->array.format);
    if (axes->conds > 0 && source_takes_cond(in))
        return !axes->cond_named &&
               !(reached && input_order_safe(&s->input, s->array.n, 0, s->array.format));
    return axes->inputs_own && !reached;
}

static void leave_out(struct plan *plan, const struct input_family *family)
{
    size_t i = 0;
    while (i < plan->families_out && plan->family_out[i] != family)
        i++;
    if (i == plan->families_out && i < PLAN_FAMILIES_OUT)
        plan->family_out[plan->families_out++] = family;
    plan->left_out++;
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
                leave_out(plan, in->family);
                source_free(&s);
            } else if (status == STATUS_OK) {
                status = plan_add_source(plan, &s, p);
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

/* The same data in every other order. */
static enum status add_orders(struct plan *plan, const struct data *data, size_t n,
                              struct problem *p)
{
    enum status status = STATUS_OK;
    for (enum arrangement how = ARRANGED_ASCENDING; how < ARRANGEMENTS; how++) {
        struct source s;
        if (status == STATUS_OK)
            status = source_data(&s, data, n, p);
        if (status != STATUS_OK)
            return status;
        status = source_arrange(&s, how, p);
        if (status == STATUS_OK)
            status = plan_add_source(plan, &s, p);
        else
            source_free(&s);
    }
    return status;
}

/* The first n elements of data; for dot products against themselves, with every shift. */
static enum status add_data_part(struct plan *plan, const struct data *data, size_t n,
                                 struct problem *p)
{
    const struct axes *axes = plan->axes;
    size_t count = takes_pairs(axes) ? axes->setting.shift.count : 1;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        struct source s;
        status = source_data(&s, data, n, p);
        if (status == STATUS_OK && takes_pairs(axes)) {
            status = source_shift(&s, axes->setting.shift.item[i], p);
            if (status != STATUS_OK)
                source_free(&s);
        }
        if (status == STATUS_OK)
            status = plan_add_source(plan, &s, p);
    }
    if (status == STATUS_OK && axes->experiment->orders && n > 1)
        status = add_orders(plan, data, n, p);
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
    if (axes->joined.count > 0)
        return add_data_set(plan, &axes->joined, p);
    plan->data = calloc(axes->data.count * storages + 1, sizeof *plan->data);
    if (!plan->data)
        return plan_no_memory(p);
    for (size_t i = 0; i < axes->data.count; i++)
        for (size_t k = 0; status == STATUS_OK && k < storages; k++) {
            struct data_options options = {
                .storage = axes->data_storage.count ? axes->data_storage.item[k] : FORMATS,
                .convert = axes->convert,
                .keep = axes_quantise(axes),
                .saturate = axes->saturate,
                .raw = axes->raw};
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

static enum status nothing_to_run(const struct axes *axes, struct problem *p)
{
    char text[SHAPE_NAME] = "";
    for (size_t i = 0; i < axes->setting.shapes && !*text; i++)
        if (shape_expected(&axes->setting.shape[i])) /* some formats alone are rounded or scaled */
            shape_name(text, &axes->setting.shape[i]);
    return problem(p, STATUS_USAGE,
                   "%s: nothing to run: no method supports these formats on this device%s%s",
                   axes->experiment->name, *text ? " with --shape " : "", text);
}

enum status plan_make(struct plan *plan, const struct axes *axes, struct problem *p)
{
    *plan = (struct plan){.axes = axes};
    enum status status = add_data(plan, p);
    if (status == STATUS_OK)
        status = add_inputs(plan, p);
    if (status == STATUS_OK && plan->case_count == 0)
        status = nothing_to_run(axes, p);
    return status;
}

void case_forget(struct study_case *t)
{
    if (t->earlier)
        tally_free(t->earlier);
    free(t->earlier);
    t->earlier = NULL;
}

void plan_again(struct plan *plan)
{
    for (size_t i = 0; i < plan->case_count; i++) {
        struct study_case *t = &plan->cases[i];
        case_forget(t);
        t->done = 0;
        t->finished = t->summarised = t->failed = t->elsewhere = t->has_result = false;
        t->broken = PROMISE_NONE;
        t->beside = NULL;
        t->summary = (struct summary){0};
        t->err_rel_max = t->err_backward_max = t->cond_log2 = (struct figure){0};
    }
}

void plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->sources; i++)
        source_free(&plan->source[i]);
    for (size_t i = 0; i < plan->data_sets; i++)
        data_free(&plan->data[i]);
    for (size_t i = 0; i < plan->case_count; i++)
        case_forget(&plan->cases[i]);
    free(plan->source);
    free(plan->data);
    free(plan->cases);
    free(plan->slot);
    *plan = (struct plan){0};
}
