/* Candidates on the arrays that are to break them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "experiments/cases/case_text.h"
#include "experiments/studies/recommend/candidates.h"
#include "experiments/runs/runner.h"
#include "experiments/runs/tally.h"
#include "reference/format/number.h"
#include "experiments/system/clock.h"

/* --- One candidate on one array: its run, its row --- */

struct live {
    const struct recommend_report *r;
    struct recommend_sample *s;
    enum format accumulator;
    struct theorem theorem;
    struct tally tally;
    double error, result; /* of the worst run */
};

static bool worse(double a, double b)
{
    return isnan(a) || a > b;
}

/* Counts a run; measures a result that was not seen before. NULL when memory is short. */
static struct distinct *meet(struct live *l, struct hash128 digest)
{
    struct measure m;
    struct distinct *d = tally_add(&l->tally, digest);
    double result = format_decode(l->accumulator, digest.word[0]);
    if (!d || d->count > 1)
        return d;
    measure(&m, &l->s->truth.reference, l->s->array.format, l->accumulator, result, &l->theorem);
    double error =
        recommend_error(&l->r->request.tolerance, &m, &l->s->truth.reference, l->s->array.format);
    if (l->tally.count == 1 || worse(error, l->error)) {
        l->error = error;
        l->result = result;
    }
    results_value(&d->value_text, l->accumulator, result);
    results_errors(&d->errors_text, &m);
    d->value = (struct figure){true, result};
    d->err_rel = m.err_rel;
    d->err_ulp = m.err_ulp;
    d->err_backward = m.err_backward;
    d->err_over_bound = m.err_over_bound;
    d->outcome = m.outcome;
    return d;
}

static enum status take(void *context, const struct runner_results *results, struct problem *p)
{
    struct live *l = context;
    struct results *rows = l->r->request.results;
    for (size_t i = 0; i < results->runs; i++) {
        struct distinct *d = meet(l, results->digest[i]);
        uint64_t time_ns = results->time_ns ? results->time_ns[i] : 0;
        if (!d || (results->time_ns && !tally_time(&l->tally, time_ns)))
            return problem(p, STATUS_MEMORY, "recommend: out of memory for results");
        results_append(rows, &(struct results_row){.run = l->tally.runs,
                                                   .value = &d->value_text,
                                                   .exact = &l->s->truth.exact,
                                                   .errors = &d->errors_text,
                                                   .timed = results->time_ns != NULL,
                                                   .time_ns = time_ns,
                                                   .outcome = d->outcome});
    }
    return csv_file_flush(&rows->file, p);
}

static enum status summarise(struct live *l, const struct case_text *text, struct problem *p)
{
    struct summary summary;
    struct csv_file *file = l->r->request.summary;
    tally_summary(&summary, &l->tally, tally_ulp(l->s->truth.reference.sum, l->accumulator),
                  truth_fixed(&l->s->truth, &operation_sum, &l->s->array, NULL, l->accumulator));
    summary_row(&file->pending, text->column, &summary, COLUMNS_OF_SUMS);
    return csv_file_flush(file, p);
}

uint64_t recommend_runs(const struct method *m)
{
    return m->promise == PROMISE_NONE ? 3 : 1;
}

void recommend_fail(const struct recommend_report *r, const struct text *exact, uint64_t run,
                    struct problem *p)
{
    results_append(r->request.results,
                   &(struct results_row){.run = run, .exact = exact, .outcome = OUTCOME_ERROR});
    csv_file_flush(&r->request.results->file, p);
}

static enum status run_sum(const struct recommend_report *r, const struct recommend_candidate *c,
                           struct recommend_sample *s, struct recommend_outcome *o,
                           struct problem *p)
{
    struct device device = c->promoted ? (struct device){DEVICE_CPU, 0} : r->device;
    struct study_case t = {.method = c->method,
                           .device = device,
                           .accumulator = c->accumulator,
                           .setting.output = c->accumulator,
                           .shape = method_shape(c->method, device.kind, s->array.n, c->asked)};
    struct runner runner = {.method = c->method,
                            .device = device,
                            .of = &(struct operands){.in = s->array},
                            .gpu = s->gpu,
                            .accumulator = c->accumulator,
                            .output = c->accumulator,
                            .shape = t.shape,
                            .stop = r->request.stop};
    struct live l = {.r = r, .s = s, .accumulator = c->accumulator, .error = NAN};
    struct case_text text;
    l.theorem = method_theorem(c->method, device.kind, c->accumulator, s->array.n, t.shape);
    t.id = case_id(&t, &s->source);
    case_text(&text, &t, &s->source, "recommend", s->truth.cond_log2);
    results_case(r->request.results, text.column);
    enum status status = runner_run(&runner, recommend_runs(c->method), take, &l, p);
    if (status == STATUS_OK)
        status = summarise(&l, &text, p);
    else if (status != STATUS_INTERRUPTED)
        recommend_fail(r, &s->truth.exact, l.tally.runs + 1, p);
    *o = (struct recommend_outcome){.error = status == STATUS_OK ? l.error : NAN,
                                    .result = l.result,
                                    .exact = mpfr_get_d(s->truth.reference.sum, MPFR_RNDN)};
    memcpy(o->id, text.id, sizeof o->id);
    tally_free(&l.tally);
    return status;
}

