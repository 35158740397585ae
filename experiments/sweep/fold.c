#include "experiments/sweep/fold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cases/experiment.h"
#include "experiments/sweep/parts.h"
#include "reports/csv/file.h"
#include "reports/results/results.h"
#include "reports/text/file.h"

static const size_t flush_bytes = 1 << 20; /* bytes of rows that are written together */

static enum status no_memory(const char *path, struct problem *p)
{
    return problem(p, STATUS_MEMORY, "%s: out of memory", path);
}

/* Of a case: what the directory has of it, and the part whose rows are taken. */
struct fate {
    uint64_t there;
    uint64_t rows;
    size_t owner; /* 1 + part; 0: none */
    bool whole;   /* all rows, and the summary */
};

struct folding {
    const struct plan *plan;
    const struct directory *d;
    struct parts parts;
    struct fate *fate;
};

/* --- Which rows are taken --- */

/* The rows of one directory, counted by case. Of many ranks each has few cases: only those that are
 * there are looked at. */
struct counting {
    const struct plan *plan;
    uint64_t *rows;
    bool *summarised, *there;
    size_t *found; /* the cases that are there */
    size_t count;
};

static size_t find(struct counting *c, const struct study_case *t)
{
    size_t i = (size_t)(t - c->plan->cases);
    if (!c->there[i])
        c->found[c->count++] = i;
    c->there[i] = true;
    return i;
}

static struct study_case *case_of(const struct plan *plan, const struct csv_row *row, size_t field)
{
    return plan_find(plan, strtoull(row->field[field], NULL, 16));
}

static bool is_error(const struct csv_row *row)
{
    return strcmp(row->field[RESULTS_STATUS], outcome_name[OUTCOME_ERROR]) == 0;
}

static enum status count_result(void *context, const struct csv_row *row, struct problem *p)
{
    struct counting *c = context;
    const struct study_case *t = case_of(c->plan, row, RESULTS_CASE_ID);
    if (!t)
        return problem(p, STATUS_DATA,
                       "%s: line %zu: case_id: found '%s', expected a case of this study: give "
                       "another --out, or --force to start over",
                       row->path, row->line, row->field[RESULTS_CASE_ID]);
    c->rows[find(c, t)] += !is_error(row);
    return STATUS_OK;
}

static enum status count_summary(void *context, const struct csv_row *row, struct problem *p)
{
    struct counting *c = context;
    const struct study_case *t = case_of(c->plan, row, CASE_ID);
    (void)p;
    if (t)
        c->summarised[find(c, t)] = true;
    return STATUS_OK;
}

static enum status read_file(const char *folder, const char *name, column_at *column,
                             size_t columns, csv_take take, void *context, struct problem *p)
{
    char *path;
    uint64_t whole;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return no_memory(folder, p);
    enum status status = access(path, F_OK) == 0
                             ? csv_read(path, column, columns, take, context, &whole, p)
                             : STATUS_OK;
    free(path);
    return status;
}

static enum status count_rows(struct counting *c, const char *folder, struct problem *p)
{
    enum columns_of of = experiment_columns(c->plan->axes->experiment);
    for (; c->count > 0; c->count--) {
        size_t i = c->found[c->count - 1];
        c->rows[i] = 0;
        c->summarised[i] = c->there[i] = false;
    }
    enum status status = read_file(folder, "results.csv", results_column_of(of),
                                   results_columns(of), count_result, c, p);
    return status == STATUS_OK ? read_file(folder, "summary.csv", summary_column_of(of),
                                           summary_columns(of), count_summary, c, p)
                               : status;
}

static uint64_t due(const struct study_case *t)
{
    return t->supported ? t->runs : 1;
}

static enum status decide(struct folding *f, struct problem *p)
{
    size_t cases = f->plan->case_count;
    struct counting c = {f->plan,
                         calloc(cases + 1, sizeof *c.rows),
                         calloc(cases + 1, sizeof *c.summarised),
                         calloc(cases + 1, sizeof *c.there),
                         calloc(cases + 1, sizeof *c.found),
                         0};
    enum status status =
        c.rows && c.summarised && c.there && c.found ? STATUS_OK : no_memory(f->d->path, p);
    if (status == STATUS_OK)
        status = count_rows(&c, f->d->path, p);
    for (size_t i = 0; status == STATUS_OK && i < cases; i++)
        f->fate[i].there = c.rows[i];
    for (size_t k = 0; status == STATUS_OK && k < f->parts.count; k++) {
        if (!f->parts.part[k].study)
            continue;
        status = count_rows(&c, f->parts.part[k].path, p);
        for (size_t found = 0; status == STATUS_OK && found < c.count; found++) {
            size_t i = c.found[found];
            struct fate *t = &f->fate[i];
            bool whole = c.summarised[i] && c.rows[i] == due(&f->plan->cases[i]);
            if (t->there == 0 && !t->whole && (whole || c.rows[i] > t->rows))
                *t = (struct fate){0, c.rows[i], k + 1, whole};
        }
    }
    for (size_t i = 0; status == STATUS_OK && i < cases; i++)
        if (f->fate[i].owner) {
            struct part *part = &f->parts.part[f->fate[i].owner - 1];
            *(f->fate[i].whole ? &part->cases : &part->begun) += 1;
        }
    free(c.rows);
    free(c.summarised);
    free(c.there);
    free(c.found);
    return status;
}

