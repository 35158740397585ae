/* ulpscope gate: holds the subjects of a manifest to what it promises of them, for continuous
 * integration. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/gate/gate.h"
#include "experiments/program/verbs.h"
#include "experiments/subjects/interrupt.h"
#include "experiments/system/progress.h"

struct command {
    const struct arguments *arguments;
    struct gate gate;
    struct progress_line *line;
    size_t at; /* of the entries */
    bool update, interrupted;
};

static void show(void *context, const struct method *m, const char *attempt, double seconds)
{
    const struct command *c = context;
    progress_line_say(c->line, seconds, "gate: %zu of %zu, %s: %s", c->at + 1, c->gate.entries,
                      m->name, attempt);
}

/* What would fail at the end is found before anything is run. */
static enum status read_all(struct command *c, struct problem *p)
{
    const struct arguments *a = c->arguments;
    const char *dir = argument_value(a, "baseline");
    c->update = argument_flag(a, "update");
    enum status status = STATUS_OK;
    if (c->update && !dir)
        status = problem(p, STATUS_USAGE,
                         "gate: found --update without --baseline, expected --baseline DIR, "
                         "where to record");
    if (status == STATUS_OK)
        status = gate_read(&c->gate, a->operand[0], p);
    if (status == STATUS_OK && dir)
        status = gate_baseline_read(&c->gate, dir, c->update, p);
    if (status == STATUS_OK && c->update)
        status = gate_baseline_writable(dir, p);
    static const char *const files[] = {"junit", "markdown"};
    for (size_t i = 0; i < sizeof files / sizeof *files && status == STATUS_OK; i++)
        if (argument_value(a, files[i]))
            status = gate_writable(argument_value(a, files[i]), p);
    return status;
}

static enum status try_all(struct command *c, struct problem *p)
{
    const struct gate_options options = {.program = c->arguments->argv[0],
                                         .measure = c->gate.baseline != NULL,
                                         .stop = interrupt_catch(),
                                         .show = show,
                                         .context = c};
    enum status status = STATUS_OK;
    for (c->at = 0; c->at < c->gate.entries && status == STATUS_OK; c->at++) {
        struct gate_entry *e = &c->gate.entry[c->at];
        c->line = progress_line_begin(isatty(STDERR_FILENO));
        show(c, e->method, "start", e->seconds);
        status = gate_try(e, &options, p);
        progress_line_end(c->line);
    }
    c->interrupted = status == STATUS_INTERRUPTED;
    for (size_t i = c->at - 1; c->interrupted && i < c->gate.entries; i++)
        gate_judge(&c->gate.entry[i], GATE_NOT_TRIED, "interrupted");
    if (status == STATUS_OK && c->gate.baseline)
        gate_baseline_hold(&c->gate, c->update);
    return status;
}

static enum status print(struct command *c, struct problem *p)
{
    struct text text = {0};
    if (argument_flag(c->arguments, "json")) {
        json_t *all = gate_json(&c->gate);
        int failed = json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        printf("\n");
        json_decref(all);
        /* That standard output is not written is found, and told, at the end. */
        return failed && !ferror(stdout) ? problem(p, STATUS_MEMORY, "gate: out of memory")
                                         : STATUS_OK;
    }
    gate_text(&text, &c->gate, c->update);
    const char *string = text_string(&text);
    if (string)
        fputs(string, stdout);
    text_free(&text);
    return string ? STATUS_OK : problem(p, STATUS_MEMORY, "gate: out of memory");
}

static enum status write_all(struct command *c, struct problem *p)
{
    static const struct {
        const char *option;
        void (*write)(struct text *to, const struct gate *g);
    } files[] = {{"junit", gate_junit}, {"markdown", gate_markdown}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = argument_value(c->arguments, files[i].option);
        struct text text = {0};
        if (!path)
            continue;
        files[i].write(&text, &c->gate);
        enum status written = gate_write(path, &text, p);
        status = status == STATUS_OK ? written : status;
        text_free(&text);
    }
    if (c->update && !c->interrupted) {
        enum status written =
            gate_baseline_write(&c->gate, argument_value(c->arguments, "baseline"), p);
        status = status == STATUS_OK ? written : status;
    }
    return status;
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct command c = {.arguments = a};
    enum status status = read_all(&c, p);
    if (status == STATUS_OK)
        status = try_all(&c, p);
    /* What was tried before an interruption is told, too. */
    if (status == STATUS_OK || c.interrupted) {
        enum status printed = print(&c, p), written = write_all(&c, p);
        status = status != STATUS_OK ? status : printed != STATUS_OK ? printed : written;
    }
    if (status == STATUS_OK)
        status = gate_status(&c.gate, p);
    gate_free(&c.gate);
    return status;
}

const struct verb verb_gate = {
    .name = "gate",
    .operands = "FILE",
    .least = 1,
    .most = 1,
    .summary =
        "checks the subjects of a manifest against promises, tolerances and recorded bits, for CI",
    .details =
        "FILE is JSON: {\"subjects\": [{\"subject\": \"sum/tiled\", \"promise\": "
        "\"gpu_to_gpu\"}]}. Each entry has a subject, as `check` takes it; a promise (default: "
        "the subject's own); a tolerance and quantity, as `recommend` takes them, checked on "
        "each data file and input named; and device, storage, accumulator, input, data, n, "
        "seed, threads, blocks, scan, keys, bins, rows, layout, keep, shape, chip, promote, "
        "ranks, load, as the options of these names: a string, a number, or a list of these. "
        "Members beside `subjects` apply to all entries. Paths are relative to the directory in "
        "which the program runs.\n"
        "\n"
        "confidence (0.95) and differing (0.01): run_to_run is kept if enough runs agree to "
        "say, with this confidence, that fewer than this fraction of runs differ: ln(1 - "
        "confidence) / ln(1 - differing), 299. If seconds (10) end before that, or before each "
        "kind of attempt was made, the entry is `not tried` and has not passed. An entry ends "
        "as soon as its evidence is complete.\n"
        "\n"
        "--baseline DIR compares results and their errors with DIR/baseline.json, bit by bit. "
        "--update records those of the entries that are kept, and prints the differences.\n"
        "\n"
        "Exit status: 0 all are kept; 1 one is broken, inexact, changed or not tried, also where "
        "others failed; 2 the manifest is wrong; 3 a file cannot be read or written, or a subject "
        "failed; 4 a device is not there.",
    .examples =
        "  ulpscope gate experiments/examples/gate.json\n"
        "  ulpscope gate experiments/examples/gate.json --junit gate.xml --markdown gate.md\n"
        "  ulpscope gate experiments/examples/gate.json --baseline results-gate --update",
    .run = run,
};
