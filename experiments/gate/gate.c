#include "experiments/gate/gate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *const gate_verdict_name[GATE_VERDICTS] = {
    [GATE_KEPT] = "kept",       [GATE_NOT_TRIED] = "not tried", [GATE_FAILED] = "failed",
    [GATE_CHANGED] = "changed", [GATE_INEXACT] = "inexact",     [GATE_BROKEN] = "broken",
};

static void say(char **to, const char *format, va_list arguments)
{
    char *words, *whole;
    if (vasprintf(&words, format, arguments) < 0)
        return;
    if (asprintf(&whole, "%s%s%s", *to ? *to : "", *to && **to ? "; " : "", words) >= 0) {
        free(*to);
        *to = whole;
    }
    free(words);
}

void gate_say(char **to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(to, format, arguments);
    va_end(arguments);
}

void gate_judge(struct gate_entry *e, enum gate_verdict v, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(&e->result.reason, format, arguments);
    va_end(arguments);
    if (v > e->result.verdict)
        e->result.verdict = v;
}

size_t gate_count(const struct gate *g, enum gate_verdict v)
{
    size_t count = 0;
    for (size_t i = 0; i < g->entries; i++)
        count += g->entry[i].result.verdict == v;
    return count;
}

enum status gate_status(const struct gate *g, struct problem *p)
{
    const struct gate_entry *worst = NULL, *failed = NULL;
    size_t kept = gate_count(g, GATE_KEPT), failures = gate_count(g, GATE_FAILED);
    for (size_t i = 0; i < g->entries; i++) {
        const struct gate_entry *e = &g->entry[i];
        if (e->result.verdict == GATE_FAILED && !failed)
            failed = e;
        if (!worst || e->result.verdict > worst->result.verdict)
            worst = e;
    }
    if (kept == g->entries)
        return STATUS_OK;
    if (kept + failures == g->entries)
        return problem(p, failed->result.status, "gate: %zu of %zu subjects failed, first %s: %s",
                       failures, g->entries, failed->name, failed->result.reason);
    return problem(p, STATUS_FAILED, "gate: %zu of %zu subjects are not kept, the worst: %s%s %s",
                   g->entries - kept, g->entries, worst->name, worst == failed ? "" : " is",
                   gate_verdict_name[worst->result.verdict]);
}

enum status gate_stand_in(struct gate_entry *e, enum status status, const char *why,
                          struct problem *p)
{
    const struct list *names = &e->words.axis[AXIS_METHOD];
    e->nameless = malloc(sizeof *e->nameless);
    if (!e->nameless)
        return problem(p, STATUS_MEMORY, "gate: out of memory");
    *e->nameless = (struct method){
        .name = names->item[names->count - 1], .foreign = true, .operation = &operation_sum};
    e->method = e->nameless;
    e->result.status = status;
    gate_judge(e, GATE_FAILED, "%s", why);
    return STATUS_OK;
}

static void free_result(struct gate_result *r)
{
    for (size_t i = 0; i < r->case_count; i++)
        free(r->cases[i].key);
    free(r->cases);
    free(r->reason);
    free(r->note);
    free(r->show);
    free(r->evidence);
    free(r->difference);
    json_decref(r->check);
}

void gate_free(struct gate *g)
{
    for (size_t i = 0; i < g->entries; i++) {
        free_result(&g->entry[i].result);
        request_free(&g->entry[i].words);
        free(g->entry[i].name);
        free(g->entry[i].nameless);
    }
    free(g->entry);
    free(g->gone);
    json_decref(g->baseline);
    *g = (struct gate){0};
}
