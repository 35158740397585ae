#include "experiments/check/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/format/number.h"

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

void check_untried_text(char text[CHECK_LONG], const struct check_report *r, enum promise rung)
{
    size_t used = 0, size = CHECK_LONG;
    *text = 0;
    for (size_t kind = 0; kind < CHECK_KINDS && used < size; kind++)
        if (check_kinds[kind].rung == rung && *r->tried[kind].untried)
            used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", used ? ", " : "",
                                     check_kinds[kind].name, r->tried[kind].untried);
}

/* No line of a verdict or of evidence is longer; what follows stands below its beginning. */
enum { WIDTH = 100, INDENT = 19 };

static void add_wrapped(struct text *to, const char *words)
{
    size_t column = INDENT;
    while (*words) {
        size_t length = strcspn(words, " ");
        if (column > INDENT && column + 1 + length > WIDTH) {
            text_format(to, "\n%*s", INDENT, "");
            column = INDENT;
        }
        text_format(to, "%s%.*s", column > INDENT ? " " : "", (int)length, words);
        column += length + (column > INDENT);
        words += length + strspn(words + length, " ");
    }
    text_add(to, "\n");
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void add_rung(struct text *to, const struct check_report *r, enum promise rung)
{
    struct text line = {0};
    struct check_rung is = check_rung(r, rung);
    text_add(&line, check_state_name[is.state]);
    if (is.state == CHECK_KEPT)
        text_format(&line, " in %llu attempts", (unsigned long long)is.attempts);
    else if (is.state == CHECK_BROKEN && is.differing > 0)
        text_format(&line, ": %llu of %llu attempts differ", (unsigned long long)is.differing,
                    (unsigned long long)is.attempts);
    bool agree = is.state == CHECK_NOT_TRIED && is.attempts >= CHECK_LEAST;
    if (agree)
        text_format(&line, ": %s; on this one %llu attempts agree", is.reason,
                    (unsigned long long)is.attempts);
    if (is.state == CHECK_KEPT || is.differing > 0 || agree)
        text_format(&line, " over %zu shape%s, %zu length%s, %zu input%s", is.shapes,
                    plural(is.shapes), is.lengths, plural(is.lengths), is.inputs,
                    plural(is.inputs));
    if (is.distinct > 1)
        text_format(&line, "; %llu results of one case (%s)", (unsigned long long)is.distinct,
                    is.counts);
    if (*is.reason && !agree)
        text_format(&line, "%s %s", is.differing > 0 || is.state == CHECK_KEPT ? ";" : ":",
                    is.reason);
    const char *words = text_string(&line);
    text_format(to, "%-*s", INDENT, promise_name[rung]);
    add_wrapped(to, words ? words : "");
    text_free(&line);
}

/* What was tried of a rung, what was not, and why. */
static void add_evidence(struct text *to, const struct check_report *r, enum promise rung)
{
    char tried[CHECK_TEXT], untried[CHECK_LONG];
    struct text line = {0};
    struct check_rung is = check_rung(r, rung);
    if (is.attempts == 0)
        return;
    check_tried_text(tried, r, rung);
    check_untried_text(untried, r, rung);
    text_add(&line, tried);
    if (is.state == CHECK_KEPT)
        text_format(&line, "; 95%% confident that fewer than %.2g%% of runs differ",
                    100 * is.unseen_p95);
    if (*untried && !check_partly(r))
        text_format(&line, "; not tried: %s", untried);
    const char *words = text_string(&line);
    text_format(to, "%-*s", INDENT, promise_name[rung]);
    add_wrapped(to, words ? words : "");
    text_free(&line);
}

static void case_text(struct text *to, const struct check_report *r, const struct check_break *b)
{
    struct text says = {0};
    char input[INPUT_TEXT];
    check_input_text(&b->at, input);
    text_format(to, "%s, %s/%s, n = %zu", input, format_facts[b->at.pair.storage].name,
                format_facts[b->at.pair.accumulator].name, b->at.n);
    setting_says(&says, r->request.method->operation, &b->at.setting);
    if (says.length > 0)
        text_format(to, ", %s", text_string(&says));
    text_free(&says);
    if (operation_makes_array(r->request.method->operation) && !b->hash)
        text_format(to, ", %s %zu", b->at.setting.keys ? "bin" : "output", b->index);
}

void check_bits_text(char bits[NUMBER_TEXT], const struct check_break *b, size_t which)
{
    if (b->hash)
        snprintf(bits, NUMBER_TEXT, "%016llx", (unsigned long long)b->bits[which]);
    else
        number_bits(bits, b->at.setting.output,
                    format_decode(b->at.setting.output, b->bits[which]));
}

/* Of a number, its decimal too. */
static void add_result(struct text *to, const struct check_break *b, size_t which)
{
    char bits[NUMBER_TEXT], decimal[NUMBER_TEXT];
    check_bits_text(bits, b, which);
    number_decimal(decimal, format_decode(b->at.setting.output, b->bits[which]));
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
    add_verdict(to, r);
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
        add_rung(to, r, rung);
    text_add(to, "\nWhat was tried:\n");
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
        add_evidence(to, r, rung);
    if (r->failure.status != STATUS_OK)
        text_format(to, "failed in %s: %s\n", check_kinds[r->failed].name, r->failure.text);
    pairs_text(left_out, &r->left_out);
    if (*left_out)
        text_format(to, "not answered: %s\n", left_out);
    pairs_text(left_out, &r->unasked);
    if (*left_out)
        text_format(to, "not asked, time ran out: %s\n", left_out);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (r->tried[kind].broken)
            add_witness(to, r, kind, program);
}
