/* ulpscope recommend: the cheapest accumulator and method that are enough. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/system/clock.h"
#include "experiments/cases/experiment.h"
#include "experiments/subjects/interrupt.h"
#include "experiments/studies/recommend/files.h"
#include "experiments/sweep/resume.h"
#include "experiments/program/verbs.h"
#include "reference/format/number.h"
#include "reports/text/near.h"

/* The command line, resolved, and what is open. */
struct command {
    const struct arguments *arguments;
    struct request request;
    struct axes axes;
    struct plan plan;
    struct recommend_request ask;
    struct recommend_report report;
    const char *out;
    char *again;
    struct recommend_files files;
    const json_t *from; /* a study to be repeated, or NULL; */
    const char *path;   /* its file */
    uint64_t begin_ns, shown_ns;
};

enum { QUIET_NS = 1000000000, REDRAW_NS = 100000000 };

static void show(void *context, const char *doing, double seconds)
{
    struct command *c = context;
    uint64_t now = clock_ns();
    if (now - c->begin_ns < QUIET_NS || now - c->shown_ns < REDRAW_NS)
        return;
    c->shown_ns = now;
    fprintf(stderr, "\r\033[K%.70s, about %.0f s left", doing, seconds);
    fflush(stderr);
}

/* One that can be made of the operation. PROMISES: any will do. */
static enum status read_promise(enum promise *promise, const char *text,
                                const struct operation *operation, struct problem *p)
{
    char known[160] = "one of ";
    *promise = PROMISES;
    for (enum promise i = 0; text && i < PROMISES_ALL; i++) {
        size_t used = strlen(known);
        if (i == PROMISES || !operation_may_promise(operation, i))
            continue;
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", promise_name[i]);
        *promise = strcmp(text, promise_name[i]) == 0 ? i : *promise;
    }
    return !text || *promise != PROMISES ? STATUS_OK
                                         : near_unknown_option(p, "promise", text, known);
}

static enum status read_numbers(struct command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    const char *confidence = argument_value(a, "confidence"),
               *seconds = argument_value(a, "seconds"), *t = argument_value(a, "tolerance");
    c->ask.no_adversarial = argument_flag(a, "no-adversarial");
    c->ask.confidence = 0.99;
    c->ask.seconds = 10;
    if (confidence && (!real_read(&c->ask.confidence, confidence, strlen(confidence)) ||
                       !(c->ask.confidence > 0 && c->ask.confidence <= 0.9999)))
        return problem(p, STATUS_USAGE,
                       "option --confidence: found '%s', expected a number above 0, 0.9999 at most",
                       confidence);
    enum status status = seconds ? real_parse(&c->ask.seconds, "seconds", seconds, p) : STATUS_OK;
    if (status == STATUS_OK)
        status = recommend_tolerance_parse(&c->ask.tolerance, t ? t : "1e-3",
                                           argument_value(a, "quantity"), p);
    if (!argument_value(a, "quantity") && c->ask.tolerance.quantity == RECOMMEND_REL)
        c->ask.tolerance.quantity = c->ask.use->quantity;
    return status == STATUS_OK ? read_promise(&c->ask.promise, argument_value(a, "promise"),
                                              experiment_only(c->ask.use->experiment), p)
                               : status;
}

static enum status check_one(const char *what, size_t found, struct problem *p)
{
    return found == 1
               ? STATUS_OK
               : problem(p, STATUS_USAGE, "recommend: found %zu %s, expected one", found, what);
}

static enum status check_options(const struct arguments *a, struct problem *p)
{
    bool input = argument_value(a, "input"), data = argument_value(a, "data");
    if (input == data)
        return problem(p, STATUS_USAGE, "recommend: found %s, expected either --data or --input",
                       input ? "both --data and --input" : "neither --data nor --input");
    if (input && !argument_value(a, "storage"))
        return problem(p, STATUS_USAGE,
                       "recommend: found --input without --storage, expected the format that the "
                       "elements are kept in");
    return STATUS_OK;
}

/* One answer is of one layout: row after row, unless another is asked for. */
static enum status choose_layout(struct command *c, struct problem *p)
{
    struct list *layout = &c->request.axis[AXIS_LAYOUT];
    return operation_of_rows(experiment_only(c->ask.use->experiment)) && layout->count == 0
               ? list_append(layout, "row", strlen("row"), p)
               : STATUS_OK;
}

