#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/system/clock.h"
#include "experiments/studies/recommend/candidates.h"
#include "reports/text/near.h"

/* Shares of the time, without a promise to try and with one. What a part leaves is for the next;
 * what it takes too much is not taken from it. */
enum part { PART_COMMON, PART_PROMISE, PART_DRAWN, PART_GROWTH, PARTS };
static const double shares[2][PARTS] = {
    {[PART_COMMON] = 0.4, [PART_DRAWN] = 0.35, [PART_GROWTH] = 0.25},
    {[PART_COMMON] = 0.25, [PART_PROMISE] = 0.4, [PART_DRAWN] = 0.2, [PART_GROWTH] = 0.15}};

/* How the promise's time is shared: the chosen candidate gets at least CHOSEN_PART of it; each
 * candidate before gets LOOK_PART of what is left of the rest. */
#define CHOSEN_PART 0.5
#define LOOK_PART   0.25

/* To look for an array of the user's own that breaks what an adversarial one broke. */
#define OWN_SHARE 0.1

static double seconds_gone(const struct recommend_report *r)
{
    return (double)(clock_ns() - r->begin_ns) / 1e9;
}

/* Seconds for a part that begins now. */
static double seconds_for(const struct recommend_report *r, enum part part)
{
    const double *share = shares[recommend_promises(r)];
    double until = 0;
    for (size_t i = 0; i <= part; i++)
        until += share[i];
    return fmax(share[part] * r->request.seconds, until * r->request.seconds - seconds_gone(r));
}

void recommend_tell(const struct recommend_report *r, const char *format, ...)
{
    char doing[256];
    va_list list;
    if (!r->request.show)
        return;
    va_start(list, format);
    vsnprintf(doing, sizeof doing, format, list);
    va_end(list);
    for (char *at = doing; *at; at++)
        *at = (unsigned char)*at < ' ' || *at == 127 ? '?' : *at;
    double gone = r->begin_ns ? seconds_gone(r) : 0;
    r->request.show(r->request.context, doing, fmax(0, r->request.seconds - gone));
}

static uint64_t deadline_in(double seconds)
{
    return clock_ns() + clock_span(seconds);
}

/* Does it declare the promise asked for? A foreign subject that declares none may keep it all the
 * same. Is it of use on the CPU? Unless it was named, a method whose order depends on a GPU's
 * launch shape is not. */
static bool considered(const struct recommend_report *r, const struct method *m)
{
    const struct recommend_request *q = &r->request;
    const bool claims_none =
        m->foreign && (q->promise < PROMISES ? m->promise == PROMISE_NONE : !m->beside);
    if (q->promise != PROMISES)
        return method_promises(m, q->promise) || claims_none;
    if (q->plan->axes->method_named)
        return true;
    bool shaped = m->shape_order && !recommend_use_of(r)->stands_in;
    return m->promise >= PROMISE_RUN_TO_RUN && !(r->device.kind == DEVICE_CPU && shaped);
}

static void add_promoted(struct recommend_report *r)
{
    const struct axes *axes = r->request.plan->axes;
    struct formats accumulator;
    pairs_with(&accumulator, &axes->pairs, r->source->array.format);
    bool own = recommend_use_of(r)->grows && !axes->method_named;
    for (size_t i = 0; i < recommend_promoted_count && own; i++)
        for (size_t a = 0; a < accumulator.count; a++) {
            const struct recommend_promoted *c = &recommend_promoted[i];
            if (recommend_promotes(c, r->source->array.format, accumulator.item[a]) &&
                considered(r, &c->method) && c->chunk < 2 * r->source->array.n)
                r->candidate[r->count++] = (struct recommend_candidate){
                    .method = &c->method, .accumulator = accumulator.item[a], .promoted = c};
        }
}

/* The launch shape as it was asked for: methods resolve it for each length. */
static struct shape asked_shape(const struct axes *axes, struct shape resolved)
{
    return axes->threads.count == 1 && axes->blocks.count == 1
               ? (struct shape){(unsigned)axes->threads.item[0], (unsigned)axes->blocks.item[0]}
               : resolved;
}

/* Is it promoted so seldom that another interval asked for does as well? */
static bool never_promotes(const struct plan *plan, const struct study_case *t)
{
    return plan->axes->setting.promote.count > 1 && t->setting.promote >= 2 * t->setting.shape.k &&
           t->setting.promote > 0;
}

