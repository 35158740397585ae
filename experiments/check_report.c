#include "experiments/check_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/number.h"
#include "reports/table.h"

const char *check_verdict(const struct check_report *r, enum promise rung)
{
    struct check_rung is = check_rung(r, rung);
    bool failed = r->failure.status != STATUS_OK && check_kinds[r->failed].rung == rung;
    return is.broken ? "broken" : failed ? "failed" : is.attempts ? "kept" : "not tried";
}

static bool partly(const struct check_report *r)
{
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (!r->request.tried[kind])
            return true;
    return false;
}

static void tried_text(char *text, size_t size, const struct check_report *r, enum promise rung)
{
    size_t used = 0;
    *text = 0;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (check_kinds[kind].rung == rung && r->tried[kind].attempts)
            used += (size_t)snprintf(text + used, size - used, "%s%s %llu", used ? ", " : "",
                                     check_kinds[kind].name,
                                     (unsigned long long)r->tried[kind].attempts);
}

static void add_rung(struct table *t, const struct check_report *r, enum promise rung)
{
    char tried[256];
    struct check_rung is = check_rung(r, rung);
    const char *verdict = check_verdict(r, rung);
    bool several = is.distinct > 1;
    tried_text(tried, sizeof tried, r, rung);
    table_cell(t, "%s", promise_name[rung]);
    table_cell(t, "%llu", (unsigned long long)is.attempts);
    table_cell(t, "%s", tried);
    if (is.attempts)
        table_cell(t, several ? "%llu (%s)" : "%llu", (unsigned long long)is.distinct, is.counts);
    else
        table_cell(t, "%s", "");
    if (strcmp(verdict, "kept") == 0)
        table_cell(t,
                   "kept in %llu attempts: a variant of probability above %.2g would have shown "
                   "with 95%%",
                   (unsigned long long)is.attempts, is.unseen_p95);
    else if (is.broken)
        table_cell(t, "broken: %llu of %llu differ", (unsigned long long)is.differing,
                   (unsigned long long)is.attempts);
    else
        table_cell(t, "%s", verdict);
}

static void case_text(struct text *to, const struct check_report *r, const struct check_break *b)
{
    char input[INPUT_TEXT];
    input_name(&b->at.input, input);
    text_format(to, "%s, %s/%s, n = %zu", input, format_facts[b->at.pair.storage].name,
                format_facts[b->at.pair.accumulator].name, b->at.n);
    if (r->request.method->operation->array)
        text_format(to, ", %s, output %zu", b->at.exclusive ? "exclusive" : "inclusive", b->index);
}

static void bits_text(char bits[NUMBER_TEXT], const struct check_break *b, size_t which)
{
    number_bits(bits, b->at.output, format_decode(b->at.output, b->bits[which]));
}

static void add_witness(struct text *to, const struct check_report *r, enum check_kind kind,
                        const char *program)
{
    const struct check_break *b = &r->tried[kind].witness;
    char bits[2][NUMBER_TEXT], *command = check_command(r, kind, program);
    text_format(to, "\n%s broken (%s): ", promise_name[check_kinds[kind].rung],
                check_kinds[kind].summary);
    case_text(to, r, b);
    for (size_t i = 0; i < 2; i++) {
        bits_text(bits[i], b, i);
        text_format(to, "\n  %s  %.17g  %s", bits[i], format_decode(b->at.output, b->bits[i]),
                    b->is[i]);
    }
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
    if (!partly(r))
        text_format(to, ", keeps %s", promise_name[r->kept]);
    text_add(to, check_broken(r) ? ": BROKEN\n" : "\n");
}

void check_text(struct text *to, const struct check_report *r, const char *program)
{
    struct table table = {.align = "lrlll"};
    const char *const header[] = {"rung", "attempts", "of which", "distinct", "verdict"};
    add_verdict(to, r);
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        table_cell(&table, "%s", header[i]);
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
        add_rung(&table, r, rung);
    table_draw(to, &table);
    to->failed |= table.failed;
    table_free(&table);
    for (size_t i = 0; i < r->left_out.count; i++)
        text_format(to, "%s %s/%s%s",
                    i ? "," : "not answered:", format_facts[r->left_out.item[i].storage].name,
                    format_facts[r->left_out.item[i].accumulator].name,
                    i + 1 < r->left_out.count ? "" : "\n");
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (r->tried[kind].broken)
            add_witness(to, r, kind, program);
}

/* --- JSON --- */

static json_t *witness_json(const struct check_report *r, enum check_kind kind, const char *program)
{
    const struct check_tried *t = &r->tried[kind];
    const struct check_break *b = &t->witness;
    char input[INPUT_TEXT], bits[2][NUMBER_TEXT], *command = check_command(r, kind, program);
    input_name(&b->at.input, input);
    bits_text(bits[0], b, 0);
    bits_text(bits[1], b, 1);
    json_t *o = json_pack("{ss ss ss ss sI sI ss ss ss ss ss}", "attempt", check_kinds[kind].name,
                          "storage", format_facts[b->at.pair.storage].name, "accumulator",
                          format_facts[b->at.pair.accumulator].name, "input", input, "n",
                          (json_int_t)b->at.n, "seed", (json_int_t)b->at.seed, "bits", bits[0],
                          "is", b->is[0], "other_bits", bits[1], "other_is", b->is[1], "command",
                          command ? command : "");
    if (r->request.method->operation->array) {
        json_object_set_new(o, "scan", json_string(b->at.exclusive ? "exclusive" : "inclusive"));
        json_object_set_new(o, "index", json_integer((json_int_t)b->index));
    }
    free(command);
    return o;
}

static json_t *rung_json(const struct check_report *r, enum promise rung, const char *program)
{
    struct check_rung is = check_rung(r, rung);
    json_t *tried = json_object(), *witnesses = json_array();
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
        if (check_kinds[kind].rung != rung)
            continue;
        json_object_set_new(tried, check_kinds[kind].name,
                            json_integer((json_int_t)r->tried[kind].attempts));
        if (r->tried[kind].broken)
            json_array_append_new(witnesses, witness_json(r, kind, program));
    }
    return json_pack("{ss sI sI sI ss ss so so so}", "name", promise_name[rung], "attempts",
                     (json_int_t)is.attempts, "differing", (json_int_t)is.differing, "distinct",
                     (json_int_t)is.distinct, "counts", is.counts, "verdict",
                     check_verdict(r, rung), "unseen_p95",
                     is.attempts && !is.broken ? json_real(is.unseen_p95) : json_null(), "tried",
                     tried, "witnesses", witnesses);
}

json_t *check_json(const struct check_report *r, const char *program)
{
    const struct check_request *q = &r->request;
    char device[DEVICE_TEXT];
    json_t *rungs = json_array();
    device_name(q->device, device);
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
        json_array_append_new(rungs, rung_json(r, rung, program));
    return json_pack(
        "{ss ss ss ss so sb so so}", "method", q->method->name, "device", device, "claimed",
        promise_name[q->method->promise], "held_to", promise_name[q->promise], "kept",
        partly(r) ? json_null() : json_string(promise_name[r->kept]), "broken", check_broken(r),
        "error", r->failure.status == STATUS_OK ? json_null() : json_string(r->failure.text),
        "rungs", rungs);
}
