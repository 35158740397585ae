#include "experiments/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "experiments/check_private.h"
#include "experiments/clock.h"
#include "experiments/foreign.h"

const struct check_kind_facts check_kinds[CHECK_KINDS] = {
    [CHECK_REPEAT] = {"repeat", PROMISE_RUN_TO_RUN, "run after run in one process"},
    [CHECK_PROCESS] = {"process", PROMISE_RUN_TO_RUN, "fresh processes"},
    [CHECK_LOAD] = {"load", PROMISE_RUN_TO_RUN, "while the device has other work"},
    [CHECK_SHAPE] = {"shape", PROMISE_GPU_TO_GPU, "launch shapes"},
    [CHECK_OFFSET] = {"offset", PROMISE_GPU_TO_GPU, "alignments of the input"},
    [CHECK_NEIGHBOUR] = {"neighbour", PROMISE_GPU_TO_GPU, "what lies around the input in memory"},
    [CHECK_BATCH] = {"batch", PROMISE_GPU_TO_GPU, "what other rows there are, and where"},
    [CHECK_DEVICE] = {"device", PROMISE_GPU_TO_GPU, "CPU and GPUs"},
    [CHECK_RECORDED] = {"recorded", PROMISE_GPU_TO_GPU, "results recorded on other GPUs"},
    [CHECK_PERMUTATION] = {"permutation", PROMISE_ORDER_INVARIANT, "orders of the elements"},
    [CHECK_EXACT] = {"exact", PROMISE_CORRECTLY_ROUNDED, "the exact result, rounded once"},
};

static const struct {
    check_try try_it;
    double share; /* of the time */
} ways[CHECK_KINDS] = {
    [CHECK_REPEAT] = {check_repeat, 3},
    [CHECK_PROCESS] = {check_process, 2},
    [CHECK_LOAD] = {check_under_load, 3},
    [CHECK_SHAPE] = {check_shape, 2},
    [CHECK_OFFSET] = {check_offset, 1},
    [CHECK_NEIGHBOUR] = {check_neighbour, 1},
    [CHECK_BATCH] = {check_batch, 2},
    [CHECK_DEVICE] = {check_device, 2},
    [CHECK_RECORDED] = {check_with_recorded, 2},
    [CHECK_PERMUTATION] = {check_permutation, 2},
    [CHECK_EXACT] = {check_exact, 3},
};

bool check_stopped(const struct check *c)
{
    return c->request->stop && *c->request->stop;
}

/* Why it cannot be tried of this subject at all; NULL: it can. Of a program we know neither shape
 * nor memory. */
static const char *senseless(const struct check *c, enum check_kind kind)
{
    const struct method *m = c->request->method;
    bool program = m->foreign && !foreign_is_object(m->name);
    bool named = m->foreign || method_named(m->name) == m;
    const struct operation *o = m->operation;
    bool told = o->matrix || o->mask, moves = told && o != &operation_rows;
    switch (kind) {
    case CHECK_PROCESS: /* `serve` has no words for masks */
        return o->mask  ? "a process of its own cannot be told which elements to keep"
               : !named ? "a function of this process has no other process"
                        : NULL;
    case CHECK_BATCH:
        return o != &operation_rows ? "the operation has no batch" : NULL;
    case CHECK_PERMUTATION:
        return moves ? "the operation moves elements, it has no order of additions" : NULL;
    case CHECK_EXACT:
        return moves ? "the operation moves elements, it rounds nothing" : NULL;
    case CHECK_SHAPE:
        return !m->shape_read[c->request->device.kind] ? "the subject reads no launch shape" : NULL;
    case CHECK_OFFSET:
    case CHECK_NEIGHBOUR:
        return program ? "where a program keeps its input is not known" : NULL;
    case CHECK_RECORDED:
        return told                    ? "nothing is recorded of this operation"
               : !c->request->recorded ? "no recorded results are at hand (--recorded DIR)"
                                       : NULL;
    default:
        return NULL;
    }
}

static bool applies(const struct check *c, enum check_kind kind)
{
    return !senseless(c, kind);
}

static int descending(const void *a, const void *b)
{
    uint64_t x = ((const struct distinct *)a)->count, y = ((const struct distinct *)b)->count;
    return (x < y) - (x > y);
}