/* --- Moving them --- */

struct moving {
    const struct folding *f;
    struct csv_file to;
    size_t columns, id; /* the field that has the case's id */
    size_t part;        /* 1 + part, of rows that are its; 0: of the directory itself */
    bool whole;         /* of a part: rows of finished cases, else of the others */
    bool results;       /* rows of failed runs stay behind */
    bool owned;         /* of the directory: rows of cases that it has no results of stay behind */
};

static enum status move_row(void *context, const struct csv_row *row, struct problem *p)
{
    struct moving *m = context;
    const struct study_case *t = case_of(m->f->plan, row, m->id);
    if (!t)
        return STATUS_OK;
    const struct fate *fate = &m->f->fate[t - m->f->plan->cases];
    if (m->results && is_error(row))
        return STATUS_OK;
    if (m->part == 0 ? m->owned && fate->there == 0
                     : fate->owner != m->part || fate->whole != m->whole)
        return STATUS_OK;
    for (size_t i = 0; i < m->columns; i++) {
        if (i > 0)
            text_add(&m->to.pending, ",");
        text_field(&m->to.pending, row->field[i]);
    }
    text_add(&m->to.pending, "\n");
    if (m->to.pending.failed)
        return no_memory(row->path, p);
    return m->to.pending.length < flush_bytes ? STATUS_OK : csv_file_flush(&m->to, p);
}

/* A file: what the directory has, then finished cases, then the others, so that none of these comes
 * before a summary. It replaces the directory's. */
static enum status move_file(const struct folding *f, uint32_t from, const char *name,
                             const char *path, column_at *column, struct moving m,
                             struct problem *p)
{
    char *part = file_part(path);
    m.f = f;
    if (!part)
        return no_memory(path, p);
    enum status status = csv_file_open(&m.to, part, 0, column, m.columns, p);
    bool open = status == STATUS_OK;
    if (open)
        status = read_file(f->d->path, name, column, m.columns, move_row, &m, p);
    for (int whole = 1; whole >= 0; whole--)
        for (size_t k = 0; status == STATUS_OK && k < f->parts.count; k++) {
            const struct part *part = &f->parts.part[k];
            m.part = k + 1;
            m.whole = whole;
            if (part->study && part->rank >= from && (whole ? part->cases : part->begun) > 0)
                status = read_file(part->path, name, column, m.columns, move_row, &m, p);
        }
    if (open) {
        enum status closed = csv_file_close(&m.to, p);
        status = status == STATUS_OK ? closed : status;
    }
    if (status == STATUS_OK && rename(part, path) != 0)
        status = problem(p, STATUS_DATA, "%s: could not be written: %s", path, strerror(errno));
    if (status != STATUS_OK)
        unlink(part);
    free(part);
    return status;
}

/* results.csv goes last: without its rows there the others are moved again. */
static enum status move_rows(const struct folding *f, uint32_t from, struct problem *p)
{
    enum columns_of of = experiment_columns(f->plan->axes->experiment);
    enum status status = STATUS_OK;
    if (of == COLUMNS_OF_SCANS)
        status = move_file(
            f, from, "profile.csv", f->d->profile, profile_column,
            (struct moving){.columns = PROFILE_COLUMNS, .id = PROFILE_CASE_ID, .owned = true}, p);
    if (status == STATUS_OK)
        status = move_file(
            f, from, "summary.csv", f->d->summary, summary_column_of(of),
            (struct moving){.columns = summary_columns(of), .id = CASE_ID, .owned = true}, p);
    if (status == STATUS_OK)
        status = move_file(
            f, from, "results.csv", f->d->results, results_column_of(of),
            (struct moving){.columns = results_columns(of), .id = RESULTS_CASE_ID, .results = true},
            p);
    return status;
}

static enum status tell_found(struct fold_found *found, const struct folding *f, struct problem *p)
{
    *found = (struct fold_found){.taken = calloc(f->plan->case_count + 1, 1)};
    if (!found->taken)
        return no_memory(f->d->path, p);
    for (size_t i = 0; i < f->plan->case_count; i++) {
        const struct study_case *t = &f->plan->cases[i];
        const struct fate *fate = &f->fate[i];
        uint64_t rows = fate->owner ? fate->rows : fate->there;
        found->taken[i] = rows > 0;
        found->done.cases += rows == due(t);
        found->done.runs += t->supported ? rows : 0;
    }
    return STATUS_OK;
}

enum status fold_ranks(const struct plan *plan, const struct directory *d, json_t *study,
                       uint32_t from, struct fold_found *found, struct problem *p)
{
    struct folding f = {.plan = plan, .d = d};
    f.fate = calloc(plan->case_count + 1, sizeof *f.fate);
    enum status status = f.fate ? parts_find(&f.parts, d->path, study, p) : no_memory(d->path, p);
    bool any = parts_any(&f.parts, from);
    if (status == STATUS_OK && (f.parts.count > 0 || found))
        status = decide(&f, p);
    if (status == STATUS_OK && any)
        status = parts_join(&f.parts, study, d->study, from, p);
    if (status == STATUS_OK && any)
        status = move_rows(&f, from, p);
    if (status == STATUS_OK && any)
        status = parts_remove(&f.parts, from, p);
    if (status == STATUS_OK && found)
        status = tell_found(found, &f, p);
    parts_free(&f.parts);
    free(f.fate);
    return status;
}
