/* ulpscope check: tries to refute what subjects promise of their bits. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/cases/axes.h"
#include "experiments/check/data.h"
#include "experiments/check/recorded.h"
#include "experiments/check/report.h"
#include "experiments/check/reproducer/reproducer.h"
#include "experiments/subjects/interrupt.h"
#include "experiments/system/machine.h"
#include "experiments/system/progress.h"
#include "experiments/conformance/special.h"
#include "experiments/subjects/foreign.h"
#include "experiments/subjects/subject.h"
#include "experiments/program/check_taken_for.h"
#include "experiments/program/flattened.h"
#include "experiments/cases/again.h"
#include "experiments/program/verbs.h"
#include "reports/csv/file.h"
#include "reports/text/near.h"
#include "reports/text/table.h"

/* The command line, resolved. */
struct command {
    const struct arguments *arguments;
    struct check_request request; /* but for the method, its promise, and the device */
    struct device device[CHECK_DEVICES];
    size_t devices;
    bool json, promised;
    bool several; /* subjects or devices: one of which nothing can be tried hides no other */
    struct check_recorded *recorded;
    json_t *reports;
    struct csv_file csv; /* where --out asks for it */
    bool terminal;       /* progress is drawn: */
    struct progress_line *line;
    const char *reproducer; /* the file that is asked for, or NULL */
    struct reproducer_said reproduced;
    size_t checked, broken, failed, untried;
    bool shown; /* a counterexample, and its command */
    char first_broken[128];
    size_t unheld; /* what --promise asks for was not tried of it */
    char first_unheld[128];
    enum status first_failed, first_untried;
};

static enum status read_promise(enum promise *promise, const char *option, const char *text,
                                struct problem *p)
{
    *promise = promise_named(text);
    return *promise != PROMISES
               ? STATUS_OK
               : near_unknown_option(p, option, text,
                                     "none, run_to_run, gpu_to_gpu, order_invariant, "
                                     "correctly_rounded, batch_invariant or rank_invariant");
}

/* RUNG, ATTEMPT, or RUNG/ATTEMPT. */
static bool is_meant(enum check_kind kind, const char *only)
{
    char both[64];
    const char *name = check_kinds[kind].name;
    bool meant = strcmp(only, name) == 0;
    for (enum promise rung = 0; rung < PROMISES_ALL; rung++)
        if (check_kind_of(kind, rung)) {
            snprintf(both, sizeof both, "%s/%s", promise_name[rung], name);
            meant |= strcmp(only, promise_name[rung]) == 0 || strcmp(only, both) == 0;
        }
    return meant;
}

static enum status read_only(struct command *c, struct problem *p)
{
    struct list list = {0};
    char known[1024] = "one of ";
    enum status status = argument_list(c->arguments, "only", &list, p);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        c->request.tried[kind] = list.count == 0;
    for (enum promise rung = 0; rung < PROMISES_ALL; rung++)
        for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
            size_t used = strlen(known);
            if (check_kind_of(kind, rung))
                snprintf(known + used, sizeof known - used, "%s%s/%s", used > 7 ? ", " : "",
                         promise_name[rung], check_kinds[kind].name);
        }
    for (size_t i = 0; status == STATUS_OK && i < list.count; i++) {
        bool found = false;
        for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
            bool meant = is_meant(kind, list.item[i]);
            c->request.tried[kind] |= meant;
            found |= meant;
        }
        if (!found)
            status = near_unknown_option(p, "only", list.item[i], known);
    }
    c->request.shrink = list.count == 0;
    if (status == STATUS_OK)
        status = check_batches_meant(&c->request, p);
    list_free(&list);
    return status;
}

static enum status resolve(struct command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    const char *promise = argument_value(a, "promise");
    struct request words = {0};
    c->json = argument_flag(a, "json");
    c->reproducer = argument_value(a, "reproducer");
    c->promised = promise;
    c->request.stop = interrupt_catch();
    enum status status = request_arguments(&words, a, p);
    if (status == STATUS_OK)
        status = check_devices(c->device, &c->devices, &words, p);
    c->several = argument_flag(a, "all") || a->operands * c->devices > 1;
    if (status == STATUS_OK)
        status = argument_items(a, "data", &c->request.named, p);
    if (status == STATUS_OK)
        status = check_asked(&c->request, &words, p);
    if (status == STATUS_OK)
        status = read_only(c, p);
    if (status == STATUS_OK && promise)
        status = read_promise(&c->request.promise, "promise", promise, p);
    request_free(&words);
    return status;
}

