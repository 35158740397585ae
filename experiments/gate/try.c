/* The verdict on an entry: of its promise by check's engine, then of its error. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/data.h"
#include "experiments/check/report.h"
#include "experiments/gate/gate.h"
#include "experiments/subjects/mpi.h"
#include "experiments/system/clock.h"
#include "reports/text/against.h"

/* So many cases share the repetitions, where not all of a case is asked for. */
enum { SPREAD = 16 };

static void set_runs(struct check_request *q, const struct gate_entry *e)
{
    bool fixed = q->n.count > 0 && q->inputs + q->datas > 0;
    size_t shapes =
               (q->threads.count ? q->threads.count : 1) * (q->blocks.count ? q->blocks.count : 1),
           cases = q->n.count > shapes ? q->n.count : shapes;
    uint64_t runs = e->wanted / (fixed ? cases : SPREAD) + 1, most = 1000000;
    q->enough = e->wanted;
    q->runs = runs < CHECK_RUNS ? CHECK_RUNS : runs > most ? most : runs;
}

/* The shortest counterexample to the lowest rung that is broken. */
static char *command_of(const struct check_report *r, const char *program)
{
    enum check_kind shown = CHECK_KINDS;
    for (enum check_kind kind = 0; kind < CHECK_KINDS; kind++)
        if (r->tried[kind].broken > 0 &&
            (shown == CHECK_KINDS || (check_kinds[kind].rung == check_kinds[shown].rung &&
                                      r->tried[kind].witness.at.n < r->tried[shown].witness.at.n)))
            shown = kind;
    return shown < CHECK_KINDS ? check_command(r, shown, program) : NULL;
}

/* What of a rung there was no time for; or CHECK_KINDS. */
static enum check_kind late(const struct check_report *r, enum promise rung)
{
    enum check_kind kind = 0;
    while (kind < CHECK_KINDS && !(check_kind_of(kind, rung) && r->tried[kind].late))
        kind++;
    return kind;
}

bool gate_holds(const struct gate_entry *e, enum promise rung)
{
    enum promise ladder = e->promise < PROMISES   ? e->promise
                          : e->promise > PROMISES ? PROMISE_RUN_TO_RUN
                                                  : PROMISE_NONE;
    return rung > PROMISE_NONE &&
           (rung < PROMISES ? rung <= ladder : (e->beside & 1u << rung) != 0);
}

/* Judges a rung that the entry promises, or one below it. */
static void judge_rung(struct gate_entry *e, const struct check_report *r, enum promise rung)
{
    struct check_rung is = check_rung(r, rung);
    const char *name = promise_name[rung];
    const enum check_kind missed = late(r, rung);
    if (is.state == CHECK_BROKEN) {
        if (is.differing > 0)
            gate_judge(e, GATE_BROKEN, "breaks %s: %llu of %llu attempts differ", name,
                       (unsigned long long)is.differing, (unsigned long long)is.attempts);
        return;
    }
    if (is.state == CHECK_FAILED)
        return;
    if (missed < CHECK_KINDS && r->tried[missed].attempts > 0)
        gate_judge(e, GATE_NOT_TRIED, "%s: %s: give it more than %g s", name,
                   r->tried[missed].untried, e->seconds);
    else if (missed < CHECK_KINDS)
        gate_judge(e, GATE_NOT_TRIED,
                   "%s: time ran out before `%s` was tried: give it more than %g s", name,
                   check_kinds[missed].name, e->seconds);
    else if (is.state == CHECK_NOT_TRIED &&
             (rung == e->promise || rung > PROMISES || is.attempts > 0))
        gate_judge(e, GATE_NOT_TRIED, "%s: %s", name, is.reason);
    else if (rung == PROMISE_RUN_TO_RUN && is.attempts < e->wanted)
        gate_judge(e, GATE_NOT_TRIED,
                   "%s: time ran out at %llu of the %llu attempts that %g%% confidence needs: give "
                   "it more than %g s, or a smaller n",
                   name, (unsigned long long)is.attempts, (unsigned long long)e->wanted,
                   100 * e->confidence, e->seconds);
    if ((rung == e->promise || rung > PROMISES) && is.state == CHECK_KEPT && *is.reason)
        gate_say(&e->result.note, "%s: %s", name, is.reason);
    struct text hosts = {0};
    if (rung == PROMISE_RANK_INVARIANT)
        mpi_hosts_words(&hosts, e->method);
    if (is.attempts > 0)
        gate_say(&e->result.evidence, "%s %llu%s", name, (unsigned long long)is.attempts,
                 text_string(&hosts) ? text_string(&hosts) : "");
    text_free(&hosts);
}

static void judge_report(struct gate_entry *e, const struct check_report *r)
{
    char unasked[PAIRS_TEXT];
    if (r->failure.status != STATUS_OK) {
        e->result.status = r->failure.status;
        gate_judge(e, GATE_FAILED, "failed in %s: %s", check_kinds[r->failed].name,
                   r->failure.text);
    }
    if (r->untried.status != STATUS_OK) {
        gate_judge(e, GATE_NOT_TRIED, "%s", r->untried.text);
        return;
    }
    const struct operation *o = e->method->operation;
    for (enum promise rung = check_next(o, 0); rung < PROMISES_ALL; rung = check_next(o, rung))
        if (gate_holds(e, rung))
            judge_rung(e, r, rung);
    /* The engine's verdict stands above the evidence that is asked for here. */
    if (e->result.verdict == GATE_KEPT && e->promise > PROMISE_NONE &&
        check_rung(r, e->promise).state != CHECK_KEPT)
        gate_judge(e, GATE_NOT_TRIED, "%s is %s", promise_name[e->promise],
                   check_state_name[check_rung(r, e->promise).state]);
    pairs_text(unasked, &r->unasked);
    if (*unasked)
        gate_judge(e, GATE_NOT_TRIED, "time ran out before it was asked for %s", unasked);
}

