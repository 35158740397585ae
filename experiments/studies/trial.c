/* trial: which promises do all methods keep? Each goes through `check`. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/check/recorded.h"
#include "experiments/cases/experiment.h"
#include "experiments/system/machine.h"
#include "experiments/system/progress.h"
#include "experiments/studies/trial_study.h"
#include "reports/text/table.h"

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

static enum status try_subject(struct trial_study *s, struct trial_subject *t,
                               const struct experiment_run *run, struct progress_line *line,
                               struct problem *p)
{
    struct check_report report;
    struct check_request request = s->request;
    struct problem why = {0};
    request.method = t->method;
    request.device = t->device;
    request.promise = t->method->promise;
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
        status = try_subject(s, t, run, line, p);
        left--;
    }
    progress_line_end(line);
    return status;
}

static void add_table(struct text *to, const struct trial_study *s)
{
    struct table table = {.align = "llllllll"};
    static const char *const header[] = {"method", "device", "promises", "keeps"};
    char device[DEVICE_TEXT];
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        table_cell(&table, "%s", header[i]);
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
        table_cell(&table, "%s", promise_name[rung]);
    for (size_t i = 0; i < s->subjects; i++) {
        const struct trial_subject *t = &s->subject[i];
        if (t->absent)
            continue;
        device_name(t->device, device);
        table_cell(&table, "%s", t->method->name);
        table_cell(&table, "%s", device);
        table_cell(&table, "%s", promise_name[t->method->promise]);
        table_cell(&table, "%s%s", promise_name[t->kept], t->broken ? "!" : "");
        for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
            table_cell(&table, "%s", t->cell[rung]);
    }
    table_draw(to, &table);
    to->failed |= table.failed;
    table_free(&table);
}

static size_t count(const struct trial_study *s, bool absent)
{
    size_t found = 0;
    for (size_t i = 0; i < s->subjects; i++)
        found += s->subject[i].absent == absent;
    return found;
}

static enum status print(const struct trial_study *s, const struct experiment_run *run,
                         struct problem *p)
{
    struct text text = {0};
    add_table(&text, s);
    text_format(&text, "\n%zu subjects", count(s, false));
    if (count(s, true) > 0)
        text_format(&text, ", %zu others not there", count(s, true));
    text_format(&text,
                ": %s/trial.csv (a row for each rung, with a witness where it is broken), "
                "study.json\n",
                run->out);
    const char *string = text_string(&text);
    if (string)
        fputs(string, stdout);
    text_free(&text);
    return string ? STATUS_OK : problem(p, STATUS_DEVICE, "out of memory for the table");
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

static enum status run_trial(const struct experiment_run *run, struct problem *p)
{
    struct trial_study s;
    struct check_recorded *recorded = NULL;
    struct problem why = {0};
    enum status status = trial_study_make(&s, run->request, run->stop, &why);
    if (status == STATUS_OK && run->dry_run) {
        for (size_t i = 0; i < s.subjects; i++)
            printf("%s\n", s.subject[i].method->name);
        trial_study_free(&s);
        return STATUS_OK;
    }
    if (status == STATUS_OK && access(build_recorded, R_OK) == 0)
        status = check_recorded_read(&recorded, build_recorded, &why);
    s.request.recorded = recorded;
    if (status == STATUS_OK)
        status = trial_study_open(&s, run, &why);
    if (status == STATUS_OK)
        status = try_all(&s, run, &why);
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
    return status;
}

const struct experiment experiment_trial = {
    .name = "trial",
    .summary = "which promises do methods keep: each goes through `check`",
    .run = run_trial,
};