static enum status print(struct command *c, const struct check_report *r, struct problem *p)
{
    struct text text = {0};
    const char *program = c->arguments->argv[0];
    if (argument_value(c->arguments, "out")) {
        check_rows(&c->csv.pending, r, program);
        enum status status = csv_file_flush(&c->csv, p);
        if (status != STATUS_OK)
            return status;
    }
    if (c->json)
        return json_array_append_new(c->reports, check_json(r, program)) == 0
                   ? STATUS_OK
                   : problem(p, STATUS_MEMORY, "check: out of memory");
    check_text(&text, r, program, table_wide());
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        c->shown |= r->tried[kind].broken > 0;
    if (c->reproducer)
        reproducer_say(&text, c->reproducer, &c->reproduced);
    const char *string = text_string(&text);
    if (string)
        printf("%s%s", c->checked > 1 ? "\n" : "", string);
    text_free(&text);
    fflush(stdout);
    return string ? STATUS_OK : problem(p, STATUS_MEMORY, "check: out of memory for the table");
}

static void show(void *context, const struct method *m, const char *attempt, double seconds)
{
    struct command *c = context;
    progress_line_say(c->line, seconds, "check: %s: %s", m->name, attempt);
}

/* It hides no other subject. */
static void note_untried(struct command *c, const struct method *m, const struct problem *why)
{
    fprintf(stderr, "ulpscope: check: %s: %s\n", m->name, why->text);
    if (c->untried++ == 0)
        c->first_untried = why->status;
}

static enum status try_one(struct command *c, struct check_request *request, struct problem *p)
{
    const struct method *m = request->method;
    struct check_report report;
    struct problem why = {0};
    request->show = show;
    request->context = c;
    c->line = progress_line_begin(c->terminal);
    show(c, m, "start", request->seconds);
    enum status status = check_subject(&report, request, &why);
    progress_line_end(c->line);
    if (status == STATUS_DEVICE && argument_flag(c->arguments, "all"))
        return STATUS_OK; /* it is not there */
    if (status != STATUS_OK)
        return problem(p, status, "%s", why.text);
    if (report.untried.status != STATUS_OK && !c->several)
        return problem(p, report.untried.status, "%s", report.untried.text);
    c->checked++;
    if (report.untried.status != STATUS_OK)
        note_untried(c, m, &report.untried);
    if (report.failure.status != STATUS_OK) {
        fprintf(stderr, "ulpscope: check: %s\n", report.failure.text);
        if (c->failed++ == 0)
            c->first_failed = report.failure.status;
    }
    if (c->promised && check_unheld(&report, c->request.promise) && c->unheld++ == 0)
        snprintf(c->first_unheld, sizeof c->first_unheld, "%s", m->name);
    if (check_broken(&report) && c->broken++ == 0)
        snprintf(c->first_broken, sizeof c->first_broken, "%s", m->name);
    enum status written = STATUS_OK;
    if (c->reproducer)
        written = reproducer_of_check(c->reproducer, &report, c->arguments->argv[0], &c->reproduced,
                                      &why);
    status = print(c, &report, p);
    return status == STATUS_OK && written != STATUS_OK ? problem(p, written, "%s", why.text)
                                                       : status;
}

static enum status check_on(struct command *c, const struct method *m, struct device device,
                            struct problem *p)
{
    struct check_request request = c->request;
    request.method = m;
    request.device = device;
    request.promise = c->promised ? c->request.promise : m->promise;
    request.beside = c->promised ? 0 : m->beside;
    if (c->promised && c->request.promise > PROMISES) {
        bool may = operation_may_promise(m->operation, c->request.promise);
        if (!may && argument_flag(c->arguments, "all"))
            return STATUS_OK;
        if (!may)
            return problem(p, STATUS_USAGE,
                           "check: found %s, of operation %s, with --promise %s, which cannot be "
                           "promised of it",
                           m->name, m->operation->name, promise_name[c->request.promise]);
        request.promise = PROMISE_NONE;
        request.beside = 1u << c->request.promise;
    }
    struct check_joined joined;
    struct problem why = {0};
    enum status status = check_join_files(&request, &joined, m->operation, &why);
    if (status == STATUS_OK)
        status = try_one(c, &request, p);
    else if (!c->several || status == STATUS_MEMORY)
        problem(p, status, "%s", why.text);
    else {
        c->checked++;
        note_untried(c, m, &why);
        if (c->promised && c->unheld++ == 0)
            snprintf(c->first_unheld, sizeof c->first_unheld, "%s", m->name);
        status = STATUS_OK;
    }
    check_joined_free(&joined);
    return status;
}

