/* The reproducer of a break that check found. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/check/report.h"
#include "experiments/check/reproducer/reproducer.h"
#include "experiments/options/subject_name.h"
#include "reference/format/number.h"

enum { RUNS_LEAST = 1000, RUNS_MORE = 100 };

struct made {
    struct check check;
    struct array second; /* permuted elements; data NULL: none */
    uint32_t *keys;      /* likewise */
    struct array before[CHECK_BEFORE];
    struct possible possible;
    char title[512], words[2][2 * CHECK_WORDS];
    char *command;
    struct reproducer is;
};

static void made_free(struct made *m)
{
    check_free_setting(&m->check);
    free(m->check.in.data);
    free(m->second.data);
    for (size_t i = 0; i < CHECK_BEFORE; i++)
        free(m->before[i].data);
    free(m->keys);
    free(m->command);
}

/* Of what depends on nothing but the case, each result is had as it was. */
static enum status set_runs(struct made *m, enum check_kind kind, const struct check_break *b,
                            struct problem *p)
{
    bool varied = check_kinds[kind].rung > PROMISE_RUN_TO_RUN && kind != CHECK_EXACT;
    const struct check *c = &m->check;
    for (int k = 0; k < 2; k++) {
        const struct check_variant *v = &b->variant[k];
        m->is.run[k] = (struct reproducer_run){.in = &c->in,
                                               .keys = c->made.of.keys,
                                               .shape = varied ? v->shape : b->at.shape,
                                               .device = varied ? v->device : c->request->device,
                                               .offset = varied ? v->offset : 0,
                                               .byte = varied ? v->byte : 0xff};
    }
    if (!varied || !b->variant[1].permuted)
        return STATUS_OK;
    size_t bytes = array_bytes(c->in.format, c->in.n);
    m->second = (struct array){c->in.format, c->in.n, malloc(bytes)};
    m->keys = malloc(c->at.n * sizeof *m->keys);
    if (!m->second.data || !m->keys)
        return problem(p, STATUS_MEMORY, "check --reproducer: out of memory");
    struct check_setting to = {.in = &m->second, .keys = m->keys};
    enum status status = check_order_again(&m->check, &to, &b->variant[1], p);
    m->is.run[1].in = &m->second;
    if (c->made.of.keys)
        m->is.run[1].keys = m->keys;
    return status;
}

/* One result that is due. */
static void set_due(struct made *m, enum format f, uint64_t bits)
{
    struct array one = {f, 1, &bits};
    uint64_t encoding = 0;
    one.data = &encoding;
    array_set_bits(&one, 0, bits);
    double x = array_get(&one, 0);
    m->possible = (struct possible){.least = 1, .most = 0, .grid = 1};
    m->possible.nan = x != x;
    m->possible.inf[x < 0] = x == x && x - x != 0;
    m->possible.zero[__builtin_signbit(x) != 0] = x == 0;
    if (x == x && x - x == 0 && x != 0) {
        m->possible.least = m->possible.most = x;
        m->possible.grid = 0x1p-1074;
        m->possible.listed = true;
        m->possible.value[m->possible.count++] = x;
    }
    m->is.possible = &m->possible;
    char number[NUMBER_TEXT];
    number_hex(number, x);
    snprintf(m->words[0], sizeof m->words[0], "%s", number);
    snprintf(m->words[1], sizeof m->words[1], "the result is another");
}

static void set_words(struct made *m, const struct check_report *report, enum check_kind kind,
                      const struct check_break *b)
{
    const char *claims =
        report->request.method->promise >= check_kinds[kind].rung ? "promises" : "does not keep";
    char device[DEVICE_TEXT];
    device_name(report->request.device, device);
    snprintf(
        m->title, sizeof m->title, "%s on %s %s %s: %s of %s in %s, n = %zu, differ between %s.",
        report->request.method->name, device, claims, promise_name[check_kinds[kind].rung],
        operation_plural(report->request.method->operation), format_facts[b->at.pair.storage].name,
        format_facts[b->at.pair.accumulator].name, b->at.n, check_kinds[kind].summary);
    if (kind == CHECK_EXACT)
        snprintf(m->title, sizeof m->title,
                 "%s on %s %s %s: of %s of %s in %s, n = %zu, one is not the exact result "
                 "rounded once.",
                 report->request.method->name, device, claims, promise_name[check_kinds[kind].rung],
                 operation_plural(report->request.method->operation),
                 format_facts[b->at.pair.storage].name, format_facts[b->at.pair.accumulator].name,
                 b->at.n);
    for (int k = 0; k < 2; k++)
        snprintf(m->words[k], sizeof m->words[k], "%s", b->is[k]);
}

