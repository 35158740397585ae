/* A trial that ranks share: each takes a subject whenever it is done with one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/check/recorded.h"
#include "experiments/studies/trial_study.h"
#include "experiments/sweep/parts.h"
#include "experiments/sweep/ranks.h"
#include "experiments/system/progress.h"
#include "reference/base/grow.h"
#include "reports/text/file.h"

enum { RUNGS = PROMISES - 1 };

/* --- Their rows --- */

struct moving {
    struct csv_file to;
    struct text block; /* rows of the subject at hand */
    size_t rows;       /* and how many they are */
    char **key;        /* subjects that have their rows */
    size_t keys;
};

/* Its rows go there when they are all here, unless another rank's are there. */
static enum status move_row(void *context, const struct csv_row *row, struct problem *p)
{
    struct moving *m = context;
    for (size_t i = 0; i < CHECK_COLUMNS; i++) {
        if (i > 0)
            text_add(&m->block, ",");
        text_field(&m->block, row->field[i]);
    }
    text_add(&m->block, "\n");
    if (++m->rows % RUNGS != 0)
        return STATUS_OK;
    char *key;
    bool known = false;
    if (asprintf(&key, "%s %s", row->field[CHECK_METHOD], row->field[CHECK_ON]) < 0)
        return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
    for (size_t i = 0; i < m->keys; i++)
        known |= strcmp(m->key[i], key) == 0;
    if (known || !grow(&m->key, m->keys, sizeof *m->key)) {
        free(key);
        text_free(&m->block);
        return known ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
    }
    m->key[m->keys++] = key;
    text_join(&m->to.pending, &m->block);
    text_free(&m->block);
    return m->to.pending.failed ? problem(p, STATUS_MEMORY, "%s: out of memory", row->path)
                                : csv_file_flush(&m->to, p);
}

static enum status move_file(struct moving *m, const char *folder, size_t *moved, struct problem *p)
{
    char *path;
    uint64_t whole;
    size_t before = m->keys;
    if (asprintf(&path, "%s/trial.csv", folder) < 0)
        return problem(p, STATUS_MEMORY, "%s: out of memory", folder);
    enum status status = access(path, F_OK) == 0
                             ? csv_read_since(path, check_column, CHECK_COLUMNS_OLD, CHECK_COLUMNS,
                                              move_row, m, &whole, p)
                             : STATUS_OK;
    free(path);
    text_free(&m->block);
    m->rows = 0;
    *moved = m->keys - before;
    return status;
}

static enum status move_rows(struct parts *f, const struct directory *d, struct problem *p)
{
    struct moving m = {.to.fd = -1};
    size_t own;
    char *part = file_part(d->trial);
    if (!part)
        return problem(p, STATUS_MEMORY, "%s: out of memory", d->trial);
    enum status status = csv_file_open(&m.to, part, 0, check_column, CHECK_COLUMNS, p);
    bool open = status == STATUS_OK;
    if (open)
        status = move_file(&m, d->path, &own, p);
    for (size_t k = 0; status == STATUS_OK && k < f->count; k++)
        if (f->part[k].study)
            status = move_file(&m, f->part[k].path, &f->part[k].cases, p);
    enum status closed = open ? csv_file_close(&m.to, p) : STATUS_OK;
    status = status == STATUS_OK ? closed : status;
    if (status == STATUS_OK && rename(part, d->trial) != 0)
        status = problem(p, STATUS_DATA, "%s: could not be written: %s", d->trial, strerror(errno));
    if (status != STATUS_OK)
        unlink(part);
    free(part);
    for (size_t i = 0; i < m.keys; i++)
        free(m.key[i]);
    free(m.key);
    return status;
}

enum status trial_fold(const struct directory *d, json_t *study, struct problem *p)
{
    struct parts f = {0};
    enum status status = parts_find(&f, d->path, study, p);
    bool any = parts_any(&f, 0);
    if (status == STATUS_OK && any)
        status = move_rows(&f, d, p);
    if (status == STATUS_OK && any)
        status = parts_join(&f, study, d->study, 0, p);
    if (status == STATUS_OK && any)
        status = parts_remove(&f, 0, p);
    parts_free(&f);
    return status;
}

/* --- The part of one --- */

