/* trial: which promises do all methods keep? Each goes through `check`. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "experiments/studies/trial_study.h"
#include "experiments/sweep/parts.h"
#include "experiments/subjects/foreign.h"
#include "experiments/check/recorded.h"
#include "experiments/cases/experiment.h"
#include "experiments/system/machine.h"
#include "experiments/system/progress.h"

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

/* A function of Python that could not be asked what it is: why, once for each rung. */
static void not_described(struct check_report *report, const struct check_request *request,
                          const char *why)
{
    *report = (struct check_report){.request = *request};
    problem(&report->untried, STATUS_DATA, "%s", why);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
        const struct check_kind_facts *is = &check_kinds[kind], *before = kind ? is - 1 : NULL;
        if (!before || is->rung != before->rung || is->beside != before->beside)
            snprintf(report->tried[kind].untried, CHECK_REASON, "%.*s", CHECK_REASON - 1, why);
    }
}

enum status trial_try(struct trial_study *s, struct trial_subject *t,
                      const struct experiment_run *run, struct progress_line *line,
                      struct problem *p)
{
    struct check_report report;
    struct check_request request = s->request;
    struct problem why = {0};
    t->begun = true;
    request.method = t->method;
    request.device = t->device;
    request.promise = t->method->promise;
    request.beside = t->method->beside;
    const char *undescribed = foreign_undescribed(t->method);
    if (t->method->foreign && !undescribed)
        foreign_wake(t->method, t->device.kind == DEVICE_CUDA ? t->device.index : -1);
    if (undescribed)
        not_described(&report, &request, undescribed);
    enum status status = undescribed ? STATUS_OK : check_subject(&report, &request, &why);
    if (t->method->foreign) /* libraries take much memory */
        foreign_end(t->method);
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
    bool disagreed = false, exceeds = false;
    const char *first = "";
    for (size_t i = 0; i < s->subjects; i++) {
        if (s->subject[i].broken && broken++ == 0)
            first = s->subject[i].method->name;
        failed += s->subject[i].failed;
        exceeds |= s->subject[i].exceeds;
        disagreed |= s->subject[i].disagreed;
    }
    if (broken > 0)
        return problem(p, STATUS_FAILED,
                       "%s/trial.csv: %zu of %zu subjects break%s a promise%s, first %s", run->out,
                       broken, s->subjects, broken == 1 ? "s" : "",
                       exceeds ? " or an error bound" : "", first);
    if (failed > 0)
        return problem(p, disagreed ? STATUS_FAILED : STATUS_DATA,
                       "%s/trial.csv: %zu of %zu subjects failed; the same command tries %s again",
                       run->out, failed, s->subjects, failed == 1 ? "it" : "them");
    return STATUS_OK;
}

static enum status interrupted(const struct trial_study *s, const struct experiment_run *run,
                               struct problem *p)
{
    size_t finished = 0;
    const struct method *cut = NULL;
    for (size_t i = 0; i < s->subjects; i++) {
        finished += s->subject[i].finished;
        if (s->subject[i].begun && !s->subject[i].finished && !s->subject[i].absent)
            cut = s->subject[i].method;
    }
    return problem(p, STATUS_INTERRUPTED,
                   "interrupted: %zu of %zu subjects are finished in %s; %s%sthe same command goes "
                   "on from there",
                   finished, s->subjects, run->out, cut ? cut->name : "",
                   cut ? " was being tried, and has no row: its attempts are not kept; " : "");
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
                           "until it is finished, then merge again",
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
