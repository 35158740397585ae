#include "experiments/check_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/number.h"
#include "reports/table.h"

bool check_partly(const struct check_report *r)
{
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (!r->request.tried[kind])
            return true;
    return false;
}

void check_tried_text(char text[CHECK_TEXT], const struct check_report *r, enum promise rung)
{
    size_t used = 0, size = CHECK_TEXT;
    *text = 0;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (check_kinds[kind].rung == rung && r->tried[kind].attempts)
            used += (size_t)snprintf(text + used, size - used, "%s%s %llu", used ? ", " : "",
                                     check_kinds[kind].name,
                                     (unsigned long long)r->tried[kind].attempts);
}

static void add_rung(struct table *t, const struct check_report *r, enum promise rung)
{
    char tried[CHECK_TEXT];
    struct check_rung is = check_rung(r, rung);
    bool several = is.distinct > 1;
    check_tried_text(tried, r, rung);
    table_cell(t, "%s", promise_name[rung]);
    table_cell(t, "%s", tried);
    if (is.distinct)
        table_cell(t, several ? "%llu (%s)" : "%llu", (unsigned long long)is.distinct, is.counts);
    else
        table_cell(t, "%s", "");
    if (is.state == CHECK_KEPT)
        table_cell(t,
                   "kept in %llu attempts: a variant of probability above %.2g would have shown "
                   "with 95%%",
                   (unsigned long long)is.attempts, is.unseen_p95);
    else if (is.state == CHECK_BROKEN && is.differing > 0)
        table_cell(t, "broken: %llu of %llu differ", (unsigned long long)is.differing,
                   (unsigned long long)is.attempts);
    else
        table_cell(t, "%s%s%s", check_state_name[is.state], *is.reason ? ": " : "", is.reason);
}

static void case_text(struct text *to, const struct check_report *r, const struct check_break *b)
{
    char input[INPUT_TEXT];
    input_name(&b->at.input, input);
    text_format(to, "%s, %s/%s, n = %zu", input, format_facts[b->at.pair.storage].name,
                format_facts[b->at.pair.accumulator].name, b->at.n);
    if (r->request.method->operation == &operation_scan)
        text_format(to, ", %s", b->at.exclusive ? "exclusive" : "inclusive");
    if (b->at.keys)
        text_format(to, ", %s keys, %zu bins", b->at.keys->name, b->at.bins);
    if (b->at.layout)
        text_format(to, ", %zu rows, layout %s", b->at.bins, b->at.layout->name);
    if (r->request.method->operation->mask)
        text_format(to, ", %zu%% kept", b->at.keep);
    if (r->request.method->operation->array && !b->hash)
        text_format(to, ", %s %zu", b->at.keys ? "bin" : "output", b->index);
}

void check_bits_text(char bits[NUMBER_TEXT], const struct check_break *b, size_t which)
{
    if (b->hash)
        snprintf(bits, NUMBER_TEXT, "%016llx", (unsigned long long)b->bits[which]);
    else
        number_bits(bits, b->at.output, format_decode(b->at.output, b->bits[which]));
}

/* Of a number, its decimal too. */
static void add_result(struct text *to, const struct check_break *b, size_t which)
{
    char bits[NUMBER_TEXT], decimal[NUMBER_TEXT];
    check_bits_text(bits, b, which);
    number_decimal(decimal, format_decode(b->at.output, b->bits[which]));
    text_format(to, "\n  %s  %s  %s", bits, b->hash ? "(hash of all outputs)" : decimal,
                b->is[which]);
}

static void add_witness(struct text *to, const struct check_report *r, enum check_kind kind,
                        const char *program)
{
    const struct check_break *b = &r->tried[kind].witness;
    char *command = check_command(r, kind, program);
    text_format(to, "\n%s broken (%s): ", promise_name[check_kinds[kind].rung],
                check_kinds[kind].summary);
    case_text(to, r, b);
    add_result(to, b, 0);
    add_result(to, b, 1);
    text_format(to, "\n  %s\n", command ? command : "");
    free(command);
}

static void add_verdict(struct text *to, const struct check_report *r)
{
    const struct check_request *q = &r->request;
    char device[DEVICE_TEXT];
    device_name(q->device, device);
    text_format(to, "%s on %s: promises %s", q->method->name, device,
                promise_name[q->method->promise]);
    if (q->promise != q->method->promise)
        text_format(to, ", held to %s", promise_name[q->promise]);
    if (!check_partly(r))
        text_format(to, ", keeps %s", promise_name[r->kept]);
    text_add(to, check_broken(r) ? ": BROKEN\n" : "\n");
}

void check_text(struct text *to, const struct check_report *r, const char *program)
{
    char left_out[PAIRS_TEXT];
    struct table table = {.align = "llll"};
    const char *const header[] = {"rung", "attempts", "distinct", "verdict"};
    add_verdict(to, r);
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        table_cell(&table, "%s", header[i]);
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
        add_rung(&table, r, rung);
    table_draw(to, &table);
    to->failed |= table.failed;
    table_free(&table);
    if (r->failure.status != STATUS_OK)
        text_format(to, "failed in %s: %s\n", check_kinds[r->failed].name, r->failure.text);
    pairs_text(left_out, &r->left_out);
    if (*left_out)
        text_format(to, "not answered: %s\n", left_out);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (r->tried[kind].broken)
            add_witness(to, r, kind, program);
}
