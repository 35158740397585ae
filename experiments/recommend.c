#include "experiments/recommend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/clock.h"

/* Of what is drawn, so much all candidates are tried on. */
enum { COMMON_DRAWS = 8 };
/* Rates that differ by less count as one: the narrower accumulator is then the cheaper. */
#define AS_FAST 1.1

/* Shares of the time: arrays for all, drawn ones for those that may be chosen; growth has the rest.
 */
#define COMMON_SHARE 0.4
#define DRAWN_SHARE  0.75

static bool stopped(const struct recommend_report *r)
{
    return r->request.stop && *r->request.stop;
}

static enum status interrupted(struct problem *p)
{
    return problem(p, STATUS_INTERRUPTED, "interrupted");
}

/* --- candidates --- */

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

/* --- cost --- */

/* What is timed comes first, by classes of rates; then what is not, and at last what is simulated.
 */
static int cost_class(const struct recommend_candidate *c, double best)
{
    if (c->rate > 0)
        return (int)floor(log(best / c->rate) / log(AS_FAST));
    return c->promoted ? 1000001 : 1000000;
}

static int compare_cost(const struct recommend_candidate *a, const struct recommend_candidate *b,
                        double best)
{
    int class[2] = {cost_class(a, best), cost_class(b, best)};
    int bytes[2] = {format_facts[a->accumulator].bytes, format_facts[b->accumulator].bytes};
    if (class[0] != class[1])
        return class[0] < class[1] ? -1 : 1;
    if (a->promoted && b->promoted && a->promoted->chunk != b->promoted->chunk)
        return a->promoted->chunk > b->promoted->chunk ? -1 : 1;
    if (bytes[0] != bytes[1])
        return bytes[0] < bytes[1] ? -1 : 1;
    return a->rate > b->rate ? -1 : a->rate < b->rate;
}

static double best_rate(const struct recommend_report *r)
{
    double best = 0;
    for (size_t i = 0; i < r->count; i++)
        best = fmax(best, r->candidate[i].rate);
    return best;
}

/* Insertion: stable, and there are some dozens. */
static void sort_by_cost(struct recommend_report *r)
{
    double best = best_rate(r);
    for (size_t i = 1; i < r->count; i++) {
        struct recommend_candidate c = r->candidate[i];
        size_t at = i;
        for (; at > 0 && compare_cost(&c, &r->candidate[at - 1], best) < 0; at--)
            r->candidate[at] = r->candidate[at - 1];
        r->candidate[at] = c;
    }
}

/* --- trying --- */

static void note_break(struct recommend_candidate *c, const struct recommend_sample *s,
                       enum recommend_kind kind, uint64_t draw, double error, double result,
                       const char *id)
{
    struct recommend_break *b = &c->broke;
    if (c->broken)
        return;
    c->broken = true;
    *b = (struct recommend_break){.kind = kind, .draw = draw, .error = error, .result = result};
    b->exact = mpfr_get_d(s->truth.reference.sum, MPFR_RNDN);
    snprintf(b->input, sizeof b->input, "%s", s->source.name);
    snprintf(b->id, sizeof b->id, "%s", id);
}

/* What fails is broken, and says why; only an interruption and files that cannot be written end
 * the whole. */
static enum status try_one(struct recommend_report *r, struct recommend_candidate *c,
                           const struct recommend_sample *s, enum recommend_kind kind,
                           uint64_t draw, bool common, struct problem *p)
{
    char id[CASE_ID_TEXT];
    double error, result;
    struct problem why = {0};
    enum status status = recommend_run(r, c, s, &error, &result, id, &why);
    if (status == STATUS_INTERRUPTED || r->request.results->file.fd < 0)
        return problem(p, status, "%s", why.text);
    if (status != STATUS_OK)
        snprintf(c->note, sizeof c->note, "failed: %.200s", why.text);
    c->tried++;
    if (common && (c->tried == 1 || (!isnan(c->error) && !(error <= c->error)))) {
        c->error = error;
        snprintf(c->worst, sizeof c->worst, "%s", s->source.name);
    }
    if (kind == RECOMMEND_DATA)
        c->data_error = error;
    if (!recommend_holds(&r->request.tolerance, error))
        note_break(c, s, kind, draw, error, result, id);
    else
        c->drawn += kind >= RECOMMEND_RESAMPLE && !c->broken;
    return STATUS_OK;
}

/* Array k of those for all. */
static bool common_at(const struct recommend_report *r, size_t k, enum recommend_kind *kind,
                      uint64_t *draw)
{
    if (k >= RECOMMEND_RETURN && r->request.tolerance.quantity != RECOMMEND_BACKWARD)
        k++;
    *kind = k < RECOMMEND_RESAMPLE ? k : RECOMMEND_RESAMPLE + (k - RECOMMEND_RESAMPLE) % 2;
    *draw = k < RECOMMEND_RESAMPLE ? 0 : (k - RECOMMEND_RESAMPLE) / 2 + 1;
    return k < RECOMMEND_RESAMPLE + COMMON_DRAWS;
}

static enum status make_sample(const struct recommend_report *r, struct recommend_sample *s,
                               enum recommend_kind kind, uint64_t draw, struct problem *p)
{
    const struct axes *axes = r->request.plan->axes;
    return recommend_sample_make(s, r->source, kind, draw, r->source->array.n, axes->seed.item[0],
                                 r->device, p);
}

