#include <math.h>
#include <stdlib.h>

#include "experiments/clock.h"
#include "experiments/recommend_private.h"

/* Shares of the time: arrays for all, drawn ones for those that may be chosen, growth. What a part
 * leaves is for the next; what it takes too much is not taken from it. */
#define COMMON_SHARE 0.4
#define DRAWN_SHARE  0.35
#define GROWTH_SHARE 0.25

/* Seconds for a part that begins now and has this share; `until`: this and the shares before it. */
static double seconds_for(const struct recommend_report *r, double share, double until)
{
    double gone = (double)(clock_ns() - r->begin_ns) / 1e9;
    return fmax(share * r->request.seconds, until * r->request.seconds - gone);
}

static uint64_t deadline_in(double seconds)
{
    return clock_ns() + clock_span(seconds);
}

/* Where nobody named it: does it make the promise, and has the CPU a use for it? Methods whose
 * order depends on a GPU's launch shape have none there. */
static bool considered(const struct recommend_report *r, const struct method *m)
{
    const struct recommend_request *q = &r->request;
    if (q->promise < PROMISES)
        return m->promise >= q->promise;
    if (q->plan->axes->method_named)
        return true;
    return m->promise >= PROMISE_RUN_TO_RUN && !(r->device.kind == DEVICE_CPU && m->shape_order);
}

static void add_promoted(struct recommend_report *r)
{
    const struct axes *axes = r->request.plan->axes;
    struct formats accumulator;
    pairs_with(&accumulator, &axes->pairs, r->source->array.format);
    for (size_t i = 0; i < recommend_promoted_count && !axes->method_named; i++)
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

static enum status list_candidates(struct recommend_report *r, struct problem *p)
{
    const struct plan *plan = r->request.plan;
    r->candidate =
        calloc(plan->trials + recommend_promoted_count * FORMATS + 1, sizeof *r->candidate);
    if (!r->candidate)
        return problem(p, STATUS_DEVICE, "recommend: out of memory");
    for (size_t i = 0; i < plan->trials; i++) {
        const struct trial *t = &plan->trial[i];
        if (t->supported && considered(r, t->method))
            r->candidate[r->count++] =
                (struct recommend_candidate){.method = t->method,
                                             .accumulator = t->accumulator,
                                             .asked = asked_shape(plan->axes, t->shape)};
    }
    add_promoted(r);
    return r->count > 0 ? STATUS_OK
                        : problem(p, STATUS_USAGE,
                                  "recommend: no candidate: none of %zu methods makes the promise "
                                  "%s in these formats",
                                  plan->axes->methods,
                                  r->request.promise < PROMISES ? promise_name[r->request.promise]
                                                                : "run_to_run");
}

static enum status choose(struct recommend_report *r, struct problem *p)
{
    enum status status = STATUS_OK;
    double left = seconds_for(r, DRAWN_SHARE, COMMON_SHARE + DRAWN_SHARE);
    for (size_t i = 0; i < r->count && r->chosen == SIZE_MAX && status == STATUS_OK; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        if (c->promoted || c->broken)
            continue;
        uint64_t begin = clock_ns();
        status = recommend_try_further(r, c, left, p);
        left = fmax(0, left - (double)(clock_ns() - begin) / 1e9);
        if (status == STATUS_OK && !c->broken)
            r->chosen = i;
    }
    if (r->chosen != SIZE_MAX && r->candidate[r->chosen].drawn > 0)
        r->unseen = -expm1(log1p(-r->request.confidence) / (double)r->candidate[r->chosen].drawn);
    return status;
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
        status = problem(p, STATUS_USAGE, "%s: found no elements, expected some to add up",
                         r->source->name);
    if (status == STATUS_OK)
        status = list_candidates(r, p);
    if (status == STATUS_OK)
        status = recommend_time(r, p);
    if (status != STATUS_OK)
        return status;
    recommend_sort(r);
    r->begin_ns = clock_ns();
    status = recommend_try_common(r, deadline_in(COMMON_SHARE * request->seconds), p);
    if (status == STATUS_OK)
        status = choose(r, p);
    recommend_find_cheaper(r);
    recommend_find_frontier(r);
    if (status == STATUS_OK && r->chosen != SIZE_MAX)
        status = recommend_grow(r, deadline_in(seconds_for(r, GROWTH_SHARE, 1)), p);
    return status;
}

void recommend_free(struct recommend_report *r)
{
    free(r->candidate);
    *r = (struct recommend_report){0};
}
