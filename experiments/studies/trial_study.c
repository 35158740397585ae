/* The results directory of `run trial`: what is asked for, study.json, trial.csv. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/studies/trial_study.h"
#include "reference/base/grow.h"
#include "experiments/check/report.h"
#include "experiments/sweep/parts.h"
#include "experiments/sweep/provenance.h"
#include "experiments/subjects/mpi.h"
#include "experiments/subjects/subject.h"
#include "experiments/cases/experiment.h"
#include "experiments/system/machine.h"
#include "reports/results/verdicts.h"

static enum status add_subject(struct trial_study *s, const struct method *m, struct device d,
                               struct problem *p)
{
    for (size_t i = 0; i < s->subjects; i++)
        if (s->subject[i].method == m && s->subject[i].device.kind == d.kind &&
            s->subject[i].device.index == d.index)
            return STATUS_OK;
    if (!grow(&s->subject, s->subjects, sizeof *s->subject))
        return problem(p, STATUS_MEMORY, "run trial: out of memory");
    s->subject[s->subjects++] = (struct trial_subject){.method = m, .device = d};
    return STATUS_OK;
}

/* Nothing is asked for that is not heeded. */
static enum status refuse(const struct request *asked, struct problem *p)
{
    for (size_t axis = 0; axis < AXES_ASKED; axis++) {
        bool formats = axis == AXIS_STORAGE || axis == AXIS_ACCUMULATOR;
        if (asked->axis[axis].count > 0 && !formats && !axis_recorded(&experiment_trial, axis))
            return problem(p, STATUS_USAGE, "run trial: option --%s: found '%s', expected none",
                           axis_name[axis], asked->axis[axis].item[0]);
    }
    return STATUS_OK;
}

enum status trial_study_make(struct trial_study *s, const struct request *asked,
                             const volatile sig_atomic_t *stop, struct problem *p)
{
    const struct list *names = &asked->axis[AXIS_METHOD];
    struct device device[CHECK_DEVICES];
    size_t devices, count = names->count ? names->count : method_count;
    *s = (struct trial_study){.directory.lock = -1, .csv.fd = -1};
    enum status status = refuse(asked, p);
    if (status == STATUS_OK)
        status = check_asked(&s->request, asked, p);
    s->request.stop = stop;
    if (status == STATUS_OK)
        status = check_devices(device, &devices, asked, p);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct method *m = names->count ? NULL : method_registry[i];
        if (!m)
            status = subject_named(&m, "option --method", names->item[i], NULL, p);
        for (size_t k = 0; k < devices && status == STATUS_OK; k++)
            status = add_subject(s, m, device[k], p);
    }
    return status;
}

/* --- study.json --- */

static json_t *copied(const struct list *words)
{
    json_t *list = json_array();
    for (size_t i = 0; i < words->count; i++)
        json_array_append_new(list, study_path(words->item[i]));
    return list;
}

/* The axes as words, those that have a default resolved; the rest may be empty. */
static json_t *axes_of(const struct trial_study *s, const struct request *asked)
{
    const struct check_request *r = &s->request;
    json_t *axes = json_object(), *methods = json_array(), *devices = json_array();
    json_t *formats = json_array();
    for (size_t i = 0; i < s->subjects; i++) {
        const struct trial_subject *t = &s->subject[i];
        char device[DEVICE_TEXT];
        device_name(t->device, device);
        if (i == 0 || s->subject[i - 1].method != t->method)
            json_array_append_new(methods, json_string(t->method->name));
        if (t->method == s->subject[0].method)
            json_array_append_new(devices, json_string(device));
    }
    for (size_t i = 0; i < r->pairs.count; i++)
        json_array_append_new(formats,
                              json_sprintf("%s/%s", format_facts[r->pairs.item[i].storage].name,
                                           format_facts[r->pairs.item[i].accumulator].name));
    for (size_t axis = 0; axis < AXES; axis++)
        if (axis_recorded(&experiment_trial, axis))
            json_object_set_new(axes, axis_name[axis], copied(&asked->axis[axis]));
    json_object_set_new(axes, axis_name[AXIS_METHOD], methods);
    json_object_set_new(axes, axis_name[AXIS_DEVICE], devices);
    json_object_set_new(axes, axis_name[AXIS_FORMATS], formats);
    json_object_set_new(axes, axis_name[AXIS_SEED],
                        json_pack("[o]", json_sprintf("%llu", (unsigned long long)r->seed)));
    json_object_set_new(axes, axis_name[AXIS_RUNS],
                        json_pack("[o]", json_sprintf("%llu", (unsigned long long)r->runs)));
    json_object_set_new(axes, axis_name[AXIS_SECONDS],
                        json_pack("[o]", json_sprintf("%.17g", r->seconds)));
    return axes;
}

