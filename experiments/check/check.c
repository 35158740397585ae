#include "experiments/check/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/batches.h"
#include "experiments/check/pace.h"
#include "experiments/inputs/cache.h"
#include "experiments/system/clock.h"
#include "experiments/subjects/foreign_state.h"
#include "kernels/gpu/load.h"
#include "kernels/gpu/gpu.h"

const struct check_kind_facts check_kinds[CHECK_KINDS] = {
    [CHECK_REPEAT] = {"repeat", PROMISE_RUN_TO_RUN, 0, "run after run in one process"},
    [CHECK_PROCESS] = {"process", PROMISE_RUN_TO_RUN, 0, "fresh processes"},
    [CHECK_LOAD] = {"load", PROMISE_RUN_TO_RUN, 0, "while the device has other work"},
    [CHECK_AFTER] = {"after", PROMISE_RUN_TO_RUN, 0, "what the process has run before"},
    [CHECK_SHAPE] = {"shape", PROMISE_GPU_TO_GPU, 0, "launch shapes"},
    [CHECK_ENVIRONMENT] = {"environment", PROMISE_GPU_TO_GPU, 0,
                           "numbers of threads or processors in the environment"},
    [CHECK_OFFSET] = {"offset", PROMISE_GPU_TO_GPU, PROMISE_BATCH_INVARIANT,
                      "alignments of the input"},
    [CHECK_NEIGHBOUR] = {"neighbour", PROMISE_GPU_TO_GPU, 0,
                         "what lies around the input in memory"},
    [CHECK_BATCH] = {"batch", PROMISE_GPU_TO_GPU, PROMISE_BATCH_INVARIANT,
                     "how many others there are"},
    [CHECK_PLACE] = {"place", PROMISE_GPU_TO_GPU, PROMISE_BATCH_INVARIANT,
                     "where it lies among others"},
    [CHECK_OTHERS] = {"others", PROMISE_GPU_TO_GPU, PROMISE_BATCH_INVARIANT, "the others' data"},
    [CHECK_LAYOUT] = {"layout", PROMISE_GPU_TO_GPU, PROMISE_BATCH_INVARIANT,
                      "how matrices lie in memory"},
    [CHECK_DEVICE] = {"device", PROMISE_GPU_TO_GPU, 0, "CPU and GPUs"},
    [CHECK_RECORDED] = {"recorded", PROMISE_GPU_TO_GPU, 0, "results recorded on other GPUs"},
    [CHECK_PERMUTATION] = {"permutation", PROMISE_ORDER_INVARIANT, PROMISE_RANK_INVARIANT,
                           "orders of the elements"},
    [CHECK_EXACT] = {"exact", PROMISE_CORRECTLY_ROUNDED, 0, "the exact result, rounded once"},
};

static const struct {
    check_try try_it;
    double share; /* of the time */
} ways[CHECK_KINDS] = {
    [CHECK_REPEAT] = {check_repeat, 3},
    [CHECK_PROCESS] = {check_process, 2},
    [CHECK_LOAD] = {check_under_load, 3},
    [CHECK_AFTER] = {check_after, 1},
    [CHECK_SHAPE] = {check_shape, 2},
    [CHECK_ENVIRONMENT] = {check_environment, 2},
    [CHECK_OFFSET] = {check_offset, 1},
    [CHECK_NEIGHBOUR] = {check_neighbour, 1},
    [CHECK_BATCH] = {check_batch, 3},
    [CHECK_PLACE] = {check_place, 1},
    [CHECK_OTHERS] = {check_others, 1},
    [CHECK_LAYOUT] = {check_layout, 1},
    [CHECK_DEVICE] = {check_device, 2},
    [CHECK_RECORDED] = {check_with_recorded, 2},
    [CHECK_PERMUTATION] = {check_permutation, 2},
    [CHECK_EXACT] = {check_exact, 3},
};

bool check_stopped(const struct check *c)
{
    return c->request->stop && *c->request->stop;
}

