/* trial: which promises do all methods keep? Each goes through `check`. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/studies/trial_study.h"
#include "reference/base/grow.h"
#include "experiments/check/report.h"
#include "experiments/sweep/parts.h"
#include "experiments/sweep/provenance.h"
#include "experiments/subjects/subject.h"
#include "experiments/check/recorded.h"
#include "experiments/cases/experiment.h"
#include "experiments/system/machine.h"
#include "experiments/system/progress.h"

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
    if (broken && promised && !t->broken)
        t->broken_rung = rung;
    if (kept && promised)
        t->attempts += attempts;
    t->broken |= broken && promised;
    t->untried |= promised && rung > PROMISES && !broken && !kept;
    t->failed |= strcmp(verdict, "failed") == 0;
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

/* The rows of the subject at hand are to be dropped, and it is to be tried again. */
static void drop(struct reading *r)
{
    r->drop[r->drops++] = (struct csv_range){r->begin, r->end};
    r->at->failed = r->at->broken = r->at->untried = r->at->finished = false;
    r->at->attempts = 0;
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
    uint64_t attempts, differing;
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
    enum status status = csv_whole(row, CHECK_ATTEMPTS, "attempts", &attempts, p);
    if (status == STATUS_OK)
        status = csv_whole(row, CHECK_DIFFERING, "differing", &differing, p);
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
        t->broken = t->failed = t->untried = false;
        t->attempts = 0;
    }
    r->at = t;
    r->rung = rung;
    r->end = row->end;
    t->kept = kept;
    set_cell(t, rung, row->field[CHECK_VERDICT], attempts, differing);
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

/* Writes the rows of a subject. */
static enum status trial_study_add(struct trial_study *s, struct trial_subject *t,
                                   const struct check_report *r, const char *program,
                                   struct problem *p)
{
    check_rows(&s->csv.pending, r, program);
    t->attempts = 0;
    for (enum promise rung = next_of(t, 0); rung < PROMISES_ALL; rung = next_of(t, rung)) {
        struct check_rung is = check_rung(r, rung);
        set_cell(t, rung, check_state_name[is.state], is.attempts, is.differing);
    }
    t->kept = r->kept;
    t->failed |= r->failure.status != STATUS_OK;
    t->finished = true;
    return csv_file_flush(&s->csv, p);
}

enum status trial_study_close(struct trial_study *s, struct problem *p)
{
    return csv_file_close(&s->csv, p);
}

void trial_study_free(struct trial_study *s)
{
    check_request_free(&s->request);
    directory_close(&s->directory);
    free(s->subject);
}

/* What commands begin with: not where the program lay on this machine. */
static const char *program_name(const struct experiment_run *run)
{
    const char *slash = strrchr(run->argv[0], '/');
    return *run->argv[0] == '/' ? slash + 1 : run->argv[0];
}

static void tell(const struct experiment_run *run, struct progress_line *line,
                 const struct problem *what)
{
    if (what->status == STATUS_OK || !run->note)
        return;
    progress_line_clear(line);
    run->note(run->context, what->text);
}

enum status trial_try(struct trial_study *s, struct trial_subject *t,
                      const struct experiment_run *run, struct progress_line *line,
                      struct problem *p)
{
    struct check_report report;
    struct check_request request = s->request;
    struct problem why = {0};
    request.method = t->method;
    request.device = t->device;
    request.promise = t->method->promise;
    request.beside = t->method->beside;
    enum status status = check_subject(&report, &request, &why);
    t->absent = status == STATUS_DEVICE;
    if (t->absent)
        return STATUS_OK;
    if (status != STATUS_OK)
        return problem(p, status, "%s", why.text);
    tell(run, line, &report.failure);
    tell(run, line, &report.untried);
    return trial_study_add(s, t, &report, program_name(run), p);
}

static enum status try_all(struct trial_study *s, const struct experiment_run *run,
                           struct problem *p)
{
    enum status status = STATUS_OK;
    struct progress_line *line = progress_line_begin(run->progress);
    size_t left = 0;
    for (size_t i = 0; i < s->subjects; i++)
        left += !s->subject[i].finished;
    for (size_t i = 0; i < s->subjects && status == STATUS_OK; i++) {
        struct trial_subject *t = &s->subject[i];
        if (t->finished)
            continue;
        progress_line_say(line, (double)left * s->request.seconds, "trial: %zu of %zu: %s", i + 1,
                          s->subjects, t->method->name);
        status = trial_try(s, t, run, line, p);
        left--;
    }
    progress_line_end(line);
    return status;
}

static enum status print(const struct trial_study *s, const struct experiment_run *run,
                         struct problem *p)
{
    struct text text = {0};
    trial_says(&text, s, run);
    const char *string = text_string(&text);
    if (string)
        fputs(string, stdout);
    text_free(&text);
    return string ? STATUS_OK : problem(p, STATUS_MEMORY, "out of memory for the table");
}

