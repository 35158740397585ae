#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reference/base/grow.h"
#include "experiments/sweep/resume.h"

struct reading {
    const struct plan *plan;
    struct csv_range *drop;
    size_t drops;
};

static enum status drop_row(struct reading *r, const struct csv_row *row, struct problem *p)
{
    if (r->drops > 0 && r->drop[r->drops - 1].end == row->begin) {
        r->drop[r->drops - 1].end = row->end;
        return STATUS_OK;
    }
    if (!grow(&r->drop, r->drops, sizeof *r->drop))
        return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
    r->drop[r->drops++] = (struct csv_range){row->begin, row->end};
    return STATUS_OK;
}

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct reading *r = context;
    const char *id = row->field[PROFILE_CASE_ID];
    char expected[CASE_ID_TEXT] = "";
    const struct study_case *t = plan_find(r->plan, strtoull(id, NULL, 16));
    if (t)
        case_id_text(expected, t->id);
    if (!t || strcmp(id, expected) != 0)
        return problem(p, STATUS_DATA,
                       "%s: line %zu: case_id: found '%s', expected a case of this study: edited, "
                       "or of another study; give another --out, or --force to start over",
                       row->path, row->line, id);
    return t->done > 0 ? STATUS_OK : drop_row(r, row, p);
}

enum status resume_profile(const struct plan *plan, const char *path, uint64_t *whole,
                           struct problem *p)
{
    struct reading r = {.plan = plan};
    *whole = 0;
    if (access(path, F_OK) != 0)
        return STATUS_OK;
    enum status status = csv_read(path, profile_column, PROFILE_COLUMNS, take, &r, whole, p);
    if (status == STATUS_OK && r.drops > 0)
        status = csv_drop(path, whole, r.drop, r.drops, p);
    free(r.drop);
    return status;
}