/* A method that has other results than those asked for is told with those that it has. */
static enum status no_candidate(const struct recommend_report *r, struct problem *p)
{
    const struct plan *plan = r->request.plan;
    const enum format storage = r->source->array.format;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        const struct format_pairs *pairs = method_pairs(t->method, r->device.kind);
        char has[FORMATS * 16] = "";
        if (t->supported || !considered(r, t->method))
            continue;
        for (enum format f = 0; f < FORMATS; f++)
            if (pairs && format_pairs_have(pairs, storage, f))
                snprintf(has + strlen(has), sizeof has - strlen(has), "%s%s", *has ? "," : "",
                         format_facts[f].name);
        if (*has)
            return problem(p, STATUS_USAGE,
                           "recommend: no candidate: of %s elements %s has results in %s; found "
                           "--accumulator %s, expected --accumulator %s",
                           format_facts[storage].name, t->method->name, has,
                           format_facts[t->accumulator].name, has);
    }
    return problem(p, STATUS_USAGE,
                   "recommend: no candidate: none of %zu methods declares the promise %s in these "
                   "formats",
                   plan->axes->methods,
                   r->request.promise != PROMISES ? promise_name[r->request.promise]
                                                  : "run_to_run");
}

static enum status list_candidates(struct recommend_report *r, struct problem *p)
{
    const struct plan *plan = r->request.plan;
    r->candidate =
        calloc(plan->case_count + recommend_promoted_count * FORMATS + 1, sizeof *r->candidate);
    if (!r->candidate)
        return problem(p, STATUS_MEMORY, "recommend: out of memory");
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        if (t->supported && considered(r, t->method) && !never_promotes(plan, t))
            r->candidate[r->count++] = (struct recommend_candidate){
                .method = t->method,
                .accumulator = t->accumulator,
                .setting = t->setting,
                .cost =
                    setting_cost(t->method, &t->setting, r->source->array.format, t->accumulator),
                .asked = asked_shape(plan->axes, t->shape)};
    }
    add_promoted(r);
    return r->count > 0 ? STATUS_OK : no_candidate(r, p);
}

/* Seconds for promises that are left. */
struct left {
    double look, chosen;
};

/* Is the promise asked for kept in this time? What is tried and not kept is refused. */
static enum status try_promise(struct recommend_report *r, struct recommend_candidate *c,
                               double seconds, struct problem *p)
{
    return recommend_promises(r) && !recommend_refused(c) ? recommend_try_promise(r, c, seconds, p)
                                                          : STATUS_OK;
}

/* A look at its promise, which ends most that do not keep it; drawn arrays; then the promise once
 * more with all the time that is left. */
static enum status try_candidate(struct recommend_report *r, struct recommend_candidate *c,
                                 struct left *left, double *drawn, struct problem *p)
{
    uint64_t begin = clock_ns();
    double look = LOOK_PART * left->look;
    enum status status = try_promise(r, c, look, p);
    if (c->promised.state == CHECK_NOT_TRIED)
        c->promised.tried = false; /* perhaps for want of time */
    left->look = fmax(0, left->look - fmax(look, (double)(clock_ns() - begin) / 1e9));
    begin = clock_ns();
    if (status == STATUS_OK && !recommend_refused(c))
        status = recommend_try_further(r, c, *drawn, p);
    *drawn = fmax(0, *drawn - (double)(clock_ns() - begin) / 1e9);
    if (status == STATUS_OK)
        status = try_promise(r, c, left->chosen + left->look, p);
    return status;
}

static enum status choose(struct recommend_report *r, struct problem *p)
{
    enum status status = STATUS_OK;
    double promise = recommend_promises(r) ? seconds_for(r, PART_PROMISE) : 0;
    double drawn = seconds_for(r, PART_DRAWN) - promise;
    struct left left = {(1 - CHOSEN_PART) * promise, CHOSEN_PART * promise};
    drawn = fmax(drawn, shares[recommend_promises(r)][PART_DRAWN] * r->request.seconds);
    for (size_t i = 0; i < r->count && r->chosen == SIZE_MAX && status == STATUS_OK; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        if (c->promoted || c->broken || c->failed)
            continue;
        status = try_candidate(r, c, &left, &drawn, p);
        if (status == STATUS_OK && !recommend_refused(c))
            r->chosen = i;
    }
    if (r->chosen != SIZE_MAX && r->candidate[r->chosen].drawn > 0)
        r->unseen = -expm1(log1p(-r->request.confidence) / (double)r->candidate[r->chosen].drawn);
    return status;
}