static void note_theory(struct recommend_report *r, const struct recommend_sample *s)
{
    r->cond_log2 = s->truth.cond_log2;
    for (size_t i = 0; i < r->count; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        struct shape shape = method_shape(c->method, r->device.kind, s->array.n, c->asked);
        struct theorem theorem =
            method_theorem(c->method, r->device.kind, c->accumulator, s->array.n, shape);
        c->bound = recommend_bound(&r->request.tolerance, &theorem, &s->truth.reference,
                                   s->array.format, c->accumulator);
    }
}

static enum status try_all_on(struct recommend_report *r, enum recommend_kind kind, uint64_t draw,
                              struct problem *p)
{
    struct recommend_sample s;
    enum status status = make_sample(r, &s, kind, draw, p);
    if (status != STATUS_OK)
        return status;
    if (kind == RECOMMEND_DATA && !mpfr_number_p(s.truth.reference.sum_abs))
        status = problem(p, STATUS_DATA,
                         "%s: found %zu infs and %zu NaNs, expected finite elements: the error of "
                         "such a sum is not a number",
                         r->source->name, s.truth.reference.infs, s.truth.reference.nans);
    else if (kind == RECOMMEND_DATA)
        note_theory(r, &s);
    for (size_t i = 0; i < r->count && status == STATUS_OK; i++)
        status = try_one(r, &r->candidate[i], &s, kind, draw, true, p);
    recommend_sample_free(&s);
    r->common++;
    return status;
}

static enum status try_common(struct recommend_report *r, uint64_t deadline, struct problem *p)
{
    enum recommend_kind kind;
    uint64_t draw;
    enum status status = STATUS_OK;
    for (size_t k = 0; status == STATUS_OK && common_at(r, k, &kind, &draw); k++) {
        if (stopped(r))
            return interrupted(p);
        if (k > 0 && clock_ns() > deadline)
            break;
        status = try_all_on(r, kind, draw, p);
    }
    return status;
}

/* More drawn arrays for a candidate that has held so far, until the confidence is reached. */
static enum status try_drawn(struct recommend_report *r, struct recommend_candidate *c,
                             uint64_t deadline, struct problem *p)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !c->broken && c->drawn < r->draws_wanted) {
        struct recommend_sample s;
        enum recommend_kind kind = RECOMMEND_RESAMPLE + c->drawn % 2;
        uint64_t draw = c->drawn / 2 + 1;
        if (stopped(r))
            return interrupted(p);
        if (clock_ns() > deadline)
            break;
        status = make_sample(r, &s, kind, draw, p);
        if (status != STATUS_OK)
            break;
        status = try_one(r, c, &s, kind, draw, false, p);
        recommend_sample_free(&s);
    }
    return status;
}

/* --- the choice --- */

static enum status choose(struct recommend_report *r, uint64_t deadline, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < r->count && r->chosen == SIZE_MAX && status == STATUS_OK; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        if (c->promoted || c->broken)
            continue;
        status = try_drawn(r, c, deadline, p);
        if (status == STATUS_OK && !c->broken)
            r->chosen = i;
    }
    if (r->chosen != SIZE_MAX && r->candidate[r->chosen].drawn > 0)
        r->unseen = -expm1(log1p(-r->request.confidence) / (double)r->candidate[r->chosen].drawn);
    return status;
}

/* Of two that break: does `a` break by less? */
static bool nearer(const struct recommend_candidate *a, const struct recommend_candidate *b)
{
    return isnan(b->error) || a->error < b->error;
}

/* The candidate before the chosen one in the order of cost; where that is the cheapest of all, of
 * those with a narrower accumulator the one that breaks by the least. */
static void find_cheaper(struct recommend_report *r)
{
    size_t chosen = r->chosen;
    for (size_t i = 0; i < chosen && chosen != SIZE_MAX; i++)
        if (r->candidate[i].broken && !r->candidate[i].promoted)
            r->cheaper = i;
    if (r->cheaper != SIZE_MAX || chosen == SIZE_MAX)
        return;
    int bytes = format_facts[r->candidate[chosen].accumulator].bytes;
    for (size_t i = 0; i < r->count; i++) {
        const struct recommend_candidate *c = &r->candidate[i];
        if (c->broken && !c->promoted && format_facts[c->accumulator].bytes < bytes &&
            (r->cheaper == SIZE_MAX || nearer(c, &r->candidate[r->cheaper])))
            r->cheaper = i;
    }
    r->narrower = r->cheaper != SIZE_MAX;
}

/* On the frontier: nothing that is as fast errs less, nothing that errs as little is faster. */
static void find_frontier(struct recommend_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        c->pareto = c->rate > 0 && !isnan(c->error) && isfinite(c->error);
        for (size_t k = 0; k < r->count && c->pareto; k++) {
            const struct recommend_candidate *o = &r->candidate[k];
            bool better = o->rate > c->rate ? o->error <= c->error
                                            : o->rate == c->rate && o->error < c->error;
            c->pareto = !(o->rate > 0 && better);
        }
    }
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
    uint64_t begin, whole = (uint64_t)(request->seconds * 1e9);
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
    sort_by_cost(r);
    begin = clock_ns();
    status = try_common(r, begin + (uint64_t)(COMMON_SHARE * (double)whole), p);
    if (status == STATUS_OK)
        status = choose(r, begin + (uint64_t)(DRAWN_SHARE * (double)whole), p);
    find_cheaper(r);
    find_frontier(r);
    if (status == STATUS_OK && r->chosen != SIZE_MAX)
        status = recommend_grow(r, begin + whole, p);
    return status;
}

void recommend_free(struct recommend_report *r)
{
    free(r->candidate);
    *r = (struct recommend_report){0};
}