/* The counts of the results, the most frequent first, as far as they fit. */
static void write_counts(char text[CHECK_COUNTS], struct tally *t)
{
    size_t used = 0;
    qsort(t->item, t->count, sizeof *t->item, descending);
    for (size_t i = 0; i < t->count && used < CHECK_COUNTS - 28; i++)
        used += (size_t)snprintf(text + used, CHECK_COUNTS - used, "%s%llu", i ? " " : "",
                                 (unsigned long long)t->item[i].count);
    size_t left = t->count;
    for (const char *at = text; *at; at++)
        left -= *at == ' ';
    if (left > 1)
        snprintf(text + used, CHECK_COUNTS - used, " ...");
}

/* Exact sums are no results of the subject's: there it is the cases that count. */
static void add_outcome(struct check_tried *t, struct check_outcome *o, enum check_kind kind)
{
    if (o->attempts == 0)
        return;
    if (o->differing > 0 && t->broken == 0)
        t->witness = o->found;
    t->cases++;
    t->broken += o->differing > 0;
    t->attempts += o->attempts;
    t->differing += o->differing;
    struct tally *tally = o->other.count > o->tally.count ? &o->other : &o->tally;
    if (kind != CHECK_EXACT && tally->count > t->distinct) {
        t->distinct = tally->count;
        write_counts(t->counts, tally);
    }
}

/* How the time of a kind goes. What a case takes is judged by others in the same formats: by an
 * element, of so many at least, so that what each run costs counts little. */
struct pace {
    uint64_t deadline, end; /* end: no case is tried without need behind it */
    size_t done;
    double ns[FORMATS][FORMATS], most; /* an element; 0: not known */
};
enum { SMALL = 10000, LEAST_CASES = 4 };

/* The first few small ones are tried in any case. */
static bool time_for(const struct pace *t, const struct check_case *k, uint64_t now)
{
    double ns = t->ns[k->pair.storage][k->pair.accumulator];
    if (t->done == 0 || (t->done < LEAST_CASES && k->n <= SMALL && now < t->end))
        return true;
    return now < t->deadline &&
           (ns > 0 ? ns : t->most) * (double)k->n < (double)(t->deadline - now);
}

static void note_time(struct pace *t, const struct check_case *k, uint64_t took_ns)
{
    double each = (double)took_ns / (double)(k->n < SMALL ? SMALL : k->n);
    double *ns = &t->ns[k->pair.storage][k->pair.accumulator];
    *ns = each > *ns ? each : *ns;
    t->most = each > t->most ? each : t->most;
    t->done++;
}

/* One case. STATUS_USAGE where there is no such input in this format. */
static enum status try_case(struct check *c, struct check_tried *t, enum check_kind kind,
                            const struct check_case *k, struct problem *p)
{
    struct check_outcome o = {0};
    /* A repetition has its runs; of others each is tried more than once where many are asked for.
     */
    bool once = check_kinds[kind].rung == PROMISE_RUN_TO_RUN || kind == CHECK_RECORDED;
    uint64_t rounds = once ? 1 : 1 + (c->request->runs - 1) / CHECK_RUNS;
    enum status status = check_load_case(c, k, p);
    for (uint64_t i = 0; i < rounds && status == STATUS_OK; i++)
        status = ways[kind].try_it(c, &o, p);
    add_outcome(t, &o, kind);
    check_outcome_free(&o);
    if (status == STATUS_OK && check_stopped(c))
        status = problem(p, STATUS_INTERRUPTED, "interrupted");
    return status;
}

/* All cases of a kind that there is time for. */
static enum status try_kind(struct check *c, struct check_report *report, enum check_kind kind,
                            uint64_t deadline, struct problem *p)
{
    struct check_case k;
    struct pace pace = {.deadline = deadline, .end = c->end + clock_span(c->request->seconds)};
    for (size_t u = 0; check_case_at(c, kind, u, &k); u++) {
        struct problem why = {0};
        uint64_t begin = clock_ns();
        if (pace.done >= LEAST_CASES && begin > deadline)
            break;
        if (!time_for(&pace, &k, begin))
            continue;
        if (c->request->show)
            c->request->show(c->request->context, c->request->method, check_kinds[kind].name,
                             c->end > begin ? (double)(c->end - begin) / 1e9 : 0);
        enum status status = try_case(c, &report->tried[kind], kind, &k, &why);
        if (status == STATUS_USAGE) {
            if (report->untried.status == STATUS_OK)
                report->untried = why;
            continue;
        }
        if (status != STATUS_OK)
            return problem(p, status, "%s", why.text);
        note_time(&pace, &k, clock_ns() - begin);
    }
    return STATUS_OK;
}