/* What is one array of several operands has a shape, and one chip multiplies. */
static enum status check_shape(const struct axes *axes, const struct arguments *a,
                               struct problem *p)
{
    if (axes->setting.given && argument_value(a, "promise"))
        return problem(
            p, STATUS_USAGE,
            "recommend: found --promise with --scales, expected one of them: promises are "
            "tried on other rows and columns too, which have no scales");
    if (operation_of_rows(experiment_only(axes->experiment))) {
        enum status status = check_one("numbers of rows", axes->setting.rows.count, p);
        return status == STATUS_OK ? check_one("layouts", axes->setting.layouts, p) : status;
    }
    if (!operation_joins(experiment_only(axes->experiment)))
        return STATUS_OK;
    if (axes->setting.shapes != 1)
        return problem(p, STATUS_USAGE,
                       "recommend: found %zu shapes, expected --data A --data B, or one --shape "
                       "MxNxK",
                       axes->setting.shapes);
    return axes->setting.chips > 1 ? check_one("chips", axes->setting.chips, p) : STATUS_OK;
}

static enum status resolve(struct command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    enum status status = check_options(a, p);
    if (status == STATUS_OK)
        status = recommend_use_named(&c->ask.use, argument_value(a, "operation"), p);
    if (status == STATUS_OK)
        status = read_numbers(c, p);
    if (status == STATUS_OK)
        status = request_arguments(&c->request, a, p);
    if (status == STATUS_OK)
        status = request_keep_both(&c->request, a, c->ask.use->experiment, p);
    if (status == STATUS_OK)
        status = choose_layout(c, p);
    if (status == STATUS_OK)
        status = axes_resolve(&c->axes, c->ask.use->experiment, &c->request, p);
    if (status == STATUS_OK)
        status = axes_join(&c->axes, p);
    if (status == STATUS_OK)
        status = check_shape(&c->axes, a, p);
    if (status == STATUS_OK)
        status = check_one("devices", c->axes.devices, p);
    if (status == STATUS_OK)
        status = check_one("seeds", c->axes.seed.count, p);
    if (status == STATUS_OK)
        status = plan_make(&c->plan, &c->axes, p);
    if (status == STATUS_OK)
        status =
            check_one("arrays (name one: FILE#TENSOR, one --n, one --storage)", c->plan.sources, p);
    if (status == STATUS_OK && c->from)
        status = source_load(&c->plan.source[0], p);
    if (status == STATUS_OK && c->from)
        status = resume_inputs(&c->plan, c->from, c->path, false, p);
    c->out = argument_value(a, "out");
    c->out = c->out ? c->out : "results-recommend";
    c->ask.plan = &c->plan;
    c->ask.out = c->out;
    c->ask.results = &c->files.results;
    c->ask.summary = &c->files.summary;
    c->ask.times = &c->files.times;
    c->ask.stop = interrupt_catch();
    c->ask.program = a->argv[0];
    c->begin_ns = clock_ns();
    c->ask.show = isatty(STDERR_FILENO) ? show : NULL;
    c->ask.context = c;
    return status;
}

static enum status print(const struct command *c, struct problem *p)
{
    struct text text = {0};
    if (argument_flag(c->arguments, "json")) {
        json_t *object = recommend_json(&c->report, c->out, c->again);
        int failed = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        printf("\n");
        json_decref(object);
        /* That standard output is not written is found, and told, at the end. */
        return failed && !ferror(stdout) ? problem(p, STATUS_MEMORY, "recommend: out of memory")
                                         : STATUS_OK;
    }
    recommend_text(&text, &c->report, c->out, c->again);
    const char *string = text_string(&text);
    if (string)
        fputs(string, stdout);
    text_free(&text);
    return string ? STATUS_OK : problem(p, STATUS_MEMORY, "recommend: out of memory");
}

/* Says of each candidate that did not answer why; returns how many there are. */
static size_t tell_failed(const struct recommend_report *r)
{
    size_t failed = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct recommend_candidate *c = &r->candidate[i];
        if (c->failed)
            fprintf(stderr, "ulpscope: recommend: %s in %s: %s\n", c->method->name,
                    format_facts[c->accumulator].name, c->note);
        failed += c->failed;
    }
    return failed;
}

static enum status verdict(const struct command *c, struct problem *p)
{
    size_t failed = tell_failed(&c->report);
    if (failed > 0)
        return problem(p, STATUS_DATA, "recommend: %zu of %zu candidates failed (status `error`)",
                       failed, c->report.count);
    if (c->report.chosen != SIZE_MAX)
        return STATUS_OK;
    bool promise = recommend_promises(&c->report);
    return problem(
        p, STATUS_FAILED, "recommend: none of %zu candidates keeps the error of %s within %s%s%s",
        c->report.count, c->report.source->name, c->ask.tolerance.text,
        promise ? " and is found to keep " : "", promise ? promise_name[c->ask.promise] : "");
}