/* An option that this subject cannot be told is not left out in silence. */
static void warn_unread(const struct command *c, const struct method *m, struct device device)
{
    const struct check_request r = {.method = m, .device = device};
    unsigned read = m->shape_read[device.kind];
    char name[DEVICE_TEXT];
    device_name(device, name);
    const struct {
        const char *option;
        bool unread;
    } options[] = {{"threads", !(read & SHAPE_THREADS) && !check_environs(&r)},
                   {"blocks", !(read & SHAPE_BLOCKS)}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].unread && argument_value(c->arguments, options[i].option))
            fprintf(stderr, "ulpscope: check: %s on %s reads no --%s: it changes nothing here\n",
                    m->name, name, options[i].option);
}

static enum status check_one(struct command *c, const struct method *m, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < c->request.datas && !argument_flag(c->arguments, "all"); i++) {
        const struct check_data *d = &c->request.data[i];
        flattened_say("check", m->operation, d->name, d->rows, d->array.n);
    }
    for (size_t i = 0; i < c->devices && !argument_flag(c->arguments, "all"); i++)
        warn_unread(c, m, c->device[i]);
    for (size_t i = 0; i < c->devices && status == STATUS_OK; i++)
        status = check_on(c, m, c->device[i], p);
    return status;
}

/* The source tree's, where it is there and no other is asked for. */
static enum status read_recorded(struct command *c, const struct method *const *method,
                                 size_t methods, struct problem *p)
{
    const char *asked = argument_value(c->arguments, "recorded");
    c->request.recorded_in = asked;
    if (!c->request.tried[CHECK_RECORDED] || (!asked && access(build_recorded, R_OK) != 0))
        return STATUS_OK;
    enum status status =
        check_recorded_read(&c->recorded, asked ? asked : build_recorded, method, methods, p);
    c->request.recorded = c->recorded;
    return status;
}

/* All operands are looked at before the first is run. */
static enum status check_all(struct command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    const struct method *m[OPERANDS_MAX];
    enum status status =
        argument_flag(a, "all") ? reproducer_asked(a, NULL, c->devices, p) : STATUS_OK;
    for (size_t i = 0; i < a->operands && status == STATUS_OK; i++) {
        status = subject_named(&m[i], "check", a->operand[i],
                               check_taken_for(a, &c->request.setting, a->operand[i]), p);
        if (status == STATUS_OK)
            status = check_takes(m[i], a, p);
        if (status == STATUS_OK)
            status = reproducer_asked(a, m[i], c->devices, p);
    }
    if (status == STATUS_OK)
        status = read_recorded(c, m, argument_flag(a, "all") ? 0 : a->operands, p);
    for (size_t i = 0; i < a->operands && status == STATUS_OK; i++)
        status = check_one(c, m[i], p);
    for (size_t i = 0; argument_flag(a, "all") && i < method_count && status == STATUS_OK; i++)
        status = check_one(c, method_registry[i], p);
    return status;
}