enum status recommend_run(const struct recommend_report *r, const struct recommend_candidate *c,
                          struct recommend_sample *s, struct recommend_outcome *o,
                          struct problem *p)
{
    return recommend_use_of(r)->run(r, c, s, o, p);
}

/* How many of the drawn arrays all candidates are tried on. */
enum { COMMON_DRAWS = 8 };

static bool stopped(const struct recommend_report *r)
{
    return r->request.stop && *r->request.stop;
}

static enum status interrupted(struct problem *p)
{
    return problem(p, STATUS_INTERRUPTED, "interrupted");
}

static void note_break(struct recommend_candidate *c, const struct recommend_sample *s,
                       enum recommend_kind kind, uint64_t draw, const struct recommend_outcome *o)
{
    struct recommend_break *b = &c->broke;
    if (c->broken && (recommend_adversarial(kind) || !recommend_adversarial(b->kind)))
        return;
    c->broken = true;
    *b = (struct recommend_break){.kind = kind,
                                  .draw = draw,
                                  .output = o->output,
                                  .place = o->place,
                                  .error = o->error,
                                  .result = o->result,
                                  .exact = o->exact};
    snprintf(b->input, sizeof b->input, "%s", s->source.name);
    memcpy(b->id, o->id, sizeof b->id);
}

bool recommend_ends(const struct recommend_report *r, enum status status)
{
    return status == STATUS_INTERRUPTED || r->request.results->file.fd < 0 ||
           r->request.summary->fd < 0;
}

/* What fails says why, and is tried no more. */
static enum status try_one(struct recommend_report *r, struct recommend_candidate *c,
                           struct recommend_sample *s, enum recommend_kind kind, uint64_t draw,
                           bool common, struct problem *p)
{
    struct recommend_outcome o;
    struct problem why = {0};
    if (c->failed)
        return STATUS_OK;
    enum status status = recommend_run(r, c, s, &o, &why);
    if (recommend_ends(r, status))
        return problem(p, status, "%s", why.text);
    if (status != STATUS_OK) {
        c->failed = true;
        snprintf(c->note, sizeof c->note, "failed: %.240s", why.text);
        return STATUS_OK;
    }
    c->tried++;
    if (common && (c->tried == 1 || figure_worse(o.error, c->error))) {
        c->error = o.error;
        snprintf(c->worst, sizeof c->worst, "%s", s->source.name);
    }
    if (c->tried == 1 || figure_worse(o.error, c->most))
        c->most = o.error;
    if (kind == RECOMMEND_DATA)
        c->data_error = o.error;
    bool holds = recommend_holds(&r->request.tolerance, o.error);
    if (!holds)
        note_break(c, s, kind, draw, &o);
    c->drawn += kind >= RECOMMEND_RESAMPLE;
    c->drawn_held += kind >= RECOMMEND_RESAMPLE && holds;
    return STATUS_OK;
}

/* Array k of those for all: the data and its orders, drawn ones, adversarial ones. */
static bool common_at(const struct recommend_report *r, size_t k, enum recommend_kind *kind,
                      uint64_t *draw)
{
    const size_t drawn = k - RECOMMEND_ONE_SIGN, adversarial = drawn - COMMON_DRAWS;
    *draw = 0;
    if (k < RECOMMEND_ONE_SIGN) {
        *kind = k;
        return true;
    }
    if (drawn < COMMON_DRAWS) {
        *kind = RECOMMEND_RESAMPLE + drawn % 2;
        *draw = drawn / 2 + 1;
        return true;
    }
    *kind = RECOMMEND_ONE_SIGN + adversarial;
    return !r->request.no_adversarial &&
           (*kind < RECOMMEND_RETURN ||
            (*kind == RECOMMEND_RETURN && r->request.tolerance.quantity == RECOMMEND_BACKWARD));
}