/* What is named beside the chosen one breaks on the user's own data, if it can be found to. */
static enum status find_cheaper(struct recommend_report *r, struct problem *p)
{
    recommend_find_cheaper(r);
    struct recommend_candidate *c = r->cheaper != SIZE_MAX ? &r->candidate[r->cheaper] : NULL;
    return c && c->broken && recommend_adversarial(c->broke.kind)
               ? recommend_try_own(r, c, OWN_SHARE * r->request.seconds, p)
               : STATUS_OK;
}

/* With n arrays drawn, all of which hold: with confidence c, at most a share of 1 - (1-c)^(1/n) of
 * such arrays does not. Wanted is a share of 1 - c. */
static uint64_t draws_for(double confidence)
{
    return (uint64_t)ceil(log1p(-confidence) / log(confidence));
}

enum status recommend(struct recommend_report *r, const struct recommend_request *request,
                      struct problem *p)
{
    *r = (struct recommend_report){.request = *request,
                                   .source = &request->plan->source[0],
                                   .device = request->plan->axes->device[0],
                                   .chosen = SIZE_MAX,
                                   .cheaper = SIZE_MAX,
                                   .unseen = 1,
                                   .draws_wanted = draws_for(request->confidence)};
    enum status status = source_load(&request->plan->source[0], p);
    if (status == STATUS_OK && r->source->array.n == 0)
        status = problem(p, r->source->generated ? STATUS_USAGE : STATUS_DATA,
                         "%s: found no elements, expected some to add up", r->source->name);
    r->setting = request->plan->cases[0].setting;
    r->setting.chip = NULL;
    r->setting.promote = 0;
    if (status == STATUS_OK)
        status = list_candidates(r, p);
    if (status == STATUS_OK)
        status = recommend_time(r, p);
    if (status == STATUS_OK && recommend_use_of(r)->part)
        status = recommend_use_of(r)->part(r, seconds_for(r, PART_COMMON), p);
    if (status == STATUS_OK && (request->plan->axes->joined.count > 0 || recommend_is_part(r)) &&
        asprintf(&r->operands, "%s/operands.npy", request->out) < 0) {
        r->operands = NULL;
        status = problem(p, STATUS_MEMORY, "recommend: out of memory");
    }
    if (status != STATUS_OK)
        return status;
    recommend_sort(r);
    status = recommend_try_common(r, deadline_in(seconds_for(r, PART_COMMON)), p);
    for (size_t i = 0; i < r->count; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        c->guaranteed = !c->method->foreign && c->bound.known &&
                        recommend_holds(&r->request.tolerance, c->bound.value);
    }
    recommend_sort(r); /* again, as bounds are known now */
    if (status == STATUS_OK)
        status = choose(r, p);
    if (status == STATUS_OK)
        status = find_cheaper(r, p);
    recommend_find_frontier(r);
    if (status == STATUS_OK && r->chosen != SIZE_MAX && recommend_use_of(r)->grows)
        status = recommend_grow(r, deadline_in(seconds_for(r, PART_GROWTH)), p);
    return status;
}

void recommend_free(struct recommend_report *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->candidate[i].promised.show);
    free(r->candidate);
    free(r->operands);
    recommend_part_free(r);
    *r = (struct recommend_report){0};
}

enum status recommend_use_named(const struct recommend_use **use, const char *name,
                                struct problem *p)
{
    const struct recommend_use *uses[2 + RECOMMEND_ROWS] = {&recommend_sums, &recommend_products};
    char known[256] = "";
    for (size_t i = 0; i < RECOMMEND_ROWS; i++)
        uses[2 + i] = &recommend_rows_of[i];
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        const char *own = experiment_only(uses[i]->experiment)->name;
        size_t used = strlen(known);
        *use = uses[i];
        if (!name || strcmp(name, own) == 0)
            return STATUS_OK;
        snprintf(known + used, sizeof known - used, "%s%s", i ? " or " : "", own);
    }
    return near_unknown_option(p, "operation", name, known);
}