/* What of the axes says which machine it is, and which objects. */
static enum status subjects_axes(struct axes *axes, const struct trial_study *s, struct problem *p)
{
    *axes = (struct axes){.experiment = &experiment_trial};
    axes->method = calloc(s->subjects + 1, sizeof *axes->method);
    axes->device = calloc(s->subjects + 1, sizeof *axes->device);
    if (!axes->method || !axes->device)
        return problem(p, STATUS_MEMORY, "run trial: out of memory");
    for (size_t i = 0; i < s->subjects; i++) {
        const struct trial_subject *t = &s->subject[i];
        if (i == 0 || s->subject[i - 1].method != t->method)
            axes->method[axes->methods++] = t->method;
        if (t->method == s->subject[0].method)
            axes->device[axes->devices++] = t->device;
    }
    return STATUS_OK;
}

static enum status claim(struct trial_study *s, const struct experiment_run *run, bool *resumed,
                         struct problem *p)
{
    struct axes axes;
    enum status status = subjects_axes(&axes, s, p);
    json_t *study = NULL;
    if (status == STATUS_OK)
        study = provenance_words(&axes, axes_of(s, run->request), run->argc, run->argv);
    if (status == STATUS_OK && !study)
        status = problem(p, STATUS_MEMORY, "run trial: out of memory");
    provenance_shard(study, run->shard);
    if (status == STATUS_OK && !run->part && !run->joins)
        status = fold_wait(run->out, p);
    if (status == STATUS_OK)
        status = directory_claim(&s->directory, study, run->force, resumed, p);
    if (status == STATUS_OK && !run->part)
        status = *resumed ? trial_fold(&s->directory, study, p) : fold_drop(run->out, p);
    if (status == STATUS_OK && !run->part && run->rank.count < 2)
        fold_end(run->out);
    if (status == STATUS_OK && *resumed && !run->merged && !run->joins) {
        provenance_resumed(study, &axes, run->argc, run->argv);
        status = study_write(study, s->directory.study, p);
    }
    json_decref(study);
    axes_free(&axes);
    return status;
}

/* --- trial.csv --- */

static void set_cell(struct trial_subject *t, enum promise rung, const char *verdict,
                     uint64_t attempts, uint64_t differing)
{
    bool broken = strcmp(verdict, "broken") == 0, kept = strcmp(verdict, "kept") == 0;
    if (broken && differing == 0)
        snprintf(t->cell[rung], sizeof t->cell[rung], "broken below");
    else if (broken)
        snprintf(t->cell[rung], sizeof t->cell[rung], "broken %llu/%llu",
                 (unsigned long long)differing, (unsigned long long)attempts);
    else if (kept)
        snprintf(t->cell[rung], sizeof t->cell[rung], "kept %llu", (unsigned long long)attempts);
    else
        snprintf(t->cell[rung], sizeof t->cell[rung], "%s", verdict);
    bool promised = method_promises(t->method, rung);
    if (broken && promised && t->broken_rung == PROMISE_NONE)
        t->broken_rung = rung;
    if (kept && promised)
        t->attempts += attempts;
    t->broken |= broken && promised;
    t->untried |= promised && rung > PROMISES && !broken && !kept;
    t->failed |= strcmp(verdict, "failed") == 0;
    t->tried |= attempts > 0;
}

struct reading {
    struct trial_study *study;
    struct trial_subject *at; /* whose rows come now, from `begin` to `end`; NULL: none */
    enum promise rung;        /* of the last */
    uint64_t begin, end;
    struct csv_range *drop; /* a subject's rows at most once, so there are no more than subjects */
    size_t drops;
};

static struct trial_subject *subject_of(const struct trial_study *s, const struct csv_row *row)
{
    for (size_t i = 0; i < s->subjects; i++) {
        char device[DEVICE_TEXT];
        device_name(s->subject[i].device, device);
        if (strcmp(method_first_name(row->field[CHECK_METHOD]),
                   method_first_name(s->subject[i].method->name)) == 0 &&
            strcmp(row->field[CHECK_ON], device) == 0)
            return &s->subject[i];
    }
    return NULL;
}

static enum promise next_of(const struct trial_subject *t, enum promise rung)
{
    return check_next(t->method->operation, rung);
}

static void forget(struct trial_subject *t)
{
    t->broken = t->exceeds = t->failed = t->tried = t->untried = false;
    t->broken_rung = PROMISE_NONE;
    t->attempts = 0;
}

static void set_exceeds(struct trial_subject *t, bool exceeds)
{
    t->exceeds |= exceeds;
    t->broken |= exceeds;
}

/* The rows of the subject at hand are to be dropped, and it is to be tried again. */
static void drop(struct reading *r)
{
    r->drop[r->drops++] = (struct csv_range){r->begin, r->end};
    forget(r->at);
    r->at->finished = false;
    r->at = NULL;
}

/* Are its rows all there? In older files those beside the ladder are not. */
static bool whole_ladder(const struct reading *r)
{
    return !r->at || r->rung >= PROMISE_CORRECTLY_ROUNDED;
}