static enum status verdict(const struct command *c, struct problem *p)
{
    if (c->broken > 0 && c->checked == 1)
        return problem(p, STATUS_FAILED, "check: %s breaks what it is held to", c->first_broken);
    if (c->broken > 0)
        return problem(p, STATUS_FAILED,
                       "check: %zu of %zu subjects break what they are held to, first %s",
                       c->broken, c->checked, c->first_broken);
    if (c->failed > 0)
        return problem(p, c->first_failed, "check: %zu subject%s failed", c->failed,
                       text_s(c->failed));
    if (c->unheld > 0 && c->checked == 1)
        return problem(p, STATUS_FAILED,
                       "check: what --promise asks for was not tried of %s: the reasons above say "
                       "what to give",
                       c->first_unheld);
    if (c->unheld > 0)
        return problem(p, STATUS_FAILED,
                       "check: what --promise asks for was not tried of %zu of %zu subjects, first "
                       "%s: the reasons above say what to give",
                       c->unheld, c->checked, c->first_unheld);
    bool due = c->untried > 0 && (!argument_flag(c->arguments, "all") || c->untried == c->checked);
    return due ? problem(p, c->first_untried, "check: nothing was tried of %zu of %zu subjects",
                         c->untried, c->checked)
               : STATUS_OK;
}

static enum status check_into(struct command *c, struct problem *p)
{
    const char *out = argument_value(c->arguments, "out");
    enum status status =
        out ? csv_file_open(&c->csv, out, 0, check_column, CHECK_COLUMNS, p) : STATUS_OK;
    c->csv.once = true;
    if (status == STATUS_OK)
        status = check_all(c, p);
    enum status closed = out ? csv_file_close(&c->csv, p) : STATUS_OK;
    return status == STATUS_OK ? closed : status;
}

/* Options that only check --special reads, or only the check of promises. */
static enum status options(const struct arguments *a, struct problem *p)
{
    static const char *const of_special[] = {"segment", "product"};
    static const char *const of_promises[] = {
        "input",  "n",    "runs",  "only",  "promise", "recorded", "keys",    "bins", "rows",
        "layout", "keep", "shape", "ranks", "promote", "load",     "convert", "batch"};
    bool special = argument_flag(a, "special");
    for (size_t i = 0; !special && i < sizeof of_special / sizeof *of_special; i++)
        if (argument_value(a, of_special[i]))
            return problem(p, STATUS_USAGE, "check: option --%s is one of check --special",
                           of_special[i]);
    for (size_t i = 0; special && i < sizeof of_promises / sizeof *of_promises; i++)
        if (argument_value(a, of_promises[i]))
            return problem(p, STATUS_USAGE, "check: option --%s is none of check --special",
                           of_promises[i]);
    return STATUS_OK;
}