/* What failed in this too ends it; the witnesses stay as they were found. */
static enum status shrink_all(struct check *c, struct check_report *report, struct problem *p)
{
    enum status status = STATUS_OK;
    bool timing = check_rung(report, PROMISE_RUN_TO_RUN).state == CHECK_BROKEN;
    for (size_t kind = 0; kind < CHECK_KINDS && status == STATUS_OK; kind++)
        if (report->tried[kind].broken > 0 && c->request->shrink && kind != CHECK_RECORDED)
            status = check_shrink(c, timing, ways[kind].try_it, &report->tried[kind].witness, p);
    return status;
}

/* The time that is left is shared among the kinds that are left. */
static uint64_t deadline_of(const struct check *c, enum check_kind kind, uint64_t end)
{
    double shares = 0;
    uint64_t now = clock_ns();
    for (size_t i = kind; i < CHECK_KINDS; i++)
        shares += c->request->tried[i] && applies(c, i) ? ways[i].share : 0;
    return end <= now || !(shares > 0)
               ? now
               : now + (uint64_t)((double)(end - now) * ways[kind].share / shares);
}

static enum status try_all(struct check *c, struct check_report *report, struct problem *p)
{
    const uint64_t end = c->end = clock_ns() + clock_span(c->request->seconds);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
        if (!c->request->tried[kind] || !applies(c, kind))
            continue;
        struct problem why = {0};
        c->over = &report->over[check_kinds[kind].rung];
        enum status status = try_kind(c, report, kind, deadline_of(c, kind, end), &why);
        if (status == STATUS_INTERRUPTED)
            return problem(p, status, "%s", why.text);
        if (status != STATUS_OK) {
            report->failure = why;
            report->failed = kind;
            return STATUS_OK;
        }
    }
    c->over = NULL;
    return shrink_all(c, report, p);
}

static const char *reason(const struct check *c, const struct check_report *r, enum check_kind kind)
{
    const char *why = senseless(c, kind);
    bool failed = r->failure.status != STATUS_OK && kind > r->failed;
    return !c->request->tried[kind]         ? "left out by --only"
           : why                            ? why
           : failed                         ? "the subject failed before"
           : r->untried.status != STATUS_OK ? r->untried.text
           : kind == CHECK_DEVICE           ? "no other device runs it"
           : kind == CHECK_RECORDED         ? "nothing recorded is among the cases asked for"
                                            : "time ran out";
}

static void say_reasons(const struct check *c, struct check_report *r)
{
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (r->tried[kind].attempts == 0)
            snprintf(r->tried[kind].untried, CHECK_REASON, "%.*s", CHECK_REASON - 1,
                     reason(c, r, kind));
}

/* Cases that were refused count where no other was tried. A repetition can be tried of any that is
 * not refused, so that otherwise it was not asked for. */
static void note_untried(struct check_report *r)
{
    char device[DEVICE_TEXT];
    bool tried = r->failure.status != STATUS_OK;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        tried |= r->tried[kind].attempts > 0;
    if (tried)
        r->untried = (struct problem){0};
    if (tried || r->untried.status != STATUS_OK)
        return;
    device_name(r->request.device, device);
    problem(&r->untried, STATUS_USAGE,
            "option --only: found nothing that can be tried of %s on %s with the other options",
            r->request.method->name, device);
}

enum status check_subject(struct check_report *report, const struct check_request *request,
                          struct problem *p)
{
    struct check c = {.request = request};
    *report = (struct check_report){.request = *request};
    for (size_t i = 0; i < request->inputs; i++)
        if (request->input[i].family->pair && request->method->operation->inputs != 2)
            return problem(p, STATUS_USAGE, "check: input %s is of two arrays, %s reads one",
                           request->input[i].family->name, request->method->name);
    enum status status = check_find_pairs(&c, report, p);
    if (status == STATUS_OK && report->failure.status == STATUS_OK)
        status = try_all(&c, report, p);
    if (status == STATUS_OK)
        note_untried(report);
    say_reasons(&c, report);
    for (size_t i = 0; i < c.serving; i++)
        foreign_end(c.served[i]);
    free(c.in.data);
    free(c.keys);
    free(c.mask);
    report->kept = check_kept(report);
    return status;
}
