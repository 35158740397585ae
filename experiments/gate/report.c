/* What gate says: verdicts first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/gate/gate.h"
#include "reports/text/against.h"
#include "reports/text/table.h"

void gate_says(struct text *to, const struct gate_entry *e)
{
    const struct gate_result *r = &e->result;
    const char *before = "";
    bool kept = r->verdict == GATE_KEPT;
    if (e->promise > PROMISE_NONE) {
        text_format(to, "%s%s", kept ? "keeps " : "held to ", promise_name[e->promise]);
        for (enum promise also = PROMISES; also < PROMISES_ALL; also++)
            if (also != e->promise && gate_holds(e, also))
                text_format(to, " and %s", promise_name[also]);
        if (r->evidence && *r->evidence)
            text_format(to, " (attempts: %s)", r->evidence);
        before = ", ";
    }
    if (kept && e->promise > PROMISE_NONE)
        text_format(to, ", %g%% confident that under %g%% of runs differ", 100 * e->confidence,
                    100 * e->differing);
    if (r->worst != SIZE_MAX && e->tolerant)
        text_format(to, "%serror %s of %s (%s)", before,
                    text_against(r->cases[r->worst].error, e->tolerance.limit, 2).value,
                    e->tolerance.text, recommend_quantity_name[e->tolerance.quantity]);
    if (r->worst != SIZE_MAX && e->tolerant && e->promise == PROMISE_NONE)
        text_format(to, " in %llu runs", (unsigned long long)r->runs);
    if (kept && e->tolerant && e->promise == PROMISE_NONE && r->runs >= e->wanted)
        text_format(to, ", %g%% confident that under %g%% of runs exceed it", 100 * e->confidence,
                    100 * e->differing);
    if (r->worst == SIZE_MAX && e->tolerant)
        text_format(to, "%serror not known of %s", before, e->tolerance.text);
    if (r->compared && kept && r->same > 0)
        text_format(to, ", bits of %zu of %zu cases as recorded", r->same, r->case_count);
}

static void add_line(struct text *to, size_t indent, const char *label, const char *words)
{
    struct text line = {0};
    text_format(&line, "%*s%s", (int)indent, "", label);
    text_visible(&line, words);
    text_wrapped(to, &line, TABLE_COLUMNS, indent + 2);
}

enum { INDENT = 11 };

/* Wrapped behind the verdict, which stands there already. */
static void add_beside(struct text *to, struct text *line)
{
    struct text all = {0};
    text_format(&all, "%*s", INDENT, "");
    text_join(&all, line);
    text_free(line);
    struct text wrapped = {0};
    text_wrapped(&wrapped, &all, TABLE_COLUMNS, INDENT + 2);
    const char *words = text_string(&wrapped);
    to->failed |= !words;
    text_add(to, words ? words + INDENT : "");
    text_free(&wrapped);
}

static void add_entry(struct text *to, const struct gate_entry *e, bool difference)
{
    const struct gate_result *r = &e->result;
    char device[DEVICE_TEXT];
    struct text line = {0}, says = {0};
    device_name(e->device, device);
    text_format(to, "%-*s", INDENT, gate_verdict_name[r->verdict]);
    text_visible(&line, e->name);
    if (strcmp(e->name, e->method->name) != 0) {
        text_add(&line, " (");
        text_visible(&line, e->method->name);
        text_add(&line, ")");
    }
    text_format(&line, " on %s: ", device);
    gate_says(&says, e);
    text_visible(&line, text_string(&says) ? text_string(&says) : "");
    text_free(&says);
    add_beside(to, &line);
    if (r->reason)
        add_line(to, INDENT, "", r->reason);
    if (r->note && r->verdict == GATE_KEPT)
        add_line(to, INDENT, "open: ", r->note);
    if (difference && r->difference)
        add_line(to, INDENT,
                 r->verdict == GATE_KEPT ? "recorded anew: " : "not recorded: ", r->difference);
    if (r->show) { /* to be copied: never broken */
        text_format(to, "%*sreproduce: ", INDENT, "");
        text_visible(to, r->show);
        text_add(to, "\n");
    }
}

void gate_text(struct text *to, struct gate *g, bool difference)
{
    struct text head = {0};
    size_t kept = gate_count(g, GATE_KEPT);
    text_visible(&head, g->path);
    text_format(&head, ": %s: %zu of %zu kept", kept == g->entries ? "passed" : "FAILED", kept,
                g->entries);
    for (enum gate_verdict v = GATE_VERDICTS - 1; v > GATE_KEPT; v--)
        if (gate_count(g, v) > 0)
            text_format(&head, ", %zu %s", gate_count(g, v), gate_verdict_name[v]);
    text_wrapped(to, &head, TABLE_COLUMNS, 2);
    text_add(to, "\n");
    for (enum gate_verdict v = GATE_VERDICTS; v-- > 0;) /* the worst first */
        for (size_t i = 0; i < g->entries; i++)
            if (g->entry[i].result.verdict == v)
                add_entry(to, &g->entry[i], difference);
    if (g->gone) {
        text_add(to, "\n");
        add_line(to, 0, "in the baseline, but not in the manifest: ", g->gone);
    }
}

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

static json_t *optional(const char *word)
{
    return word && *word ? json_string(word) : json_null();
}

static json_t *entry_json(const struct gate_entry *e)
{
    const struct gate_result *r = &e->result;
    char device[DEVICE_TEXT];
    device_name(e->device, device);
    bool known = e->tolerant && r->worst != SIZE_MAX;
    json_t *o = json_pack("{ss ss ss ss ss so so so sf sI sf sf}", "name", e->name, "subject",
                          e->method->name, "device", device, "verdict",
                          gate_verdict_name[r->verdict], "promise", promise_name[e->promise],
                          "reason", optional(r->reason), "open", optional(r->note), "reproduce",
                          optional(r->show), "confidence", e->confidence, "runs_needed",
                          (json_int_t)e->wanted, "differing", e->differing, "seconds", r->seconds);
    json_object_set_new(o, "runs_measured", json_integer((json_int_t)r->runs));
    json_object_set_new(o, "tolerance", e->tolerant ? json_string(e->tolerance.text) : json_null());
    json_object_set_new(o, "quantity",
                        e->tolerant ? json_string(recommend_quantity_name[e->tolerance.quantity])
                                    : json_null());
    json_object_set_new(o, "error", known ? number(r->cases[r->worst].error) : json_null());
    json_object_set_new(o, "error_on", known ? json_string(r->cases[r->worst].key) : json_null());
    json_object_set_new(o, "baseline",
                        r->compared
                            ? json_pack("{sI sI sI sI so}", "same", (json_int_t)r->same, "changed",
                                        (json_int_t)r->changed, "new", (json_int_t)r->added, "gone",
                                        (json_int_t)r->gone, "difference", optional(r->difference))
                            : json_null());
    json_object_set(o, "check", r->check ? r->check : json_null());
    return o;
}

json_t *gate_json(const struct gate *g)
{
    json_t *entries = json_array();
    for (size_t i = 0; i < g->entries; i++)
        json_array_append_new(entries, entry_json(&g->entry[i]));
    return json_pack("{ss sb sI sI so so}", "manifest", g->path, "passed",
                     gate_count(g, GATE_KEPT) == g->entries, "kept",
                     (json_int_t)gate_count(g, GATE_KEPT), "subjects", (json_int_t)g->entries,
                     "entries", entries, "gone", optional(g->gone));
}