static enum status subjects(const struct arguments *a, struct problem *p)
{
    bool all = argument_flag(a, "all");
    if (all != (a->operands > 0))
        return STATUS_OK;
    return problem(p, STATUS_USAGE,
                   all ? "check: found methods and --all, expected either"
                       : "check: expected a METHOD, or --all");
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct command c = {.arguments = a, .terminal = isatty(STDERR_FILENO)};
    enum status status = subjects(a, p);
    if (status == STATUS_OK)
        status = options(a, p);
    if (status == STATUS_OK && argument_flag(a, "special"))
        return conformance_check(a, p);
    if (status == STATUS_OK)
        status = resolve(&c, p);
    c.reports = json_array();
    if (status == STATUS_OK)
        status = check_into(&c, p);
    if (status == STATUS_OK && !c.json && !c.shown && c.checked > 0)
        again_print(a, c.device, c.devices);
    if (c.json && json_array_size(c.reports) > 0) {
        json_dumpf(c.reports, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        printf("\n");
    }
    json_decref(c.reports);
    check_recorded_free(c.recorded);
    check_request_free(&c.request);
    return status == STATUS_OK ? verdict(&c, p) : status;
}

const struct verb verb_check = {
    .name = "check",
    .operands = "METHOD...",
    .least = 0,
    .most = OPERANDS_MAX,
    .summary = "tries to refute the promises of methods; minimises counterexamples",
    .details =
        "check tries every rung of the ladder, promised or not:\n"
        "\n"
        "  run_to_run         repeat, process, load, after: repeated in one process, in fresh "
        "processes,\n"
        "                     while the device has other work, and after other runs\n"
        "  gpu_to_gpu         shape, environment, offset, neighbour, device, recorded: other "
        "launch\n"
        "                     shapes, other numbers of threads in OMP_NUM_THREADS and similar "
        "variables,\n"
        "                     other alignments of the input, other values around it in memory, CPU "
        "and\n"
        "                     GPUs, results recorded on a GPU; for a sum over ranks also batch: "
        "other\n"
        "                     places in other messages\n"
        "  order_invariant    permutation: other orders of the elements (keys move along); for a "
        "scan,\n"
        "                     of the elements that an output covers; for a sum over ranks, also "
        "on\n"
        "                     other and more ranks (the row rank_invariant)\n"
        "  correctly_rounded  exact: compared with the exact sum by MPFR, rounded once, on every "
        "family\n"
        "                     of inputs\n"
        "\n"
        "and beside the ladder, for sums of rows and matrix products:\n"
        "\n"
        "  batch_invariant    batch, place, others, layout, offset: other numbers of rows and "
        "columns\n"
        "                     around it, other places among them, other data in them, other "
        "layouts in\n"
        "                     memory; a break of it breaks gpu_to_gpu too\n"
        "\n"
        "An attempt compares two results that must be the same. A repeated attempt counts only "
        "among repetitions. All kinds are tried over many launch shapes (all of --threads and "
        "--blocks, if given), lengths and inputs. A rung is kept if at least 10 attempts were "
        "made, all agree, and no rung below it is broken. With fewer attempts it is not tried. "
        "gpu_to_gpu and order_invariant are not tried either if a GPU, or a subject of yours "
        "that a GPU runs too, was compared with no other device; nor is gpu_to_gpu if time "
        "reached no other launch shape, or if a subject of yours ran in only one. N attempts "
        "that agree give 95% confidence that fewer than 1 - 0.05^(1/N) of runs differ. Each "
        "rung and kind that is not tried says why. The shortest counterexample to the lowest "
        "broken rung is shown: two results, and the command that reproduces them. --wide shows "
        "one for each kind of attempt.\n"
        "\n"
        "--seconds bounds the time, and with it the number of attempts. --only, --storage, "
        "--accumulator, --input, --n, --threads, --blocks narrow what is tried, as do --scan, "
        "--keys, --bins, --rows, --layout, --keep, --shape, --ranks, --chip, --promote for the "
        "methods that read them.\n"
        "\n"
        "--batch LIST finds the numbers of rows at which the bits of a matrix product, or of "
        "sums and statistics of rows, change. Batches have these numbers of rows (1..4096 is "
        "each of them), and N and K as in the case; a table has the ranges with equal bits and "
        "the smallest pair that differs. The verdict is about these numbers: batch_invariant "
        "is not tried if time ran out before one.\n"
        "\n"
        "An exec: subject computes what --operation says, else a sum; with --scan a scan, with "
        "--keys or --bins a scatter-add, with --rows or --layout a sum of rows, with --shape a "
        "matrix product. It is asked for all pairs of formats and may answer some of them. On "
        "the CPU --threads reaches it, and Python functions, through OMP_NUM_THREADS.\n"
        "\n"
        "python:MODULE.FUNCTION and python:FILE.py:FUNCTION are Python functions. --operation "
        "says what the function computes if its name (cumsum, mean, ...) does not; --array "
        "says whose arrays it takes (numpy, torch, cupy, jax) if its module does not.\n"
        "\n"
        "--data tries the rungs on your own arrays, and on their first elements; --load busy "
        "tries them only beside other work.\n"
        "\n"
        "Exit status 1: a promise is broken, the subject's own or that of --promise; or the "
        "promise of --promise was not tried; with --only, if it was tried too seldom or not on "
        "all that you asked for; or a result exceeds its error bound. Failing a rung that is not "
        "promised is not an error. 2: "
        "nothing to test, because no case meets the options. 4: the device is not there, or does "
        "not run the method, or not in the formats asked for.\n"
        "\n" SPECIAL_DETAILS,
    .examples =
        "  ulpscope check sum/tiled --device cpu\n"
        "  ulpscope check sum/atomic --device cpu --only run_to_run --seconds 2\n"
        "  ulpscope check --all --device cpu --seconds 1 --json\n"
        "  ulpscope check 'exec:ulpscope serve sum/tiled --device cpu' --device cpu "
        "--n 1000 --seconds 2\n"
        "  ulpscope check python:numpy.sum --device cpu\n"
        "  ulpscope check gemm/tiled --device cpu --batch 1..64 --shape 1x8x64 --seconds 2\n"
        "  ulpscope check sum/tiled --special --device cpu --storage fp32",
    .run = run,
};
