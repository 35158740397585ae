/* Cases that a subject refuses: its process ends with an exit status and answers nothing, and does
 * so again when it is asked again. Such a case is left out and said; what fails at times is a
 * failure. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/subjects/foreign.h"

static bool has(const struct check_set *set, uint64_t item)
{
    size_t i = 0;
    while (i < set->count && set->item[i] != item)
        i++;
    return i < set->count;
}

#define AGAIN_S 20

bool check_refuses_again(const struct check *c, enum status status, struct problem *why)
{
    struct array out;
    struct problem again = {0};
    const struct check_setting plain = check_plain(c, &c->at);
    if (status != STATUS_DATA || !plain.method->foreign || !foreign_declined() || check_stopped(c))
        return false;
    /* Another process may be slow to begin on a busy machine, though the time for the check ended.
     */
    foreign_time_left(c->timeout_s < AGAIN_S ? c->timeout_s : AGAIN_S, " (asked again)");
    if (check_once(c, &plain, &out, &again) != STATUS_OK) {
        if (c->evidence) /* what it was made over has given no result */
            c->evidence->run.there = false;
        return again.status == STATUS_DATA && foreign_declined();
    }
    free(out.data);
    again = *why;
    *why = (struct problem){0};
    problem(why, status, "%s (the same was answered when it was asked again)", again.text);
    return false;
}

bool check_refused(const struct check *c, struct check_report *report, enum check_kind kind,
                   enum status status, struct problem *why)
{
    struct check_refusals *r = &report->refused;
    if (c->answered || check_follows(c, kind) || !check_refuses_again(c, status, why))
        return false;
    if (r->first.status == STATUS_OK) {
        r->first = *why;
        r->kind = kind;
    }
    r->whole |= c->at.data && c->at.n == c->at.data->array.n;
    check_set_add(&r->lengths, c->at.n);
    return true;
}

/* Was an answer of this length compared with another? */
static bool answered(const struct check_report *report, uint64_t n)
{
    for (enum promise rung = 0; rung < PROMISES_ALL; rung++)
        if (has(&report->over[rung].lengths, n))
            return true;
    return false;
}

bool check_length_refused(const struct check_report *report, size_t n)
{
    return has(&report->refused.lengths, n) && !answered(report, n);
}

void check_refused_asked(struct check_report *report)
{
    const struct check_request *q = &report->request;
    const struct check_refusals *r = &report->refused;
    bool none = true, asked = r->whole;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        none &= report->tried[kind].attempts == 0;
    for (size_t i = 0; i < r->lengths.count; i++) {
        bool some = answered(report, r->lengths.item[i]) && q->inputs + q->datas > 0;
        for (size_t k = 0; k < q->n.count; k++)
            some |= q->n.item[k] == r->lengths.item[i];
        asked |= some;
    }
    if (report->failure.status != STATUS_OK || r->first.status == STATUS_OK || !(none || asked))
        return;
    report->failure = r->first;
    report->failed = r->kind;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void check_refused_text(char text[CHECK_REFUSED], const struct check_report *report)
{
    enum { LISTED = 6 };
    struct check_set set = report->refused.lengths;
    size_t used = 0;
    *text = 0;
    if (set.count == 0)
        return;
    qsort(set.item, set.count, sizeof *set.item, ascending);
    used = (size_t)snprintf(text, CHECK_REFUSED, "it refused n = ");
    for (size_t i = 0; i < set.count && i < LISTED; i++)
        used += (size_t)snprintf(text + used, CHECK_REFUSED - used, "%s%llu%s", i > 0 ? ", " : "",
                                 (unsigned long long)set.item[i],
                                 answered(report, set.item[i]) ? " of some inputs" : "");
    if (set.count > LISTED)
        used += (size_t)snprintf(text + used, CHECK_REFUSED - used, " and %zu more",
                                 set.count - LISTED);
    snprintf(text + used, CHECK_REFUSED - used, ", not tried there: %s",
             foreign_last_words(report->refused.first.text, report->request.method->name));
}
