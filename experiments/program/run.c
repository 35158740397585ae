/* ulpscope run: sweeps the cases of an experiment into a results directory. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/program/flattened.h"
#include "experiments/program/run_command.h"
#include "experiments/program/verbs.h"
#include "experiments/studies/trial_python.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/device.h"
#include "experiments/system/rank_gpus.h"
#include "experiments/studies/recommend/files.h"
#include "experiments/subjects/interrupt.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/ranks.h"
#include "experiments/sweep/resume.h"
#include "reports/results/study.h"

/* Prints a line for each of the first few failures. */
static void note(void *context, const char *line)
{
    enum { NOTES_MAX = 20 };
    size_t *notes = context;
    if (++*notes <= NOTES_MAX)
        fprintf(stderr, "ulpscope: %s\n", line);
}

/* --shard, or that of the study repeated. */
static enum status read_shard(struct run_command *c, const char *from, struct problem *p)
{
    const char *asked = argument_value(c->arguments, "shard");
    const char *theirs = json_string_value(json_object_get(c->from, "shard"));
    if (asked)
        return shard_parse(&c->shard, "option --shard", asked, p);
    return theirs ? shard_parse(&c->shard, from, theirs, p) : STATUS_OK;
}

static enum status add_python(struct run_command *c, struct problem *p)
{
    struct list libraries = {0};
    enum status status = argument_list(c->arguments, "python", &libraries, p);
    if (status == STATUS_OK && libraries.count > 0 && c->experiment != &experiment_trial)
        status = problem(p, STATUS_USAGE, "run %s: option --python is one of `run trial`",
                         c->experiment->name);
    if (c->experiment == &experiment_trial && (libraries.count > 0 || c->from))
        foreign_name_undescribed();
    if (status == STATUS_OK && libraries.count > 0)
        status = trial_python(&c->request, &libraries, p);
    list_free(&libraries);
    return status;
}

/* Of a study whose methods take no rows. */
static void say_flattened(const struct run_command *c)
{
    const struct plan *plan = &c->plan;
    const struct axes *axes = &c->axes;
    bool flattens = axes->methods > 0 && axes->data_n.count == 0;
    for (size_t i = 0; i < axes->methods; i++)
        flattens = flattens && operation_flattens(axes->method[i]->operation);
    for (size_t i = 0; flattens && i < plan->data_sets; i++)
        for (size_t k = 0; k < plan->data[i].count; k++) {
            const struct data *d = &plan->data[i].item[k];
            flattened_say("run", axes->method[0]->operation, d->name, d->rows, d->array.n);
        }
}

/* Where no device was asked for, one may be found, or the study repeated with --from names one. */
static bool may_use_gpus(const struct request *r)
{
    const struct list *asked = &r->axis[AXIS_DEVICE];
    bool may = asked->count == 0;
    for (size_t i = 0; i < asked->count; i++)
        may |= strcmp(asked->item[i], "cpu") != 0;
    return may;
}

