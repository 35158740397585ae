/* ulpscope run: sweeps the cases of an experiment into a results directory. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/subjects/interrupt.h"
#include "experiments/studies/recommend/files.h"
#include "experiments/sweep/resume.h"
#include "experiments/program/run.h"
#include "experiments/program/verbs.h"

/* Prints a line for each of the first few failures. */
static void note(void *context, const char *line)
{
    enum { NOTES_MAX = 20 };
    size_t *notes = context;
    if (++*notes <= NOTES_MAX)
        fprintf(stderr, "ulpscope: %s\n", line);
}

static enum status resolve(struct run_command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    const char *from = argument_value(a, "from"), *name = a->operands ? a->operand[0] : NULL;
    enum status status = request_arguments(&c->request, a, p);
    if (status == STATUS_OK && from)
        status = study_read(&c->from, from, p);
    if (status == STATUS_OK && from) {
        const char *theirs = json_string_value(json_object_get(c->from, "experiment"));
        if (name && strcmp(name, theirs) != 0)
            status =
                problem(p, STATUS_USAGE, "run: %s is a study of %s, found %s", from, theirs, name);
        name = theirs;
    }
    if (status == STATUS_OK)
        status = experiment_named(&c->experiment, name, p);
    if (status == STATUS_OK && from)
        status =
            request_repeat(&c->request, c->experiment, json_object_get(c->from, "axes"), from, p);
    if (status != STATUS_OK || c->experiment->run)
        return status;
    if (c->request.axis[AXIS_SECONDS].count > 0)
        return problem(p, STATUS_USAGE, "run %s: option --seconds is one of `run trial`",
                       c->experiment->name);
    status = axes_resolve(&c->axes, c->experiment, &c->request, p);
    if (status == STATUS_OK)
        status = plan_make(&c->plan, &c->axes, p);
    return status == STATUS_OK && from ? resume_inputs(&c->plan, c->from, from, false, p) : status;
}

static enum status sweep(struct run_command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    size_t notes = 0;
    bool quiet = argument_flag(a, "quiet"), json = argument_flag(a, "json");
    struct problem why = {0};
    struct sweep_outcome outcome;
    struct sweep_options options = {.out = c->out,
                                    .force = argument_flag(a, "force"),
                                    .argc = a->argc,
                                    .argv = a->argv,
                                    .stop = interrupt_catch(),
                                    .progress = !quiet && isatty(STDERR_FILENO),
                                    .note = note,
                                    .context = &notes};
    enum status status = sweep_run(&outcome, &c->plan, &options, &why);
    if (status == STATUS_INTERRUPTED)
        return problem(
            p, status,
            "interrupted: %zu of %zu cases are finished in %s%s; the same command goes on "
            "from there",
            outcome.finished, c->plan.case_count, c->out,
            outcome.finished == c->plan.case_count ? ", but not all times" : "");
    if (status != STATUS_OK)
        return problem(p, status, "%s", why.text);
    if (json)
        status = run_report_json(c, &outcome, p);
    else if (!quiet)
        status = run_report_text(c, &outcome, p);
    return status == STATUS_OK ? sweep_verdict(&outcome, &c->plan, c->out, p) : status;
}

/* An experiment that is no sweep. */
static enum status run_itself(const struct run_command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    size_t notes = 0;
    bool quiet = argument_flag(a, "quiet");
    if (argument_flag(a, "json"))
        return problem(p, STATUS_USAGE, "run %s: option --json: see `check --json`",
                       c->experiment->name);
    return c->experiment->run(&(struct experiment_run){.request = &c->request,
                                                       .out = c->out,
                                                       .force = argument_flag(a, "force"),
                                                       .dry_run = argument_flag(a, "dry-run"),
                                                       .quiet = quiet,
                                                       .progress = !quiet && isatty(STDERR_FILENO),
                                                       .argc = a->argc,
                                                       .argv = a->argv,
                                                       .stop = interrupt_catch(),
                                                       .note = note,
                                                       .context = &notes},
                              p);
}

/* Is what --from names the study of a recommendation, which is no experiment? Then it is asked
 * again. */
static bool repeats_recommend(const struct arguments *a, enum status *status, struct problem *p)
{
    const char *from = argument_value(a, "from");
    json_t *study = NULL;
    if (!from || a->operands > 0 || study_read(&study, from, NULL) != STATUS_OK)
        return false;
    bool is = strcmp(json_string_value(json_object_get(study, "experiment")), "recommend") == 0;
    if (is)
        *status = recommend_repeat(study, from, a, p);
    json_decref(study);
    return is;
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct run_command c = {.arguments = a};
    enum status repeated;
    if (repeats_recommend(a, &repeated, p))
        return repeated;
    const char *out = argument_value(a, "out");
    enum status status = resolve(&c, p);
    if (status == STATUS_OK &&
        asprintf(&c.out, out ? "%s" : "results-%s", out ? out : c.experiment->name) < 0)
        status = problem(p, STATUS_DEVICE, "out of memory");
    if (status == STATUS_OK && c.experiment->run)
        status = run_itself(&c, p);
    else if (status == STATUS_OK && argument_flag(a, "dry-run"))
        argument_flag(a, "json") ? run_dry_json(&c) : run_dry_text(&c);
    else if (status == STATUS_OK)
        status = sweep(&c, p);
    plan_free(&c.plan);
    axes_free(&c.axes);
    request_free(&c.request);
    json_decref(c.from);
    free(c.out);
    return status;
}

const struct verb verb_run = {
    .name = "run",
    .operands = "EXPERIMENT",
    .least = 0,
    .most = 1,
    .summary = "sweeps the cases of an experiment into a results directory",
    .details =
        "Axes are comma-separated lists; each combination is a case, each execution of a case a "
        "row of\nresults.csv, each case a row of summary.csv; study.json says what was run, where "
        "and with what.\n--out is results-EXPERIMENT if not given. The same command again goes on "
        "where it was\ninterrupted or killed; --from repeats a study, and other options then "
        "change its axes.\nExit status 1 where a row broke its bound, or the results of a method "
        "its promise: a ! behind its "
        "name\nin the table, and a line below it, say so.\n\n"
        "`run trial` is no sweep: each subject goes through `check`, into trial.csv, a row for "
        "each "
        "rung of the\nladder. It takes --method, --device, --storage, --accumulator, --input, --n, "
        "--seed, --threads,\n--blocks, --scan, --runs, --seconds as `check` does; exit status 1 "
        "where a promise is broken.",
    .examples = "  ulpscope run accuracy\n"
                "  ulpscope run accuracy --device cpu --method sum/serial,sum/tiled --input "
                "uniform,cond --n 2^10..2^14 --cond 1e3,1e6 --out results-mine\n"
                "  ulpscope run variance --device cpu --method sum/atomic --n 1e5 --runs 50 --out "
                "results-atomic\n"
                "  ulpscope run drift --device cpu --method scan/serial,scan/tiled --input uniform "
                "--n 2^16 --scan exclusive --output storage --out results-exclusive\n"
                "  ulpscope run trial --device cpu --seconds 1 --out results-trial\n"
                "  ulpscope run accuracy --dry-run",
    .run = run,
};
