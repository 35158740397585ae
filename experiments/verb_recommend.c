/* ulpscope recommend: the cheapest accumulator and method that are enough. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/data.h"
#include "experiments/experiment.h"
#include "experiments/foreign.h"
#include "experiments/provenance.h"
#include "experiments/recommend.h"
#include "experiments/verbs.h"
#include "reports/directory.h"

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
    (void)signal;
    stop = 1;
}

static const struct experiment defaults = {
    .name = "recommend",
    .operation = &operation_sum,
    .axes = {[DEVICE_CPU] = {.formats = "all", .n = "2^16", .runs = 1},
             [DEVICE_CUDA] = {.formats = "all", .n = "2^24", .runs = 1}},
};

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
    struct directory directory;
    json_t *study;
    struct results results;
    struct csv_file times, rows;
};

/* --- options --- */

static enum status read_promise(enum promise *promise, const char *text, struct problem *p)
{
    for (*promise = 0; *promise < PROMISES; (*promise)++)
        if (!text || strcmp(text, promise_name[*promise]) == 0)
            break;
    if (!text)
        *promise = PROMISES;
    return !text || *promise < PROMISES
               ? STATUS_OK
               : problem(p, STATUS_USAGE,
                         "option --promise: found '%s', expected none, run_to_run, gpu_to_gpu, "
                         "order_invariant or correctly_rounded",
                         text);
}