/* Other lengths are those of prefixes, which an array has that is no matrix and has no keys. */
static bool told(const struct check_report *report, enum check_kind kind)
{
    const struct check_break *b = &report->tried[kind].witness;
    return kind == CHECK_AFTER
               ? name_is_python(report->request.method->name) && b->at.setting.bins == 0
               : (kind < CHECK_BATCH || kind > CHECK_LAYOUT) && kind != CHECK_RECORDED &&
                     kind != CHECK_ENVIRONMENT;
}

/* What the process had run before. */
static enum status set_before(struct made *m, const struct check_break *b, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < b->befores && status == STATUS_OK; i++) {
        struct check other = {.request = m->check.request, .inputs = m->check.inputs};
        status = check_load_case(&other, &b->before[i], p);
        check_free_setting(&other);
        m->before[i] = other.in;
    }
    m->is.before = m->before;
    m->is.befores = b->befores;
    m->is.own_first = b->own_first;
    return status;
}

static enum status make(struct made *m, const struct check_report *report, enum check_kind kind,
                        const char *program, struct problem *p)
{
    const struct check_request *q = &report->request;
    const struct check_break *b = &report->tried[kind].witness;
    m->check.request = q;
    enum status status = check_load_case(&m->check, &b->at, p);
    if (status != STATUS_OK)
        return status;
    const struct check *c = &m->check;
    size_t outputs = check_outputs(c);
    bool repeats = check_kinds[kind].rung == PROMISE_RUN_TO_RUN;
    bool fresh = kind == CHECK_PROCESS || kind == CHECK_AFTER;
    bool one = kind == CHECK_EXACT || kind == CHECK_PERMUTATION;
    uint64_t runs = b->runs * RUNS_MORE;
    m->command = check_command(report, kind, program);
    set_words(m, report, kind, b);
    m->is = (struct reproducer){.method = q->method,
                                .device = q->device,
                                .storage = b->at.pair.storage,
                                .accumulator = b->at.pair.accumulator,
                                .output = b->at.setting.output,
                                .n = b->at.n,
                                .outputs = outputs,
                                .exclusive = b->at.setting.exclusive,
                                .bins = c->made.of.bins,
                                .stride = c->made.of.stride,
                                .from = one ? b->index : 0,
                                .end = one ? b->index + 1 : outputs,
                                .runs = !repeats            ? 1
                                        : runs > RUNS_LEAST ? runs
                                                            : RUNS_LEAST,
                                .fresh = fresh,
                                .after = kind == CHECK_PROCESS && name_is_python(q->method->name) &&
                                         b->at.setting.bins == 0 && b->at.n > 1,
                                .load = kind == CHECK_LOAD || b->at.busy,
                                .title = m->title,
                                .words = {m->words[0], m->words[1]},
                                .command = m->command,
                                .stop = q->stop};
    if (kind == CHECK_EXACT)
        set_due(m, b->at.setting.output, b->bits[0]);
    status = kind == CHECK_AFTER ? set_before(m, b, p) : STATUS_OK;
    return status == STATUS_OK ? set_runs(m, kind, b, p) : status;
}

enum status reproducer_of_check(const char *file, const struct check_report *report,
                                const char *program, struct reproducer_said *said,
                                struct problem *p)
{
    size_t kind = 0, other = CHECK_KINDS;
    for (; kind < CHECK_KINDS && !(report->tried[kind].broken && told(report, kind)); kind++)
        if (report->tried[kind].broken)
            other = kind;
    said->found = kind < CHECK_KINDS;
    if (!said->found)
        return other == CHECK_KINDS
                   ? STATUS_OK
                   : problem(p, STATUS_USAGE,
                             "check --reproducer: the break was found by the attempt %s, of which "
                             "none is written; %s shows it again",
                             check_kinds[other].name, "the command in the table");
    struct made *m = calloc(1, sizeof *m);
    struct text text = {0};
    if (!m)
        return problem(p, STATUS_MEMORY, "check --reproducer: out of memory");
    enum status status = make(m, report, (enum check_kind)kind, program, p);
    m->is.file = file;
    if (status == STATUS_OK)
        status = reproducer_write(&text, &m->is, p);
    if (status == STATUS_OK)
        status = reproducer_try(said, &text, &m->is, p);
    made_free(m);
    free(m);
    text_free(&text);
    return status;
}