static struct hash128 hash_of(const struct trial_study *s)
{
    struct hash128 h = {{s->subjects, 0}};
    uint64_t at = 0;
    for (size_t i = 0; i < s->subjects; i++) {
        char device[DEVICE_TEXT];
        device_name(s->subject[i].device, device);
        for (const char *c = s->subject[i].method->name; *c; c++)
            hash_add(&h, at++, (unsigned char)*c);
        for (const char *c = device; *c; c++)
            hash_add(&h, at++, (unsigned char)*c);
    }
    return h;
}

/* Takes subjects until there are no more. */
static enum status take_all(struct trial_study *s, struct meeting *m, const char *taken,
                            size_t before, const struct experiment_run *run, struct problem *p)
{
    struct progress_line *line = progress_line_begin(run->progress);
    struct meeting_done own = {0};
    enum status status = STATUS_OK;
    for (uint64_t i = 0; status == STATUS_OK;) {
        status = meeting_take(m, &i, p);
        if (status != STATUS_OK || i >= s->subjects)
            break;
        if (taken[i] || s->subject[i].finished)
            continue;
        struct meeting_done all = run->progress ? meeting_told(m, own) : own;
        size_t done = before + (size_t)all.cases, left = s->subjects - done;
        progress_line_say(line, (double)left * s->request.seconds / run->rank.count,
                          "trial: %zu of %zu by %u ranks: %s", done + 1, s->subjects,
                          run->rank.count, s->subject[i].method->name);
        status = trial_try(s, &s->subject[i], run, line, p);
        own.cases++;
        meeting_tell(m, own);
    }
    progress_line_end(line);
    return status == STATUS_OK ? meeting_end(m, NULL, NULL, p) : status;
}

/* In a results directory of its own. */
static enum status work(struct meeting *m, const char *taken, size_t before,
                        const struct experiment_run *whole, struct problem *p)
{
    struct trial_study s;
    struct experiment_run run = *whole;
    struct check_recorded *recorded = NULL;
    char *out = fold_rank(whole->out, whole->rank.index);
    run.out = out;
    run.part = true;
    run.force = false;
    run.note = NULL;
    run.progress &= run.rank.index == 0;
    enum status status = trial_study_make(&s, run.request, run.stop, p);
    if (status == STATUS_OK && !out)
        status = problem(p, STATUS_MEMORY, "out of memory");
    if (status == STATUS_OK)
        status = trial_recorded(&recorded, &s, p);
    if (status == STATUS_OK)
        status = trial_study_open(&s, &run, p);
    trial_keep_shard(&s, run.shard);
    if (status == STATUS_OK)
        status = take_all(&s, m, taken, before, &run, p);
    enum status closed = trial_study_close(&s, p);
    check_recorded_free(recorded);
    trial_study_free(&s);
    free(out);
    return status == STATUS_OK ? closed : status;
}

/* Rank 0 takes the directory, with what ranks of an earlier job left. */
enum status trial_share(struct meeting **meeting, const struct experiment_run *run,
                        struct problem *p)
{
    struct trial_study s;
    struct problem why = {0};
    size_t before = 0;
    *meeting = NULL;
    enum status status = trial_study_make(&s, run->request, run->stop, &why);
    if (status == STATUS_OK && run->rank.index == 0)
        status = trial_study_open(&s, run, &why);
    trial_study_close(&s, NULL);
    trial_keep_shard(&s, run->shard);
    struct ranks_word word = {.rank = run->rank,
                              .out = run->out,
                              .stop = run->stop,
                              .hash = hash_of(&s),
                              .count = s.subjects,
                              .note = run->note,
                              .context = run->context};
    if (run->rank.index == 0 && !(word.taken = calloc(s.subjects + 1, 1)))
        status = problem(&why, STATUS_MEMORY, "run trial: out of memory");
    for (size_t i = 0; word.taken && i < s.subjects; i++)
        before += word.taken[i] = s.subject[i].finished;
    if (status == STATUS_OK)
        status = ranks_agree(meeting, &word, &why);
    if (status == STATUS_OK)
        status = work(*meeting, word.taken, before, run, &why);
    free(word.taken);
    trial_study_free(&s);
    return status == STATUS_OK ? status : ranks_failed(*meeting, status, &why, p);
}