static enum status read_numbers(struct command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    const char *confidence = argument_value(a, "confidence"),
               *seconds = argument_value(a, "seconds"), *t = argument_value(a, "tolerance");
    char *end = "";
    c->ask.confidence = confidence ? strtod(confidence, &end) : 0.99;
    c->ask.seconds = 10;
    if (*end || !(c->ask.confidence > 0 && c->ask.confidence <= 0.9999))
        return problem(p, STATUS_USAGE,
                       "option --confidence: found '%s', expected a number above 0, 0.9999 at most",
                       confidence);
    enum status status = seconds ? real_parse(&c->ask.seconds, "seconds", seconds, p) : STATUS_OK;
    if (status == STATUS_OK)
        status = recommend_tolerance_parse(&c->ask.tolerance, t ? t : "1e-3",
                                           argument_value(a, "quantity"), p);
    return status == STATUS_OK ? read_promise(&c->ask.promise, argument_value(a, "promise"), p)
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

static enum status resolve(struct command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    enum status status = check_options(a, p);
    if (status == STATUS_OK)
        status = read_numbers(c, p);
    if (status == STATUS_OK)
        status = request_arguments(&c->request, a, p);
    if (status == STATUS_OK)
        status = axes_resolve(&c->axes, &defaults, &c->request, p);
    if (status == STATUS_OK)
        status = check_one("devices", c->axes.devices, p);
    if (status == STATUS_OK)
        status = check_one("seeds", c->axes.seed.count, p);
    if (status == STATUS_OK)
        status = plan_make(&c->plan, &c->axes, p);
    if (status == STATUS_OK)
        status =
            check_one("arrays (name one: FILE#TENSOR, one --n, one --storage)", c->plan.sources, p);
    c->out = argument_value(a, "out");
    c->out = c->out ? c->out : "results-recommend";
    c->ask.plan = &c->plan;
    c->ask.results = &c->results;
    c->ask.times = &c->times;
    c->ask.stop = &stop;
    return status;
}

/* --- commands to repeat it --- */

static void add_word(struct text *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-:=+,#";
    if (*word && strspn(word, plain) == strlen(word)) {
        text_add(to, word);
        return;
    }
    text_add(to, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_add(to, "'\\''");
        else
            text_append(to, word, 1);
    text_add(to, "'");
}

static enum status write_again(struct command *c, struct problem *p)
{
    struct text text = {0};
    char device[DEVICE_TEXT];
    for (int i = 0; i < c->arguments->argc; i++) {
        text_add(&text, i ? " " : "");
        add_word(&text, c->arguments->argv[i]);
    }
    device_name(c->axes.device[0], device);
    if (!argument_value(c->arguments, "device"))
        text_format(&text, " --device %s", device);
    const char *string = text_string(&text);
    c->again = string ? strdup(string) : NULL;
    text_free(&text);
    return c->again ? STATUS_OK : problem(p, STATUS_DEVICE, "recommend: out of memory");
}

void recommend_show(struct text *to, const struct recommend_report *r,
                    const struct recommend_candidate *c, const char *out)
{
    char device[DEVICE_TEXT];
    device_name(r->device, device);
    text_add(to, "  show it: ulpscope run accuracy --data ");
    add_word(to, out);
    text_format(to, "/breaks.npy --storage %s --accumulator %s --device %s --method ",
                format_facts[r->source->array.format].name, format_facts[c->accumulator].name,
                device);
    add_word(to, c->method->name);
    text_add(to, " --out ");
    add_word(to, out);
    text_add(to, "/breaks\n");
}

/* --- the results directory --- */

static json_t *study_of(struct command *c)
{
    const struct recommend_request *q = &c->ask;
    json_t *study = provenance_study(&c->axes, c->arguments->argc, c->arguments->argv);
    json_t *axes = json_object_get(study, "axes");
    json_object_set_new(axes, "tolerance", json_string(q->tolerance.text));
    json_object_set_new(axes, "quantity",
                        json_string(recommend_quantity_name[q->tolerance.quantity]));
    json_object_set_new(axes, "promise",
                        q->promise < PROMISES ? json_string(promise_name[q->promise])
                                              : json_null());
    json_object_set_new(axes, "confidence", json_real(q->confidence));
    json_object_set_new(axes, "seconds", json_real(q->seconds));
    return study;
}

/* Times hold within one run: what the same command left there before is written anew. */
static enum status claim(struct command *c, struct problem *p)
{
    bool there;
    c->study = study_of(c);
    enum status status =
        directory_claim(&c->directory, c->study, argument_flag(c->arguments, "force"), &there, p);
    if (status != STATUS_OK || !there)
        return status;
    json_decref(c->study);
    c->study = study_of(c);
    return directory_claim(&c->directory, c->study, true, &there, p);
}

static enum status open_files(struct command *c, struct problem *p)
{
    char *path = NULL;
    enum status status = directory_open(&c->directory, c->out, p);
    if (status == STATUS_OK)
        status = claim(c, p);
    if (status == STATUS_OK)
        status = results_open(&c->results, c->directory.results, 0, COLUMNS_OF_SUMS, p);
    if (status == STATUS_OK)
        status = csv_file_open(&c->times, c->directory.times, 0, times_column, TIMES_COLUMNS, p);
    if (status == STATUS_OK && asprintf(&path, "%s/recommend.csv", c->out) < 0)
        status = problem(p, STATUS_DEVICE, "recommend: out of memory");
    if (status == STATUS_OK)
        status = csv_file_open(&c->rows, path, 0, recommend_column, RECOMMEND_COLUMNS, p);
    free(path);
    return status;
}

/* study.json gets the fingerprint of what was read. */
static enum status note_input(struct command *c, struct problem *p)
{
    const struct source *s = &c->plan.source[0];
    char *key = source_key(s);
    json_t *inputs = json_object_get(c->study, "inputs");
    if (!key || json_object_set_new(inputs, key, json_string(s->hash)) != 0) {
        free(key);
        return problem(p, STATUS_DEVICE, "recommend: out of memory");
    }
    free(key);
    return study_write(c->study, c->directory.study, p);
}

/* What breaks the next cheaper one, as a file. */
static enum status write_break(struct command *c, struct problem *p)
{
    const struct recommend_report *r = &c->report;
    struct recommend_sample s;
    char *path;
    if (r->cheaper == SIZE_MAX)
        return STATUS_OK;
    const struct recommend_break *b = &r->candidate[r->cheaper].broke;
    enum status status =
        recommend_sample_make(&s, r->source, b->kind, b->draw, r->source->array.n,
                              c->axes.seed.item[0], (struct device){DEVICE_CPU, 0}, p);
    if (status != STATUS_OK)
        return status;
    if (asprintf(&path, "%s/breaks.npy", c->out) < 0)
        status = problem(p, STATUS_DEVICE, "recommend: out of memory");
    else
        status = data_write_npy(path, &s.array, p);
    if (status == STATUS_OK)
        free(path);
    recommend_sample_free(&s);
    return status;
}

static enum status finish(struct command *c, struct problem *p)
{
    recommend_rows(&c->rows.pending, &c->report);
    enum status status = csv_file_flush(&c->rows, p);
    if (status == STATUS_OK)
        status = note_input(c, p);
    return status == STATUS_OK ? write_break(c, p) : status;
}

static enum status close_files(struct command *c, enum status status, struct problem *p)
{
    enum status closed[] = {results_close(&c->results, p), csv_file_close(&c->times, p),
                            csv_file_close(&c->rows, p)};
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        status = status == STATUS_OK ? closed[i] : status;
    directory_close(&c->directory);
    json_decref(c->study);
    return status;
}

/* --- output --- */

static enum status print(const struct command *c, struct problem *p)
{
    struct text text = {0};
    if (argument_flag(c->arguments, "json")) {
        json_t *object = recommend_json(&c->report, c->out, c->again);
        int failed = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        printf("\n");
        json_decref(object);
        return failed ? problem(p, STATUS_DEVICE, "recommend: out of memory") : STATUS_OK;
    }
    recommend_text(&text, &c->report, c->out, c->again);
    const char *string = text_string(&text);
    if (string)
        fputs(string, stdout);
    text_free(&text);
    return string ? STATUS_OK : problem(p, STATUS_DEVICE, "recommend: out of memory");
}

static enum status verdict(const struct command *c, struct problem *p)
{
    if (c->report.chosen != SIZE_MAX)
        return STATUS_OK;
    return problem(p, STATUS_FAILED,
                   "recommend: none of %zu candidates keeps the error of %s within %s",
                   c->report.count, c->report.source->name, c->ask.tolerance.text);
}

static enum status decide(struct command *c, struct problem *p)
{
    enum status status = open_files(c, p);
    if (status == STATUS_OK)
        status = recommend(&c->report, &c->ask, p);
    if (status == STATUS_OK)
        status = finish(c, p);
    status = close_files(c, status, p);
    if (status == STATUS_OK)
        status = print(c, p);
    return status == STATUS_OK ? verdict(c, p) : status;
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct command c = {
        .arguments = a, .directory.lock = -1, .results.file.fd = -1, .times.fd = -1, .rows.fd = -1};
    struct sigaction gentle = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &gentle, NULL);
    sigaction(SIGTERM, &gentle, NULL);
    foreign_interrupt(&stop);
    enum status status = resolve(&c, p);
    if (status == STATUS_OK)
        status = write_again(&c, p);
    if (status == STATUS_OK)
        status = decide(&c, p);
    recommend_free(&c.report);
    plan_free(&c.plan);
    axes_free(&c.axes);
    request_free(&c.request);
    free(c.again);
    return status;
}

const struct verb verb_recommend = {
    .name = "recommend",
    .operands = "",
    .summary = "the cheapest accumulator and method that are enough for your data",
    .details =
        "Candidates are tried on the data, on other orders of its elements, on the worst that its "
        "magnitudes\nallow (all of one sign, the largest first; with --quantity backward also out "
        "and back), and on drawn\narrays: resamples and shuffles, as many as the confidence needs "
        "or the --seconds allow. The cheapest\nthat holds the tolerance on all of them is "
        "recommended: by throughput, measured beside the raw read\n(within a tenth as one), then "
        "by the width of the accumulator.\n\n"
        "--tolerance 1e-3 is a share of the exact sum or, with --quantity backward, of sum|x|; "
        "4ulp is in units\nin the last place of the exact sum in the storage format; 0.5bits "
        "allows 2^0.5 times the error that\nrounding the exact sum to the storage format may "
        "have.\n\n"
        "Without --method: the registry's, at least run_to_run; on the CPU without those whose "
        "order is that of\na GPU's launch shape; and two-level accumulation, fp16 or bf16 partial "
        "sums promoted every K\nelements, simulated and not timed. --promise asks for more.\n\n"
        "--out (results-recommend) gets recommend.csv, results.csv, times.csv, study.json, and as "
        "breaks.npy\nwhat breaks the next cheaper candidate. Exit status 1 where nothing holds.",
    .examples = "  ulpscope recommend --data tests/data/brain-signals-f16.npy --device cpu\n"
                "  ulpscope recommend --input ones --n 2049 --storage fp16 --tolerance 4ulp "
                "--device cpu --out results-ones\n"
                "  ulpscope recommend --input cond --cond 2^20 --n 1000 --storage fp32 "
                "--tolerance 0.5bits --promise gpu_to_gpu --device cpu --out results-cond --json",
    .run = run,
};
