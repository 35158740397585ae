#include "experiments/sweep/times.h"

#include <stdlib.h>

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_DEVICE, "out of memory for the list of times");
}

/* The input of a plan's source, as it is timed. */
static enum status make_source(struct source *to, const struct source *s, size_t n,
                               struct problem *p)
{
    struct input in = s->input;
    in.arrangement = ARRANGED_AS_GENERATED;
    if (s->generated)
        return source_generated(to, &in, s->array.format, n, s->seed, 0, p);
    *to = (struct source){.array = s->unordered.data ? s->unordered : s->array};
    memcpy(to->hash, s->hash, sizeof to->hash);
    return source_base(&to->name, s, p);
}

uint64_t times_id(const struct times_group *g, const struct bench_row *row)
{
    return case_id(&(struct study_case){.method = row->method,
                                        .device = g->device,
                                        .accumulator = row->accumulator,
                                        .shape = row->shape,
                                        .setting = row->setting},
                   &g->source);
}

static enum status make_rows(struct times_group *g, const struct axes *axes, struct problem *p)
{
    struct axes one_shape = *axes;
    one_shape.threads.count = one_shape.blocks.count = 1;
    enum status status = bench_plan(&g->plan, &one_shape, g->device.kind, g->source.array.format,
                                    g->source.array.n, p);
    if (status != STATUS_OK)
        return status;
    g->id = calloc(g->plan.count + 1, sizeof *g->id);
    g->there = calloc(g->plan.count + 1, sizeof *g->there);
    if (!g->id || !g->there)
        return no_memory(p);
    for (size_t i = 0; i < g->plan.count; i++)
        g->id[i] = times_id(g, &g->plan.row[i]);
    return STATUS_OK;
}

static bool same_input(const struct source *a, const struct source *b)
{
    return a->array.format == b->array.format && a->array.n == b->array.n &&
           strcmp(a->name, b->name) == 0;
}

/* Appends the group of a source, where there is none yet and it has rows. */
static enum status add(struct times *t, const struct plan *plan, struct device device,
                       const struct source *s, struct problem *p)
{
    struct times_group *g = &t->group[t->groups];
    *g = (struct times_group){.device = device};
    enum status status = make_source(&g->source, s, plan->axes->timed, p);
    bool there = false;
    for (size_t i = 0; status == STATUS_OK && i < t->groups; i++)
        there |= t->group[i].device.kind == device.kind &&
                 t->group[i].device.index == device.index &&
                 same_input(&t->group[i].source, &g->source);
    if (status == STATUS_OK && !there && g->source.array.n > 0)
        status = make_rows(g, plan->axes, p);
    t->groups++; /* the list owns it */
    if (status == STATUS_OK && g->plan.count == 0) {
        source_free(&g->source);
        free(g->id);
        free(g->there);
        t->groups--;
    }
    return status;
}

enum status times_make(struct times *t, const struct plan *plan, struct problem *p)
{
    const struct axes *axes = plan->axes;
    enum status status = STATUS_OK;
    *t = (struct times){calloc(plan->sources * axes->devices + 1, sizeof *t->group), 0};
    if (!t->group)
        return no_memory(p);
    for (size_t d = 0; d < axes->devices; d++)
        for (size_t i = 0; status == STATUS_OK && i < plan->sources; i++)
            status = add(t, plan, axes->device[d], &plan->source[i], p);
    return status;
}

void times_free(struct times *t)
{
    for (size_t i = 0; i < t->groups; i++) {
        source_free(&t->group[i].source);
        bench_plan_free(&t->group[i].plan);
        free(t->group[i].id);
        free(t->group[i].there);
    }
    free(t->group);
    *t = (struct times){0};
}

bool times_complete(const struct times_group *g)
{
    for (size_t i = 0; i < g->plan.count; i++)
        if (!g->there[i])
            return false;
    return true;
}
