/* Which times a times.csv has. */
#include <stdlib.h>
#include <unistd.h>

#include "reference/base/grow.h"
#include "experiments/sweep/times.h"

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

/* Marks the row's case. A yardstick's has none; one that failed is to be tried again. */
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
        return problem(p, STATUS_DEVICE, "%s: out of memory", row->path);
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
        status = problem(p, STATUS_DEVICE, "%s: out of memory", path);
    for (size_t i = 0; status == STATUS_OK && i < r.count; i++)
        if (!times_complete(&t->group[r.found[i].group]))
            drop[drops++] = r.found[i].range;
    if (status == STATUS_OK && drops > 0)
        status = csv_drop(path, whole, drop, drops, p);
    free(drop);
    free(r.found);
    return status;
}
