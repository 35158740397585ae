/* One candidate on one array: its run, its row. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "experiments/recommend_private.h"
#include "experiments/runner.h"
#include "reference/number.h"

struct live {
    const struct recommend_report *r;
    const struct recommend_sample *s;
    enum format accumulator;
    struct theorem theorem;
    double error, result; /* of the worst run */
    uint64_t run;
};

static void write_unless_zero(char text[24], size_t value)
{
    text[0] = 0;
    if (value)
        snprintf(text, 24, "%zu", value);
}

/* The case's columns. */
static void begin_rows(struct results *rows, const struct recommend_sample *s,
                       const struct trial *t, const char *id)
{
    char device[DEVICE_TEXT], n[24], cond[NUMBER_TEXT] = "", seed[24] = "", threads[24], blocks[24];
    device_name(t->device, device);
    snprintf(n, sizeof n, "%zu", s->array.n);
    if (s->truth.cond_log2.known)
        number_decimal(cond, s->truth.cond_log2.value);
    if (s->source.generated)
        snprintf(seed, sizeof seed, "%" PRIu64, s->source.seed);
    write_unless_zero(threads, t->shape.threads);
    write_unless_zero(blocks, t->shape.blocks);
    const char *column[CASE_ALL] = {
        [CASE_EXPERIMENT] = "recommend",
        [CASE_ID] = id,
        [CASE_METHOD] = t->method->name,
        [CASE_PROMISE] = promise_name[t->method->promise],
        [CASE_DEVICE] = device,
        [CASE_STORAGE] = format_facts[s->array.format].name,
        [CASE_ACCUMULATOR] = format_facts[t->accumulator].name,
        [CASE_INPUT] = s->source.name,
        [CASE_N] = n,
        [CASE_COND_LOG2] = cond,
        [CASE_SEED] = seed,
        [CASE_THREADS] = threads,
        [CASE_BLOCKS] = blocks,
    };
    results_case(rows, column);
}

static bool worse(double a, double b)
{
    return isnan(a) || a > b;
}

static enum status take(void *context, const struct runner_results *results, struct problem *p)
{
    struct live *l = context;
    struct results *rows = l->r->request.results;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < results->runs && status == STATUS_OK; i++) {
        struct measure m;
        struct text value = {0}, errors = {0};
        double result = format_decode(l->accumulator, results->digest[i].word[0]);
        measure(&m, &l->s->truth.reference, l->s->array.format, l->accumulator, result,
                &l->theorem);
        double error = recommend_error(&l->r->request.tolerance, &m, &l->s->truth.reference,
                                       l->s->array.format);
        if (l->run++ == 0 || worse(error, l->error)) {
            l->error = error;
            l->result = result;
        }
        results_value(&value, l->accumulator, result);
        results_errors(&errors, &m);
        rows->file.pending.failed |= value.failed || errors.failed;
        results_append(rows,
                       &(struct results_row){.run = l->run,
                                             .value = &value,
                                             .exact = &l->s->truth.exact,
                                             .errors = &errors,
                                             .timed = results->time_ns != NULL,
                                             .time_ns = results->time_ns ? results->time_ns[i] : 0,
                                             .outcome = m.outcome});
        text_free(&value);
        text_free(&errors);
        status = csv_file_flush(&rows->file, p);
    }
    return status;
}

/* What promises nothing may give another result each time. */
static uint64_t runs_of(const struct method *m)
{
    return m->promise == PROMISE_NONE ? 3 : 1;
}

enum status recommend_run(const struct recommend_report *r, const struct recommend_candidate *c,
                          const struct recommend_sample *s, double *error, double *result,
                          char id[CASE_ID_TEXT], struct problem *p)
{
    struct device device = c->promoted ? (struct device){DEVICE_CPU, 0} : r->device;
    struct trial t = {.method = c->method,
                      .device = device,
                      .accumulator = c->accumulator,
                      .output = c->accumulator,
                      .shape = method_shape(c->method, device.kind, s->array.n, c->asked)};
    struct runner runner = {.method = c->method,
                            .device = device,
                            .in = &s->array,
                            .gpu = s->gpu,
                            .accumulator = c->accumulator,
                            .output = c->accumulator,
                            .shape = t.shape,
                            .stop = r->request.stop};
    struct live l = {.r = r, .s = s, .accumulator = c->accumulator};
    l.theorem = method_theorem(c->method, device.kind, c->accumulator, s->array.n, t.shape);
    case_id_text(id, case_id(&t, &s->source));
    begin_rows(r->request.results, s, &t, id);
    enum status status = runner_run(&runner, runs_of(c->method), take, &l, p);
    *error = status == STATUS_OK ? l.error : NAN;
    *result = l.result;
    if (status != STATUS_OK && status != STATUS_INTERRUPTED)
        results_append(r->request.results, &(struct results_row){.run = l.run + 1,
                                                                 .exact = &s->truth.exact,
                                                                 .outcome = OUTCOME_ERROR});
    return status;
}