static enum status decide(struct command *c, struct problem *p)
{
    struct problem why = {0};
    enum status status = recommend_files_open(&c->files, c->out, &c->ask, c->arguments, p);
    if (status == STATUS_OK && recommend(&c->report, &c->ask, &why) != STATUS_OK)
        status =
            problem(p, why.status, "%s%s", why.text,
                    why.status != STATUS_INTERRUPTED
                        ? ""
                        : ": what the directory held is as it was; the same command asks anew");
    if (c->shown_ns > 0)
        fprintf(stderr, "\r\033[K");
    if (status == STATUS_OK)
        status = recommend_files_finish(&c->files, &c->report, p);
    enum status closed = recommend_files_close(&c->files, p);
    status = status == STATUS_OK ? closed : status;
    if (status == STATUS_OK)
        status = print(c, p);
    return status == STATUS_OK ? verdict(c, p) : status;
}

enum status recommend_answer(const struct arguments *a, const json_t *from, const char *path,
                             struct problem *p)
{
    struct command c = {.arguments = a, .from = from, .path = path};
    enum status status = resolve(&c, p);
    if (status == STATUS_OK && !(c.again = recommend_again(a, c.axes.device[0])))
        status = problem(p, STATUS_MEMORY, "recommend: out of memory");
    if (status == STATUS_OK)
        status = decide(&c, p);
    recommend_free(&c.report);
    plan_free(&c.plan);
    axes_free(&c.axes);
    request_free(&c.request);
    free(c.again);
    return status;
}

/* Times are comparable within one process only. */
static enum status run(const struct arguments *a, struct problem *p)
{
    enum status status;
    return left_to_rank_0("recommend", &status, p) ? status : recommend_answer(a, NULL, NULL, p);
}

const struct verb verb_recommend = {
    .name = "recommend",
    .operands = "",
    .summary = "the cheapest accumulator and method that are enough for your data",
    .details =
        "Candidates are tried on the data, on other orders of its elements, on adversarial arrays "
        "of the same\n"
        "magnitudes (all of one sign, the largest first; with --quantity backward also out and "
        "back; none with\n"
        "--no-adversarial), and on drawn arrays: resamples and shuffles, as many as the confidence "
        "needs or the\n"
        "--seconds allow. The cheapest that meets the tolerance on all of them is recommended. "
        "Candidates are ranked by\n"
        "throughput, measured beside the raw read; within 10%, the narrower accumulator wins.\n"
        "\n"
        "--tolerance 1e-3 is relative to the exact sum or, with --quantity backward, to sum|x|; "
        "4ulp counts units\n"
        "in the last place of the exact sum in the storage format; 0.5bits allows 2^0.5 times the "
        "largest error\n"
        "of rounding the exact sum to the storage format.\n"
        "\n"
        "Default methods: those of the registry that declare at least run_to_run, on the CPU "
        "without those whose\n"
        "order follows a GPU's launch shape; and two-level accumulation, fp16 or bf16 partial sums "
        "promoted\n"
        "every K elements, simulated and not timed.\n"
        "\n"
        "--operation gemm: for a matrix product, of --data A.npy --data B.npy, or of --input and "
        "--shape MxNxK: a chip's\n"
        "instruction (--chip), the interval of its promotion (--promote) and the accumulator. "
        "Every "
        "element is held to its\n"
        "exact value; the largest error counts. 8-bit matrices may have --scales. Models of a chip "
        "are not timed: they are ranked by "
        "a stated order of cost.\n"
        "\n"
        "--promise RUNG: a declaration is not evidence. Candidates are tried as by `check`, on the "
        "data and on\n"
        "other inputs, cheapest first; the recommended one gets most of the time. A candidate that "
        "breaks the\n"
        "promise, or on which it could not be tried, is not enough.\n"
        "\n"
        "--out (results-recommend) gets recommend.csv, results.csv, summary.csv, times.csv, "
        "study.json, and as breaks.npy\n"
        "an array on which the next cheaper candidate fails. The same command starts over, as "
        "times are comparable\n"
        "within one run only; the earlier answer stays until the new one is complete. Exit status "
        "1: nothing is\n"
        "enough.",
    .examples = "  ulpscope recommend --data tests/data/brain-signals-f16.npy --device cpu\n"
                "  ulpscope recommend --input ones --n 2049 --storage fp16 --tolerance 4ulp "
                "--device cpu --out results-ones\n"
                "  ulpscope recommend --operation gemm --input uniform --storage e4m3 --shape "
                "16x16x1024 --chip h100 --device cpu --out results-gemm\n"
                "  ulpscope recommend --input cond --cond 2^20 --n 1000 --storage fp32 "
                "--tolerance 0.5bits --promise gpu_to_gpu --device cpu --out results-cond --json",
    .of_operation = true,
    .run = run,
};