static bool applies(const struct check *c, enum check_kind kind)
{
    return !check_senseless(c, kind);
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
    if (o->differing > 0 && (t->broken == 0 || (o->found.exceeds && !t->witness.exceeds)))
        t->witness = o->found;
    t->exceeding += o->found.exceeds;
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

/* What is sure of a repetition follows from how often it was made; of what is varied it is the
 * variety that tells. Fresh processes, a loaded device and other lengths take long. */
enum { VARIED_LEAST = 100, SHARE = 10 };

uint64_t check_wanted(const struct check_request *r, enum check_kind kind)
{
    bool slow = kind == CHECK_PROCESS || kind == CHECK_LOAD || kind == CHECK_AFTER;
    uint64_t least = slow ? CHECK_LEAST : VARIED_LEAST, share = r->enough / SHARE;
    if (r->enough == 0)
        return UINT64_MAX;
    return kind == CHECK_REPEAT ? r->enough : share > least ? share : least;
}

/* Attempts of ours, which are quick, from one look at the clock to the next. */
enum { LOOK = 8 };

bool check_enough(const struct check *c, const struct check_outcome *o)
{
    bool look = o->attempts > 0 && (c->request->method->foreign || o->attempts % LOOK == 0);
    if (!look || c->until == UINT64_MAX)
        return false;
    uint64_t now = clock_ns();
    return now >= c->until && (o->attempts >= CHECK_LEAST || now >= c->least);
}

bool check_load(struct check *c, struct load **load)
{
    struct device d = c->request->device;
    c->no_load = (struct problem){0};
    return load_begin(load, d.kind == DEVICE_CPU ? -1 : d.index, &c->no_load) == STATUS_OK;
}

/* Other work for the device, as long as cases ask for it. Where there can be none, the subject has
 * not failed: such a case is left out. */
static bool set_load(struct check *c, enum check_kind kind, bool busy)
{
    busy = busy && check_kinds[kind].rung > PROMISE_RUN_TO_RUN;
    if (busy == (c->load != NULL))
        return true;
    load_end(c->load);
    c->load = NULL;
    return !busy || check_load(c, &c->load);
}

/* One case. STATUS_USAGE where there is no such input in this format. */
static enum status try_case(struct check *c, struct check_tried *t, enum check_kind kind,
                            const struct check_case *k, struct problem *p)
{
    struct check_outcome o = {0};
    /* A repetition has its runs; of others each is tried more than once where many are asked for:
     * for what shows itself rarely, since the same again is no more evidence. */
    bool once = check_kinds[kind].rung == PROMISE_RUN_TO_RUN || kind == CHECK_RECORDED ||
                c->request->enough > 0;
    unsigned rounds = once ? 1 : 1 + (unsigned)((c->request->runs - 1) / CHECK_RUNS);
    enum status status = check_load_case(c, k, p);
    if (status == STATUS_OK && !set_load(c, kind, k->busy))
        return STATUS_OK;
    for (c->round = 0; c->round < rounds && status == STATUS_OK && !check_enough(c, &o);
         c->round++) {
        uint64_t differing = o.differing;
        status = ways[kind].try_it(c, &o, p);
        if (c->round > 0 && differing == 0 && o.differing > 0)
            o.found.runs = c->request->runs;
    }
    c->round = 0;
    c->answered = kind == CHECK_EXACT ? o.attempts > 0 : o.tally.count > 0;
    add_outcome(t, &o, kind);
    check_outcome_free(&o);
    if (status == STATUS_OK && check_stopped(c))
        status = problem(p, STATUS_INTERRUPTED, "interrupted");
    return status;
}

enum { FIRST_ANSWER_S = 10 };

static bool answered(const struct check_report *report)
{
    uint64_t attempts = 0;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        attempts += report->tried[kind].attempts;
    return attempts > 0;
}

/* A run of a subject in a process of its own may take no longer than all is to; its first answer
 * may be late on a busy machine. */
static void limit_run(const struct check *c, const struct check_report *report, uint64_t now)
{
    double left = c->last > now ? (double)(c->last - now) / 1e9 : 0;
    double least = answered(report) ? 1 : FIRST_ANSWER_S;
    left = left > least ? left : least;
    if (c->request->method->foreign && left < c->timeout_s)
        foreign_time_left(left, ", when the time for the check ended");
    else if (c->request->method->foreign)
        foreign_timeout(c->timeout_s);
}

static void tell(const struct check *c, enum check_kind kind, uint64_t now)
{
    if (c->request->show)
        c->request->show(c->request->context, c->request->method, check_kinds[kind].name,
                         c->end > now ? (double)(c->end - now) / 1e9 : 0);
}

/* The time was up in a run, which gave no answer: no fault of the subject's where it answered
 * before. What ended by itself did not run out of time, however late that was. */
static bool ran_out(const struct check *c, const struct check_report *report, enum status status)
{
    struct foreign_wait wait;
    return status == STATUS_DATA && answered(report) && c->request->method->foreign &&
           clock_ns() >= c->last && foreign_late(&wait);
}

/* A run that takes so many times what its like took hangs, on a machine however busy. */
#define HANGS 10

/* The same of an attempt: one that may only be slow is told of; one that hangs is a failure. */
static enum status cut_short(const struct check *c, struct check_tried *t, struct problem *why)
{
    struct foreign_wait wait;
    foreign_late(&wait);
    if (!(wait.waited_s > HANGS * wait.usual_s)) {
        t->unanswered++;
        return STATUS_OK;
    }
    *why = (struct problem){0};
    return problem(why, STATUS_DATA,
                   "%s: no answer in %.2g s, when the time ended: such runs took %.2g s at most",
                   c->request->method->name, wait.waited_s, wait.usual_s);
}

/* All cases of a kind that there is time for. */
static enum status try_kind(struct check *c, struct check_report *report, enum check_kind kind,
                            uint64_t deadline, struct problem *p)
{
    struct check_case k;
    enum check_found found;
    bool all = true;
    struct pace pace;
    pace_begin(&pace, c, kind, &report->tried[kind], deadline);
    for (size_t u = 0; (found = check_case_at(c, kind, u, &k)) != CHECK_NO_MORE; u++) {
        struct problem why = {0};
        uint64_t begin = clock_ns();
        if ((!pace_few(&pace, begin) && begin > deadline) || begin > c->last ||
            pace.passed > PASSED_MOST ||
            (c->request->enough > 0 &&
             ((pace.tried->attempts >= check_wanted(c->request, kind) &&
               !check_families_left(report, kind)) ||
              pace.stale > STALE_MOST) &&
             !check_kind_missed(report, kind)))
            break;
        pace.passed++;
        if (found == CHECK_NONE || check_length_refused(report, k.n))
            continue;
        if (!pace_time_for(&pace, &k, begin)) {
            all = false;
            continue;
        }
        tell(c, kind, begin);
        limit_run(c, report, begin);
        c->until = pace_until(&pace, begin);
        c->least = begin + PACE_LEAST_NS;
        uint64_t attempts = pace.tried->attempts;
        enum status status = try_case(c, &report->tried[kind], kind, &k, &why);
        pace.stale = pace.tried->attempts > attempts ? 0 : pace.stale + 1;
        if (status == STATUS_OK || status == STATUS_USAGE)
            check_note_case(c, report, kind, &k,
                            pace.tried->attempts > attempts || status == STATUS_USAGE);
        if (status == STATUS_USAGE) {
            if (report->untried.status == STATUS_OK)
                report->untried = why;
            continue;
        }
        bool ended = ran_out(c, report, status);
        if (!ended && check_refused(c, report, kind, status, &why))
            continue;
        if (ended && cut_short(c, &report->tried[kind], &why) == STATUS_OK)
            break;
        if (status != STATUS_OK) {
            set_load(c, kind, false);
            return problem(p, status, "%s", why.text);
        }
        c->ran[kind] = true;
        all &= clock_ns() < c->until; /* else it may have been cut short */
        pace_note(&pace, &k, clock_ns() - begin);
    }
    report->tried[kind].all = all && found == CHECK_NO_MORE;
    return STATUS_OK;
}

/* What failed in this too ends it; the witnesses stay as they were found. A tenth of the time is
 * for this. */
static enum status shrink_all(struct check *c, struct check_report *report, struct problem *p)
{
    enum status status = STATUS_OK;
    bool timing = check_rung(report, PROMISE_RUN_TO_RUN).state == CHECK_BROKEN;
    uint64_t end = clock_ns() + (uint64_t)(1e8 * (2 + c->request->seconds));
    size_t left = 0;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        left += report->tried[kind].broken > 0 && kind != CHECK_RECORDED;
    for (size_t kind = 0; kind < CHECK_KINDS && status == STATUS_OK; kind++) {
        if (!c->request->shrink || report->tried[kind].broken == 0 || kind == CHECK_RECORDED ||
            check_is_counted(c->request, kind)) /* it is the smallest */
            continue;
        uint64_t now = clock_ns(), share = now < end ? (end - now) / left : 0;
        left--;
        tell(c, kind, now);
        limit_run(c, report, now);
        c->until = c->request->method->foreign ? now + share : UINT64_MAX;
        struct problem why = {0};
        struct check_break *b = &report->tried[kind].witness;
        status = check_follows(c, kind)
                     ? check_shrink_batch(c, kind, timing, ways[kind].try_it, now + share, b, &why)
                     : check_shrink(c, timing, ways[kind].try_it, now + share, b, &why);
        if (ran_out(c, report, status))
            return STATUS_OK;
        if (status == STATUS_DATA && c->request->method->foreign && foreign_declined())
            status = STATUS_OK; /* a smaller batch */
        if (status != STATUS_OK)
            problem(p, status, "%s", why.text);
    }
    return status;
}

/* Repetitions that are enough leave the rest of their time to others. Numbers of rows that are
 * asked for have half of it. */
static double share_of(const struct check *c, enum check_kind kind)
{
    enum { COUNTED = 26 };
    if (check_is_counted(c->request, kind))
        return COUNTED;
    bool first = kind == CHECK_REPEAT && c->request->enough > 0;
    return first ? 4 * ways[kind].share : ways[kind].share;
}

/* The time that is left is shared among the kinds that are left. */
static uint64_t deadline_of(const struct check *c, enum check_kind kind, uint64_t end)
{
    double shares = 0;
    uint64_t now = clock_ns();
    for (size_t i = kind; i < CHECK_KINDS; i++)
        shares += c->request->tried[i] && applies(c, i) ? share_of(c, i) : 0;
    return end <= now || !(shares > 0)
               ? now
               : now + (uint64_t)((double)(end - now) * share_of(c, kind) / shares);
}

/* Which of the lengths asked for the cases of a kind have: others, too long for the data, say, are
 * not missed. */
static void note_due(const struct check *c, struct check_report *report, enum check_kind kind)
{
    struct check_set *due = &report->tried[kind].due;
    struct check_case k;
    for (size_t u = 0; u < PASSED_MOST && due->count < c->request->n.count; u++) {
        enum check_found is = check_case_at(c, kind, u, &k);
        if (is == CHECK_NO_MORE)
            break;
        if (is == CHECK_FOUND)
            check_set_add(due, k.n);
    }
}

static enum status try_all(struct check *c, struct check_report *report, struct problem *p)
{
    struct check_evidence evidence = {0};
    enum status status = STATUS_OK;
    if (check_is_counted(c->request, CHECK_BATCH))
        check_batches_begin(c->request->batches, &c->pairs);
    for (size_t kind = 0; c->request->n.count > 0 && kind < CHECK_KINDS; kind++)
        if (c->request->tried[kind] && applies(c, kind) && kind != CHECK_RECORDED)
            note_due(c, report, kind);
    for (size_t kind = 0; kind < CHECK_KINDS && status == STATUS_OK; kind++) {
        enum promise rung = check_kinds[kind].rung, beside = check_kinds[kind].beside;
        const uint64_t all_last = c->last, last = pace_last(c, kind);
        if (!c->request->tried[kind] || !applies(c, kind) || clock_ns() > last)
            continue;
        struct problem why = {0};
        c->last = last;
        check_evidence_begin(&evidence, &report->over[rung], beside ? &report->over[beside] : NULL,
                             rung > PROMISE_RUN_TO_RUN);
        c->evidence = &evidence;
        status = try_kind(c, report, kind, deadline_of(c, kind, c->end), &why);
        c->last = all_last;
        if (status == STATUS_OK)
            continue;
        check_evidence_free(&evidence);
        c->evidence = NULL;
        if (status == STATUS_INTERRUPTED)
            return problem(p, status, "%s", why.text);
        report->failure = why;
        report->failed = kind;
        return STATUS_OK;
    }
    check_evidence_free(&evidence);
    c->evidence = NULL;
    return shrink_all(c, report, p);
}

/* Cases that were refused count where no other was tried. A repetition can be tried of any that is
 * not refused, so that otherwise it was not asked for. */
static void note_untried(struct check_report *r)
{
    char device[DEVICE_TEXT];
    check_refused_asked(r);
    bool tried = r->failure.status != STATUS_OK, only = false;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        tried |= r->tried[kind].attempts > 0, only |= !r->request.tried[kind];
    if (tried)
        r->untried = (struct problem){0};
    if (tried || r->untried.status != STATUS_OK)
        return;
    device_name(r->request.device, device);
    problem(&r->untried, STATUS_USAGE,
            "%sfound nothing that can be tried of %s on %s with %s options",
            only ? "option --only: " : "check: ", r->request.method->name, device,
            only ? "the other" : "these");
}

/* A program that took most of the time to begin has a fifth of it. */
static void leave_time(struct check *c)
{
    uint64_t least = clock_ns() + clock_span(c->request->seconds / 5);
    c->end = c->end < least ? least : c->end;
    c->last = c->last < least ? least : c->last;
}

/* Ranks share the elements evenly: each number that is asked for divides a length that is. */
static enum status ranks_fit(const struct check_request *r, struct problem *p)
{
    if (!setting_read(r->method, SETTING_RANKS))
        return STATUS_OK;
    const struct numbers *ranks = &r->setting.ranks;
    for (size_t i = 0; i < ranks->count && r->n.count > 0; i++) {
        size_t k = 0;
        while (k < r->n.count && r->n.item[k] % ranks->item[i] != 0)
            k++;
        if (k == r->n.count)
            return problem(p, STATUS_USAGE,
                           "option --ranks: found %llu with n = %llu%s, expected a divisor of n",
                           (unsigned long long)ranks->item[i], (unsigned long long)r->n.item[0],
                           k > 1 ? ", ..." : "");
    }
    return STATUS_OK;
}

enum status check_subject(struct check_report *report, const struct check_request *request,
                          struct problem *p)
{
    struct check c = {.request = request, .begin = clock_ns(), .timeout_s = foreign_timeout_s};
    c.end = c.begin + clock_span(request->seconds);
    /* A subject in a process of its own may be slow; of ours every kind has a case. */
    double least = request->method->foreign ? 1.5 : 3, fifth = request->seconds / 5;
    c.last = c.end + clock_span(fifth > least ? fifth : least);
    *report = (struct check_report){.request = *request};
    for (size_t i = 0; i < request->inputs; i++)
        if (request->input[i].family->pair &&
            !operation_has(request->method->operation, OPERAND_IN2))
            return problem(p, STATUS_USAGE, "check: input %s is of two arrays, %s reads one",
                           request->input[i].family->name, request->method->name);
    c.inputs = request->cache ? request->cache : input_cache_new(CHECK_CACHE_BYTES);
    enum status status = check_shapes_make(&c, p);
    if (status == STATUS_OK)
        status = check_find_pairs(&c, report, p);
    leave_time(&c);
    bool fits = ranks_fit(request, &report->untried) == STATUS_OK;
    if (status == STATUS_OK && report->failure.status == STATUS_OK && fits)
        status = try_all(&c, report, p);
    if (status == STATUS_OK)
        note_untried(report);
    check_say_reasons(&c, report);
    for (size_t i = 0; i < c.serving; i++)
        foreign_end(c.served[i]);
    foreign_timeout(c.timeout_s);
    numbers_free(&c.threads);
    numbers_free(&c.blocks);
    free(c.in.data);
    if (c.inputs != request->cache)
        input_cache_free(c.inputs);
    check_free_setting(&c);
    report->kept = check_kept(report);
    return status;
}