static enum status make_sample(const struct recommend_report *r, struct recommend_sample *s,
                               enum recommend_kind kind, uint64_t draw, struct problem *p)
{
    return recommend_use_of(r)->sample(r, s, kind, draw, r->source->array.n, r->device, p);
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

static enum status sample_sum(const struct recommend_report *r, struct recommend_sample *s,
                              enum recommend_kind kind, uint64_t draw, size_t n,
                              struct device device, struct problem *p)
{
    return recommend_sample_make(s, r->source, kind, draw, n, r->request.plan->axes->seed.item[0],
                                 device, p);
}

static enum status begin_sum(struct recommend_report *r, const struct recommend_sample *s,
                             struct problem *p)
{
    const struct reference *sum = &s->truth.reference;
    if (!mpfr_number_p(sum->sum_abs))
        return problem(p, STATUS_DATA,
                       "%s: found %zu infs and %zu NaNs, expected finite elements: the error of "
                       "such a sum is not a number",
                       r->source->name, sum->infs, sum->nans);
    note_theory(r, s);
    return STATUS_OK;
}

static const struct experiment sums = {
    .name = "recommend",
    .operation = {&operation_sum},
    .axes = {[DEVICE_CPU] = {.formats = "all", .n = "2^16", .runs = 1},
             [DEVICE_CUDA] = {.formats = "all", .n = "2^24", .runs = 1}},
};

const struct recommend_use recommend_sums = {
    .experiment = &sums,
    .sweep = "accuracy",
    .unit = {"|exact sum|", "sum|x|", "ulp"},
    .exact = "the exact sum",
    .grows = true,
    .sample = sample_sum,
    .run = run_sum,
    .begin = begin_sum,
};

static enum status try_all_on(struct recommend_report *r, enum recommend_kind kind, uint64_t draw,
                              struct problem *p)
{
    struct recommend_sample s;
    enum status status = make_sample(r, &s, kind, draw, p);
    if (status != STATUS_OK)
        return status;
    if (kind == RECOMMEND_DATA)
        status = recommend_use_of(r)->begin(r, &s, p);
    for (size_t i = 0; i < r->count && status == STATUS_OK; i++)
        status = try_one(r, &r->candidate[i], &s, kind, draw, true, p);
    recommend_sample_free(&s);
    r->common++;
    return status;
}

enum status recommend_try_common(struct recommend_report *r, uint64_t deadline, struct problem *p)
{
    enum recommend_kind kind;
    uint64_t draw;
    enum status status = STATUS_OK;
    for (size_t k = 0; status == STATUS_OK && common_at(r, k, &kind, &draw); k++) {
        if (stopped(r))
            return interrupted(p);
        if (k > 0 && clock_ns() > deadline)
            break;
        recommend_tell(r, "all candidates on array %zu", k + 1);
        status = try_all_on(r, kind, draw, p);
    }
    return status;
}

/* Array k, for one candidate alone. */
static enum status try_at(struct recommend_report *r, struct recommend_candidate *c,
                          enum recommend_kind kind, uint64_t draw, struct problem *p)
{
    struct recommend_sample s;
    if (stopped(r))
        return interrupted(p);
    enum status status = make_sample(r, &s, kind, draw, p);
    if (status != STATUS_OK)
        return status;
    status = try_one(r, c, &s, kind, draw, false, p);
    recommend_sample_free(&s);
    return status;
}

/* The next of the drawn ones. */
static enum status try_drawn(struct recommend_report *r, struct recommend_candidate *c,
                             struct problem *p)
{
    recommend_tell(r, "%s in %s on drawn array %llu", c->method->name,
                   format_facts[c->accumulator].name, (unsigned long long)c->drawn + 1);
    return try_at(r, c, RECOMMEND_RESAMPLE + c->drawn % 2, c->drawn / 2 + 1, p);
}

enum status recommend_try_further(struct recommend_report *r, struct recommend_candidate *c,
                                  double seconds, struct problem *p)
{
    enum recommend_kind kind;
    uint64_t draw;
    enum status status = STATUS_OK;
    for (size_t k = r->common;
         status == STATUS_OK && !c->broken && !c->failed && common_at(r, k, &kind, &draw); k++)
        if (kind < RECOMMEND_RESAMPLE)
            status = try_at(r, c, kind, draw, p);
    uint64_t deadline = clock_ns() + clock_span(seconds);
    while (status == STATUS_OK && !c->broken && !c->failed && c->drawn < r->draws_wanted &&
           clock_ns() < deadline)
        status = try_drawn(r, c, p);
    return status;
}

enum status recommend_try_own(struct recommend_report *r, struct recommend_candidate *c,
                              double seconds, struct problem *p)
{
    uint64_t deadline = clock_ns() + clock_span(seconds);
    enum status status = STATUS_OK;
    while (status == STATUS_OK && recommend_adversarial(c->broke.kind) &&
           c->drawn < r->draws_wanted && clock_ns() < deadline)
        status = try_drawn(r, c, p);
    return status;
}
