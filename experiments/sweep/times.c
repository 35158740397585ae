#include "experiments/sweep/times.h"

#include <stdlib.h>
#include <unistd.h>

#include "reference/base/grow.h"

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_MEMORY, "out of memory for the list of times");
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

/* --- Which times a times.csv has --- */

struct found {
    size_t group;
    struct csv_range range;
};

struct reading {
    struct times *times;
    struct found *found; /* of each row */
    size_t count;
};

/* The group of a row; `groups` where there is none. */
static size_t group_of(const struct times *t, const struct csv_row *row)
{
    char device[DEVICE_TEXT];
    size_t i = 0;
    for (; i < t->groups; i++) {
        const struct source *s = &t->group[i].source;
        device_name(t->group[i].device, device);
        if (strcmp(row->field[TIMES_DEVICE], device) == 0 &&
            strcmp(row->field[TIMES_INPUT], s->name) == 0 &&
            strcmp(row->field[TIMES_STORAGE], format_facts[s->array.format].name) == 0 &&
            strtoull(row->field[TIMES_N], NULL, 10) == s->array.n)
            break;
    }
    return i;
}

static enum status unexpected(const struct csv_row *row, size_t column, struct problem *p)
{
    return problem(p, STATUS_DATA,
                   "%s: line %zu: %s: found '%s', expected an input or a case of this study: "
                   "edited, or of another study; give another --out, or --force to start over",
                   row->path, row->line, times_column(column)->name, row->field[column]);
}

/* Marks the row's case as timed. A yardstick has no case; a failed row is to be tried again. */
static enum status mark(struct times_group *g, const struct csv_row *row, struct problem *p)
{
    char id[CASE_ID_TEXT];
    size_t i = 0;
    if (!*row->field[TIMES_CASE_ID])
        return STATUS_OK;
    for (; i < g->plan.count; i++) {
        case_id_text(id, g->id[i]);
        if (strcmp(id, row->field[TIMES_CASE_ID]) == 0)
            break;
    }
    if (i == g->plan.count)
        return unexpected(row, TIMES_CASE_ID, p);
    g->there[i] |= *row->field[TIMES_TIME] || strncmp(row->field[TIMES_NOTE], "failed", 6) != 0;
    return STATUS_OK;
}

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct reading *r = context;
    size_t group = group_of(r->times, row);
    if (group == r->times->groups)
        return unexpected(row, TIMES_INPUT, p);
    if (!grow(&r->found, r->count, sizeof *r->found))
        return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
    r->found[r->count++] = (struct found){group, {row->begin, row->end}};
    return mark(&r->times->group[group], row, p);
}

enum status times_resume(struct times *t, const char *path, uint64_t *whole, struct problem *p)
{
    struct reading r = {.times = t};
    size_t drops = 0;
    *whole = 0;
    if (access(path, F_OK) != 0)
        return STATUS_OK;
    enum status status = csv_read(path, times_column, TIMES_COLUMNS, take, &r, whole, p);
    struct csv_range *drop = calloc(r.count + 1, sizeof *drop);
    if (status == STATUS_OK && !drop)
        status = problem(p, STATUS_MEMORY, "%s: out of memory", path);
    for (size_t i = 0; status == STATUS_OK && i < r.count; i++)
        if (!times_complete(&t->group[r.found[i].group]))
            drop[drops++] = r.found[i].range;
    if (status == STATUS_OK && drops > 0)
        status = csv_drop(path, whole, drop, drops, p);
    free(drop);
    free(r.found);
    return status;
}
