#include "experiments/bench/plan.h"

#include <stdlib.h>

#include "reference/base/grow.h"

struct planning {
    struct bench_plan *plan;
    const struct axes *axes;
    enum device_kind device;
    const struct operation *operation;
    struct bench_row row; /* of the method at hand */
    struct setting_asked asked;
};

/* Where rows with the same keys end, or the plan. *there: a row is the same. */
static size_t place_of(const struct bench_plan *plan, const struct bench_row *row, bool *there)
{
    size_t place = plan->count;
    *there = false;
    for (size_t i = 0; i < plan->count; i++) {
        const struct bench_row *r = &plan->row[i];
        if (setting_same_keys(&r->setting, &row->setting))
            place = i + 1;
        *there |= r->method == row->method && r->accumulator == row->accumulator &&
                  r->shape.threads == row->shape.threads && r->shape.blocks == row->shape.blocks &&
                  setting_equal(&r->setting, &row->setting);
    }
    return place;
}

static enum status add(struct bench_plan *plan, const struct bench_row *row, struct problem *p)
{
    bool there;
    size_t place = place_of(plan, row, &there);
    if (there)
        return STATUS_OK;
    if (!grow(&plan->row, plan->count, sizeof *plan->row))
        return problem(p, STATUS_MEMORY, "out of memory for a plan of %zu rows", plan->count + 1);
    memmove(&plan->row[place + 1], &plan->row[place], (plan->count++ - place) * sizeof *plan->row);
    plan->row[place] = *row;
    return STATUS_OK;
}

/* The method at hand with every launch shape. */
static enum status add_shapes(void *context, const struct setting *s, struct problem *p)
{
    struct planning *to = context;
    const struct numbers *threads = &to->axes->threads, *blocks = &to->axes->blocks;
    enum status status = STATUS_OK;
    to->row.setting = *s;
    if (!setting_settle(to->row.method, &to->row.setting, to->asked.storage, to->asked.accumulator))
        return STATUS_OK;
    for (size_t i = 0; i < threads->count * blocks->count && status == STATUS_OK; i++) {
        struct shape asked = {(unsigned)threads->item[i / blocks->count],
                              (unsigned)blocks->item[i % blocks->count]};
        to->row.shape = method_shape(to->row.method, to->device, to->asked.n, asked);
        status = add(to->plan, &to->row, p);
    }
    return status;
}

/* The methods of the operation at hand; the vendor's routine first. */
static enum status add_methods(void *context, const struct setting *s, struct problem *p)
{
    struct planning *to = context;
    const struct axes *axes = to->axes;
    enum status status = STATUS_OK;
    for (int vendor = 1; vendor >= 0; vendor--)
        for (size_t i = 0; i < axes->methods && status == STATUS_OK; i++) {
            const struct method *m = axes->method[i];
            if (m->operation != to->operation || m->vendor != vendor ||
                !(axes->method_named ||
                  method_supports(m, to->device, to->asked.storage, to->asked.accumulator)))
                continue;
            to->asked.method = to->row.method = m;
            status = setting_each_own(&to->asked, s, add_shapes, to, p);
        }
    return status;
}

static bool has_methods(const struct axes *axes, const struct operation *o)
{
    for (size_t i = 0; i < axes->methods; i++)
        if (axes->method[i]->operation == o)
            return true;
    return false;
}

enum status bench_plan(struct bench_plan *plan, const struct axes *axes, enum device_kind device,
                       enum format storage, size_t n, struct problem *p)
{
    struct formats accumulator;
    enum status status = STATUS_OK;
    struct planning to = {.plan = plan,
                          .axes = axes,
                          .device = device,
                          .row.kind = BENCH_METHOD,
                          .asked = {.axes = &axes->setting,
                                    .storage = storage,
                                    .n = n,
                                    .key_seed = axes->seed.count ? axes->seed.item[0] : 0}};
    *plan = (struct bench_plan){0};
    pairs_with(&accumulator, &axes->pairs, storage);
    for (size_t i = 0; i < accumulator.count; i++)
        for (size_t k = 0; operations[k] && status == STATUS_OK; k++) {
            if (!has_methods(axes, operations[k]))
                continue;
            to.operation = operations[k];
            to.row.accumulator = to.asked.accumulator = accumulator.item[i];
            status = setting_each(to.operation, &to.asked, add_methods, &to, p);
        }
    return status;
}

void bench_plan_free(struct bench_plan *plan)
{
    free(plan->row);
    *plan = (struct bench_plan){0};
}