/* What ends one entry, but not the others. */
static enum status fail(struct gate_entry *e, enum status status, const struct problem *why,
                        struct problem *p)
{
    if (status == STATUS_OK)
        return STATUS_OK;
    if (status == STATUS_INTERRUPTED)
        return problem(p, status, "%s", why->text);
    e->result.status = status;
    gate_judge(e, status == STATUS_USAGE ? GATE_NOT_TRIED : GATE_FAILED, "%s", why->text);
    return STATUS_OK;
}

static enum status try_promise(struct gate_entry *e, const struct gate_options *o,
                               struct problem *p)
{
    struct check_request q = {0}, own;
    struct check_joined joined = {0};
    struct problem why = {0};
    struct check_report *report = malloc(sizeof *report);
    enum status status = report ? check_asked(&q, &e->words, &why)
                                : problem(&why, STATUS_MEMORY, "gate: out of memory");
    if (status == STATUS_OK) {
        q.method = e->method;
        q.device = e->device;
        q.promise = e->promise < PROMISES ? e->promise : PROMISE_NONE;
        q.beside = e->beside;
        q.seconds = e->seconds;
        q.stop = o->stop;
        q.show = o->show;
        q.context = o->context;
        for (enum check_kind kind = 0; kind < CHECK_KINDS; kind++)
            q.tried[kind] =
                gate_holds(e, check_kinds[kind].rung) || gate_holds(e, check_kinds[kind].beside);
        set_runs(&q, e);
        own = q;
        status = check_join_files(&own, &joined, e->method->operation, &why);
    }
    if (status == STATUS_OK)
        status = check_subject(report, &own, &why);
    if (status == STATUS_OK) {
        judge_report(e, report);
        e->result.left_out = report->left_out;
        e->result.check = check_json(report, o->program);
        e->result.show = e->result.verdict == GATE_BROKEN ? command_of(report, o->program) : NULL;
    }
    check_joined_free(&joined);
    check_request_free(&q);
    free(report);
    return fail(e, status, &why, p);
}

/* Whatever is tolerated. */
static void judge_bound(struct gate_entry *e)
{
    const struct gate_result *r = &e->result;
    for (size_t i = 0; i < r->case_count; i++)
        if (r->cases[i].exceeds) {
            gate_judge(e, GATE_INEXACT,
                       "a result %sis not finite where nothing can overflow, on %s",
                       e->method->foreign ? "" : "exceeds its error bound, or ", r->cases[i].key);
            return;
        }
}

/* A NaN, too, exceeds it. */
static void judge_error(struct gate_entry *e)
{
    struct gate_result *r = &e->result;
    size_t left_out = 0;
    for (size_t i = 0; i < r->case_count; i++) {
        double error = r->cases[i].error;
        left_out += !r->cases[i].judged;
        if (r->cases[i].judged &&
            (r->worst == SIZE_MAX || figure_worse(error, r->cases[r->worst].error)))
            r->worst = i;
    }
    if (left_out > 0)
        gate_judge(e, GATE_NOT_TRIED,
                   "tolerance: the exact result of %zu of %zu cases is no finite number", left_out,
                   r->case_count);
    else if (r->worst == SIZE_MAX)
        gate_judge(e, GATE_NOT_TRIED, "tolerance: it was tried in none of these formats");
    if (e->promise == PROMISE_NONE && r->runs < e->wanted)
        gate_say(
            &r->note,
            "tolerance: time ran out at %llu of the %llu runs that %g%% confidence needs: give "
            "it more than %g s, or a smaller n",
            (unsigned long long)r->runs, (unsigned long long)e->wanted, 100 * e->confidence,
            e->seconds);
    if (r->worst != SIZE_MAX && !recommend_holds(&e->tolerance, r->cases[r->worst].error))
        gate_judge(e, GATE_INEXACT, "error %s exceeds %s (%s) on %s",
                   text_against(r->cases[r->worst].error, e->tolerance.limit, 2).value,
                   e->tolerance.text, recommend_quantity_name[e->tolerance.quantity],
                   r->cases[r->worst].key);
}

enum status gate_try(struct gate_entry *e, const struct gate_options *o, struct problem *p)
{
    uint64_t begin = clock_ns();
    struct problem why = {0};
    enum status status = STATUS_OK;
    if (e->result.verdict == GATE_FAILED) /* as it was read */
        return STATUS_OK;
    if (e->promise > PROMISE_NONE || e->beside)
        status = try_promise(e, o, p);
    if (status == STATUS_OK && e->result.verdict != GATE_FAILED && (e->tolerant || o->measure)) {
        enum status measured = gate_measure(e, o, &why);
        status = fail(e, measured, &why, p);
        if (measured == STATUS_OK)
            judge_bound(e);
        if (measured == STATUS_OK && e->tolerant)
            judge_error(e);
    }
    e->result.seconds = (double)(clock_ns() - begin) / 1e9;
    return status;
}