static enum status verdict(const struct trial_study *s, const struct experiment_run *run,
                           struct problem *p)
{
    size_t broken = 0, failed = 0;
    const char *first = "";
    for (size_t i = 0; i < s->subjects; i++) {
        if (s->subject[i].broken && broken++ == 0)
            first = s->subject[i].method->name;
        failed += s->subject[i].failed;
    }
    if (broken > 0)
        return problem(p, STATUS_FAILED, "%s/trial.csv: %zu subjects break their promise, first %s",
                       run->out, broken, first);
    if (failed > 0)
        return problem(p, STATUS_DATA,
                       "%s/trial.csv: %zu subjects failed; the same command tries them again",
                       run->out, failed);
    return STATUS_OK;
}

static enum status interrupted(const struct trial_study *s, const struct experiment_run *run,
                               struct problem *p)
{
    size_t finished = 0;
    for (size_t i = 0; i < s->subjects; i++)
        finished += s->subject[i].finished;
    return problem(p, STATUS_INTERRUPTED,
                   "interrupted: %zu of %zu subjects are finished in %s; the same command goes on "
                   "from there",
                   finished, s->subjects, run->out);
}

void trial_keep_shard(struct trial_study *s, struct shard shard)
{
    size_t kept = 0;
    if (shard.count == 0)
        return;
    for (size_t i = shard.index - 1; i < s->subjects; i += shard.count)
        s->subject[kept++] = s->subject[i];
    s->subjects = kept;
}

static bool runs_there(const struct trial_study *s, const struct trial_subject *t)
{
    const struct pairs *pairs = &s->request.pairs;
    for (size_t i = 0; i < pairs->count; i++)
        if (method_supports(t->method, t->device.kind, pairs->item[i].storage,
                            pairs->item[i].accumulator))
            return true;
    return false;
}

/* Of a merged study: has every subject that the device runs its rows? */
static enum status all_there(struct trial_study *s, const struct experiment_run *run,
                             struct problem *p)
{
    for (size_t i = 0; i < s->subjects; i++) {
        struct trial_subject *t = &s->subject[i];
        t->absent = !t->finished && !runs_there(s, t);
        if (!t->finished && !t->absent)
            return problem(p, STATUS_DATA,
                           "%s/trial.csv: %s is missing, of shard %zu/%u: run that shard again "
                           "until it is finished, then merge with --force",
                           run->out, t->method->name, i % run->merged + 1, run->merged);
    }
    return STATUS_OK;
}

enum status trial_recorded(struct check_recorded **recorded, struct trial_study *s,
                           struct problem *p)
{
    enum status status = access(build_recorded, R_OK) == 0
                             ? check_recorded_read(recorded, build_recorded, NULL, 0, p)
                             : STATUS_OK;
    s->request.recorded = *recorded;
    return status;
}

static enum status run_trial(const struct experiment_run *run, struct problem *p)
{
    struct trial_study s;
    struct check_recorded *recorded = NULL;
    struct problem why = {0};
    struct meeting *meeting = NULL;
    struct experiment_run whole = *run;
    if (run->rank.count > 1 && !run->dry_run) {
        enum status shared = trial_share(&meeting, run, p);
        if (run->rank.index > 0 || shared != STATUS_OK) {
            meeting_close(meeting);
            return shared;
        }
        whole.force = false;
        whole.joins = true;
        run = &whole;
    }
    enum status status = trial_study_make(&s, run->request, run->stop, &why);
    if (status == STATUS_OK && run->dry_run) {
        trial_keep_shard(&s, run->shard);
        for (size_t i = 0; i < s.subjects; i++)
            printf("%s\n", s.subject[i].method->name);
        trial_study_free(&s);
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        status = trial_recorded(&recorded, &s, &why);
    if (status == STATUS_OK)
        status = trial_study_open(&s, run, &why);
    trial_keep_shard(&s, run->shard); /* study.json names the subjects of all */
    if (status == STATUS_OK)
        status = run->merged ? all_there(&s, run, &why) : try_all(&s, run, &why);
    enum status closed = trial_study_close(&s, &why);
    status = status == STATUS_OK ? closed : status;
    if (status == STATUS_INTERRUPTED)
        interrupted(&s, run, p);
    else if (status != STATUS_OK)
        problem(p, status, "%s", why.text);
    if (status == STATUS_OK && !run->quiet)
        status = print(&s, run, p);
    if (status == STATUS_OK)
        status = verdict(&s, run, p);
    check_recorded_free(recorded);
    trial_study_free(&s);
    if (meeting)
        fold_end(run->out);
    meeting_close(meeting);
    return status;
}

const struct experiment experiment_trial = {
    .name = "trial",
    .summary = "which promises do methods keep: each goes through `check`",
    .run = run_trial,
};