static enum status resolve(struct run_command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    const char *from = c->from_path, *name = c->merged || !a->operands ? NULL : a->operand[0];
    enum status status = request_arguments(&c->request, a, p);
    c->rank = (struct rank){0, 1};
    if (status == STATUS_OK && !c->merged)
        status = rank_find(&c->rank, p);
    if (status == STATUS_OK && may_use_gpus(&c->request))
        rank_take_gpu(c->rank);
    if (status == STATUS_OK && from)
        status = study_read(&c->from, from, p);
    if (status == STATUS_OK)
        status = read_shard(c, from, p);
    if (status == STATUS_OK && from) {
        const char *theirs = json_string_value(json_object_get(c->from, "experiment"));
        if (name && strcmp(name, theirs) != 0)
            status =
                problem(p, STATUS_USAGE, "run: %s is a study of %s, found %s", from, theirs, name);
        name = theirs;
    }
    if (status == STATUS_OK)
        status = experiment_named(&c->experiment, name, p);
    if (status == STATUS_OK && !c->merged)
        status = add_python(c, p);
    if (status == STATUS_OK && from)
        status =
            request_repeat(&c->request, c->experiment, json_object_get(c->from, "axes"), from, p);
    if (status == STATUS_OK)
        status = request_operation(&c->request, a, p);
    if (status != STATUS_OK || c->experiment->run)
        return status;
    status = request_keep_both(&c->request, a, c->experiment, p);
    if (status != STATUS_OK)
        return status;
    if (c->request.axis[AXIS_SECONDS].count > 0)
        return problem(p, STATUS_USAGE, "run %s: option --seconds is one of `run trial`",
                       c->experiment->name);
    if (c->request.axis[AXIS_WEIGHT].count > 0)
        return problem(p, STATUS_USAGE, "run %s: option --weight is one of `run steps`",
                       c->experiment->name);
    status = axes_resolve(&c->axes, c->experiment, &c->request, p);
    if (status == STATUS_OK)
        status = axes_join(&c->axes, p);
    if (status == STATUS_OK)
        status = plan_make(&c->plan, &c->axes, p);
    c->whole = c->plan.case_count;
    if (status == STATUS_OK && from && c->rank.index == 0) {
        size_t notes = 0;
        provenance_changed(&c->axes, c->from, from, note, &notes);
    }
    if (status == STATUS_OK && !c->merged && c->rank.index == 0 &&
        !argument_flag(c->arguments, "quiet"))
        say_flattened(c);
    if (status == STATUS_OK)
        status = shard_keep(&c->plan, c->shard, p);
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
                                    .force = argument_flag(a, "force") && !c->merged,
                                    .shard = c->shard,
                                    .merged = c->merged,
                                    .argc = a->argc,
                                    .argv = a->argv,
                                    .stop = interrupt_catch(),
                                    .progress = !quiet && isatty(STDERR_FILENO),
                                    .note = note,
                                    .context = &notes};
    struct meeting *meeting = NULL;
    enum status status = STATUS_OK;
    options.joins = c->rank.count > 1;
    if (options.joins) {
        status = ranks_sweep(&meeting, c->rank, &c->plan, &options, &why);
        if (c->rank.index > 0 || status != STATUS_OK) {
            if (status != STATUS_OK)
                status = ranks_failed(meeting, status, &why, p);
            meeting_close(meeting);
            return status;
        }
        options.force = false;
        plan_again(&c->plan);
    }
    status = sweep_run(&outcome, &c->plan, &options, &why);
    meeting_close(meeting);
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
        return problem(p, STATUS_USAGE, "run %s: option --json: %s", c->experiment->name,
                       c->experiment == &experiment_trial ? "see `check --json`"
                                                          : "found it, expected none");
    return c->experiment->run(
        &(struct experiment_run){.request = &c->request,
                                 .out = c->out,
                                 .shard = c->shard,
                                 .rank = c->rank,
                                 .merged = c->merged,
                                 .force = argument_flag(a, "force") && !c->merged,
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

bool left_to_rank_0(const char *verb, enum status *status, struct problem *p)
{
    struct rank rank;
    *status = rank_find(&rank, p);
    if (*status == STATUS_OK && rank.index > 0)
        fprintf(stderr,
                "ulpscope: rank %u of %u leaves %s to rank 0 (ULPSCOPE_RANK=off for a process by "
                "itself)\n",
                rank.index, rank.count, verb);
    return *status != STATUS_OK || rank.index > 0;
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
    if (is && !left_to_rank_0("recommend", status, p))
        *status = recommend_repeat(study, from, a, p);
    json_decref(study);
    return is;
}

/* --out, or results-accuracy, of a shard results-accuracy-2of4. */
static enum status name_out(struct run_command *c, const char *out, struct problem *p)
{
    int length = out                  ? asprintf(&c->out, "%s", out)
                 : c->shard.count > 0 ? asprintf(&c->out, "results-%s-%uof%u", c->experiment->name,
                                                 c->shard.index, c->shard.count)
                                      : asprintf(&c->out, "results-%s", c->experiment->name);
    if (length >= 0)
        return STATUS_OK;
    c->out = NULL;
    return problem(p, STATUS_MEMORY, "out of memory");
}

static enum status go(struct run_command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    if (argument_flag(a, "dry-run") && c->rank.index > 0)
        return STATUS_OK; /* rank 0 says it */
    if (c->experiment->run)
        return run_itself(c, p);
    if (!argument_flag(a, "dry-run"))
        return sweep(c, p);
    return argument_flag(a, "json") ? run_dry_json(c, p) : run_dry_text(c, p);
}

static void run_command_free(struct run_command *c)
{
    plan_free(&c->plan);
    axes_free(&c->axes);
    request_free(&c->request);
    json_decref(c->from);
    free(c->out);
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct run_command c = {.arguments = a, .from_path = argument_value(a, "from")};
    enum status repeated;
    if (repeats_recommend(a, &repeated, p))
        return repeated;
    enum status status = resolve(&c, p);
    if (status == STATUS_OK)
        status = name_out(&c, argument_value(a, "out"), p);
    if (status == STATUS_OK)
        status = go(&c, p);
    run_command_free(&c);
    return status;
}

enum status run_merged(const struct arguments *a, const char *out, uint32_t shards,
                       struct problem *p)
{
    struct run_command c = {.arguments = a, .merged = shards};
    char *from;
    if (asprintf(&from, "%s/study.json", out) < 0)
        return problem(p, STATUS_MEMORY, "out of memory");
    c.from_path = from;
    device_names_only();
    foreign_names_only();
    enum status status = resolve(&c, p);
    if (status == STATUS_OK)
        status = name_out(&c, out, p);
    if (status == STATUS_OK)
        status = go(&c, p);
    run_command_free(&c);
    free(from);
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
        "row of\n"
        "results.csv, each case a row of summary.csv; study.json says what was run, where and with "
        "what.\n"
        "--out is results-EXPERIMENT if not given. The same command again continues where it was\n"
        "interrupted or killed; --from repeats a study, and other options then change its axes.\n"
        "Processes that mpirun or srun started share the study, and the results directory is that "
        "of "
        "one process\nbut for order and times (ULPSCOPE_RANK=off: not this one).\n"
        "Exit status 1: an error exceeded its bound, or the results of a method broke its promise. "
        "The table\n"
        "marks the method with a !, and a line below it says how.\n"
        "\n"
        "`run trial` is not a sweep: it runs `check` on each subject and writes trial.csv, with a "
        "row for each\n"
        "promise of the ladder. It takes --method, --device, --storage, --accumulator, --input, "
        "--n, --seed, --threads,\n"
        "--blocks, --scan, --runs, --seconds as `check` does; exit status 1: a promise is broken.",
    .examples = "  ulpscope run accuracy\n"
                "  ulpscope run accuracy --device cpu --method sum/serial,sum/tiled --input "
                "uniform,cond --n 2^10..2^14 --cond 1e3,1e6 --out results-mine\n"
                "  ulpscope run variance --device cpu --method sum/atomic --n 1e5 --runs 50 --out "
                "results-atomic\n"
                "  ulpscope run drift --device cpu --method scan/serial,scan/tiled --input uniform "
                "--n 2^16 --scan exclusive --output storage --out results-exclusive\n"
                "  ulpscope run trial --device cpu --seconds 1 --out results-trial\n"
                "  mpirun -n 4 ulpscope run accuracy --device cpu --out results-ranks\n"
                "  ulpscope run accuracy --dry-run",
    .run = run,
};
