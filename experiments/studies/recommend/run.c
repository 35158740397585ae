/* One candidate on one array: its run, its row. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "experiments/cases/case_text.h"
#include "experiments/studies/recommend/candidates.h"
#include "experiments/runs/runner.h"
#include "experiments/runs/tally.h"
#include "reference/format/number.h"

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
            return problem(p, STATUS_DEVICE, "recommend: out of memory for results");
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

/* What promises nothing may give another result each time. */
static uint64_t runs_of(const struct method *m)
{
    return m->promise == PROMISE_NONE ? 3 : 1;
}

static void fail(const struct live *l, struct problem *p)
{
    results_append(l->r->request.results, &(struct results_row){.run = l->tally.runs + 1,
                                                                .exact = &l->s->truth.exact,
                                                                .outcome = OUTCOME_ERROR});
    csv_file_flush(&l->r->request.results->file, p);
}

enum status recommend_run(const struct recommend_report *r, const struct recommend_candidate *c,
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
    enum status status = runner_run(&runner, runs_of(c->method), take, &l, p);
    if (status == STATUS_OK)
        status = summarise(&l, &text, p);
    else if (status != STATUS_INTERRUPTED)
        fail(&l, p);
    *o = (struct recommend_outcome){.error = status == STATUS_OK ? l.error : NAN,
                                    .result = l.result};
    memcpy(o->id, text.id, sizeof o->id);
    tally_free(&l.tally);
    return status;
}