static enum status take_row(void *context, const struct csv_row *row, struct problem *p)
{
    struct reading *r = context;
    uint64_t attempts, differing, exceeding = 0;
    if (row->fields < CHECK_COLUMNS)
        return problem(p, STATUS_USAGE,
                       "%s: was written by an older version, without column '%s'; --force starts "
                       "over",
                       row->path, check_column(row->fields)->name);
    struct trial_subject *t = subject_of(r->study, row);
    enum promise rung = promise_named(row->field[CHECK_RUNG]),
                 kept = promise_named(row->field[CHECK_KEEPS]);
    bool first = rung == PROMISE_RUN_TO_RUN;
    if (!t || kept >= PROMISES ||
        (first ? !whole_ladder(r) : t != r->at || rung != next_of(t, r->rung)))
        return problem(p, STATUS_DATA, "%s: line %zu: found %s of %s, which is not due there",
                       row->path, row->line, row->field[CHECK_RUNG], row->field[CHECK_METHOD]);
    enum status status = verdicts_check(row, p);
    if (status == STATUS_OK)
        status = csv_whole(row, CHECK_ATTEMPTS, "attempts", &attempts, p);
    if (status == STATUS_OK)
        status = csv_whole(row, CHECK_DIFFERING, "differing", &differing, p);
    if (status == STATUS_OK && *row->field[CHECK_EXCEEDING])
        status = csv_whole(row, CHECK_EXCEEDING, "over_bound", &exceeding, p);
    if (status != STATUS_OK)
        return status;
    if (first && t->line > 0)
        return problem(p, STATUS_DATA,
                       "%s: line %zu: found %s on %s again, which is on line %zu already: expected "
                       "each subject once; give another --out, or --force to start over",
                       row->path, row->line, t->method->name, row->field[CHECK_ON], t->line);
    if (first && r->at)
        drop(r);
    if (first) {
        t->line = row->line;
        r->begin = row->begin;
        forget(t);
    }
    r->at = t;
    r->rung = rung;
    r->end = row->end;
    t->kept = kept;
    set_cell(t, rung, row->field[CHECK_VERDICT], attempts, differing);
    set_exceeds(t, exceeding > 0);
    if (next_of(t, rung) < PROMISES_ALL)
        return STATUS_OK;
    t->finished = true;
    if (t->failed)
        drop(r);
    r->at = NULL;
    return STATUS_OK;
}

static enum status read_rows(struct trial_study *s, uint64_t *whole, struct problem *p)
{
    struct reading r = {.study = s};
    r.drop = calloc(s->subjects + 1, sizeof *r.drop);
    enum status status = r.drop
                             ? csv_read_since(s->directory.trial, check_column, CHECK_COLUMNS_OLD,
                                              CHECK_COLUMNS, take_row, &r, whole, p)
                             : problem(p, STATUS_MEMORY, "run trial: out of memory");
    if (status == STATUS_OK && r.at) /* the last subject's are not all there */
        *whole = r.begin;
    if (status == STATUS_OK && r.drops > 0)
        status = csv_drop(s->directory.trial, whole, r.drop, r.drops, p);
    free(r.drop);
    return status;
}

enum status trial_study_open(struct trial_study *s, const struct experiment_run *run,
                             struct problem *p)
{
    bool resumed = false;
    uint64_t whole = 0;
    enum status status = directory_open(&s->directory, run->out, p);
    if (status == STATUS_OK)
        status = claim(s, run, &resumed, p);
    if (status == STATUS_OK && resumed && access(s->directory.trial, F_OK) == 0)
        status = read_rows(s, &whole, p);
    return status == STATUS_OK
               ? csv_file_open(&s->csv, s->directory.trial, whole, check_column, CHECK_COLUMNS, p)
               : status;
}

enum status trial_study_add(struct trial_study *s, struct trial_subject *t,
                            const struct check_report *r, const char *program, struct problem *p)
{
    check_rows(&s->csv.pending, r, program);
    t->attempts = 0;
    for (enum promise rung = next_of(t, 0); rung < PROMISES_ALL; rung = next_of(t, rung)) {
        struct check_rung is = check_rung(r, rung);
        set_cell(t, rung, check_state_name[is.state], is.attempts, is.differing);
    }
    set_exceeds(t, check_exceeded(r));
    t->kept = r->kept;
    t->failed |= r->failure.status != STATUS_OK;
    t->disagreed |= r->failure.status == STATUS_FAILED;
    t->finished = true;
    return csv_file_flush(&s->csv, p);
}

/* Adds on how many hosts ranks of MPI libraries have run. */
static enum status add_hosts(const struct trial_study *s, struct problem *p)
{
    json_t *study = NULL;
    bool any = false;
    for (size_t i = 0; i < s->subjects; i++)
        any |= mpi_hosts_most(s->subject[i].method) > 0;
    if (!any)
        return STATUS_OK;
    enum status status = study_read(&study, s->directory.study, p);
    for (size_t i = 0; status == STATUS_OK && i < s->subjects; i++)
        provenance_hosts(study, &s->subject[i].method, 1);
    if (status == STATUS_OK)
        status = study_write(study, s->directory.study, p);
    json_decref(study);
    return status;
}

enum status trial_study_close(struct trial_study *s, struct problem *p)
{
    bool open = s->csv.fd >= 0;
    enum status status = csv_file_close(&s->csv, p);
    return open && status == STATUS_OK ? add_hosts(s, p) : status;
}

void trial_study_free(struct trial_study *s)
{
    check_request_free(&s->request);
    directory_close(&s->directory);
    free(s->subject);
}
