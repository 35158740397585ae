/* One case of a sweep: its runs, its rows, its summary. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/experiment.h"
#include "experiments/runner.h"
#include "experiments/sweep_private.h"
#include "reference/number.h"

/* The case's columns as text. */
struct case_text {
    const char *column[CASE_COLUMNS];
    char id[CASE_ID_TEXT], device[DEVICE_TEXT], n[24], cond_log2[NUMBER_TEXT], seed[24],
        threads[12], blocks[12];
};

static void write_unless_zero(char *text, size_t size, unsigned value)
{
    if (value)
        snprintf(text, size, "%u", value);
}

static void case_text(struct case_text *c, const struct sweep *w, const struct trial *t)
{
    const struct source *s = &w->plan->source[t->source];
    *c = (struct case_text){0};
    case_id_text(c->id, t->id);
    device_name(t->device, c->device);
    snprintf(c->n, sizeof c->n, "%zu", s->array.n);
    if (w->truth && w->truth->cond_log2.known)
        number_decimal(c->cond_log2, w->truth->cond_log2.value);
    if (s->generated)
        snprintf(c->seed, sizeof c->seed, "%" PRIu64, s->seed);
    write_unless_zero(c->threads, sizeof c->threads, t->shape.threads);
    write_unless_zero(c->blocks, sizeof c->blocks, t->shape.blocks);
    const char *column[CASE_COLUMNS] = {
        [CASE_EXPERIMENT] = w->plan->axes->experiment->name,
        [CASE_ID] = c->id,
        [CASE_METHOD] = t->method->name,
        [CASE_PROMISE] = promise_name[t->method->promise],
        [CASE_DEVICE] = c->device,
        [CASE_STORAGE] = format_facts[s->array.format].name,
        [CASE_ACCUMULATOR] = format_facts[t->accumulator].name,
        [CASE_INPUT] = s->name,
        [CASE_N] = c->n,
        [CASE_COND_LOG2] = c->cond_log2,
        [CASE_SEED] = c->seed,
        [CASE_THREADS] = c->threads,
        [CASE_BLOCKS] = c->blocks,
    };
    memcpy(c->column, column, sizeof column);
}

/* The results of a case as they come. */
struct live {
    struct sweep *w;
    struct trial *t;
    struct tally *tally;
    struct theorem theorem;
    enum status status; /* of the files and the memory: what ends the study */
};

static enum status no_memory(const struct live *l, struct problem *p)
{
    return problem(p, STATUS_DEVICE, "%s: out of memory for its distinct results",
                   l->t->method->name);
}

/* Measures a result that was not seen before and formats its parts of a row. */
static void meet(const struct live *l, struct distinct *d)
{
    struct measure m;
    const struct source *s = &l->w->plan->source[l->t->source];
    measure(&m, &l->w->truth->reference, s->array.format, l->t->accumulator, d->value, &l->theorem);
    results_value(&d->value_text, l->t->accumulator, d->value);
    results_errors(&d->errors_text, &m);
    d->err_rel = m.err_rel;
    d->err_ulp = m.err_ulp;
    d->err_backward = m.err_backward;
    d->err_over_bound = m.err_over_bound;
    d->outcome = m.outcome;
    d->broken = m.broken;
}

static void note_broken(const struct live *l, uint64_t run)
{
    struct sweep_outcome *outcome = l->w->outcome;
    if (outcome->broken++ == 0)
        snprintf(outcome->first_broken, sizeof outcome->first_broken,
                 "case %016" PRIx64 " (%s), run %" PRIu64, l->t->id, l->t->method->name, run);
}

static enum status digest(void *context, const uint64_t *bits, const uint64_t *time_ns, size_t runs,
                          struct problem *p)
{
    struct live *l = context;
    struct sweep *w = l->w;
    for (size_t i = 0; i < runs; i++) {
        struct distinct *d = tally_add(l->tally, l->t->accumulator, bits[i]);
        if (!d || !tally_time(l->tally, time_ns[i]))
            return l->status = no_memory(l, p);
        if (d->value_text.length == 0)
            meet(l, d);
        l->t->done++;
        results_append(&w->results, &(struct results_row){.run = l->t->done,
                                                          .value = &d->value_text,
                                                          .exact = &w->truth->exact,
                                                          .errors = &d->errors_text,
                                                          .timed = true,
                                                          .time_ns = time_ns[i],
                                                          .outcome = d->outcome});
        if (d->broken)
            note_broken(l, l->t->done);
    }
    w->runs_done += runs;
    w->outcome->runs += runs;
    progress_draw(&w->progress, w->outcome->finished, w->runs_done);
    return l->status = csv_file_flush(&w->results.file, p);
}

/* Summarises a finished case. Its rows are written before: a summary without them would be of
 * nothing. */
static enum status finish(struct sweep *w, struct trial *t, struct tally *tally,
                          const struct case_text *text, struct problem *p)
{
    const struct source *s = &w->plan->source[t->source];
    enum status status = csv_file_flush(&w->results.file, p);
    if (status != STATUS_OK)
        return status;
    t->summary = (struct summary){0};
    if (t->supported) {
        tally_summary(&t->summary, tally, tally_ulp(w->truth->reference.sum, t->accumulator),
                      truth_fixed(w->truth, t->method->operation, &s->array, t->accumulator));
        t->err_rel_max = tally_err_rel_max(tally);
        t->err_backward_max = tally_err_backward_max(tally);
    }
    if (w->truth)
        t->cond_log2 = w->truth->cond_log2;
    summary_row(&w->summary.pending, text->column, &t->summary);
    w->outcome->finished += !t->finished;
    t->finished = t->summarised = true;
    trial_forget(t);
    return csv_file_flush(&w->summary, p);
}

enum status sweep_fail(struct sweep *w, struct trial *t, const struct problem *why,
                       struct problem *p)
{
    struct case_text text;
    if (w->outcome->failed++ == 0)
        w->outcome->failed_status = why->status;
    t->failed = true;
    case_text(&text, w, t);
    results_case(&w->results, text.column);
    results_append(&w->results, &(struct results_row){.run = t->done + 1,
                                                      .exact = w->truth ? &w->truth->exact : NULL,
                                                      .outcome = OUTCOME_ERROR});
    return csv_file_flush(&w->results.file, p);
}

/* Uploads the source when the first case of a GPU reads it. */
static enum status upload(struct sweep *w, struct runner *r, struct problem *why)
{
    const struct axes *axes = w->plan->axes;
    if (r->device.kind == DEVICE_CPU)
        return STATUS_OK;
    size_t at = 0;
    while (axes->device[at].kind != r->device.kind || axes->device[at].index != r->device.index)
        at++;
    enum status status =
        w->gpu[at] ? STATUS_OK : gpu_upload(&w->gpu[at], r->device.index, r->in, 0, why);
    if (status != STATUS_OK)
        w->gpu[at] = NULL;
    r->gpu = w->gpu[at];
    return status;
}

static enum status run(struct sweep *w, struct trial *t, struct live *l, struct problem *why)
{
    const struct source *s = &w->plan->source[t->source];
    struct runner r = {.method = t->method,
                       .device = t->device,
                       .in = &s->array,
                       .accumulator = t->accumulator,
                       .shape = t->shape,
                       .stop = w->options->stop};
    enum status status = upload(w, &r, why);
    return status == STATUS_OK ? runner_run(&r, t->runs - t->done, digest, l, why) : status;
}

static enum status unsupported(struct sweep *w, struct trial *t, const struct case_text *text,
                               struct problem *p)
{
    results_append(&w->results, &(struct results_row){.run = 1,
                                                      .exact = w->truth ? &w->truth->exact : NULL,
                                                      .outcome = OUTCOME_UNSUPPORTED});
    t->done = 1;
    return finish(w, t, NULL, text, p);
}

static void note_failure(struct sweep *w, const struct trial *t, const struct problem *why)
{
    char line[1400], device[DEVICE_TEXT];
    device_name(t->device, device);
    snprintf(line, sizeof line, "case %016" PRIx64 " (%s on %s, %s, n = %zu), run %" PRIu64 ": %s",
             t->id, t->method->name, device, w->plan->source[t->source].name,
             w->plan->source[t->source].array.n, t->done + 1, why->text);
    progress_clear(&w->progress);
    if (w->options->note)
        w->options->note(w->options->context, line);
}

enum status sweep_case(struct sweep *w, struct trial *t, struct problem *p)
{
    struct case_text text;
    struct problem why = {0};
    const struct source *s = &w->plan->source[t->source];
    case_text(&text, w, t);
    results_case(&w->results, text.column);
    if (!t->supported && !t->finished)
        return unsupported(w, t, &text, p);
    if (t->finished)
        return finish(w, t, t->earlier, &text, p);
    struct live l = {.w = w, .t = t, .tally = t->earlier ? t->earlier : &w->tally};
    l.theorem = method_theorem(t->method, t->device.kind, t->accumulator, s->array.n, t->shape);
    tally_clear(&w->tally);
    enum status status = run(w, t, &l, &why);
    if (l.status != STATUS_OK || status == STATUS_INTERRUPTED)
        return problem(p, status, "%s", why.text);
    if (status != STATUS_OK) {
        note_failure(w, t, &why);
        return sweep_fail(w, t, &why, p);
    }
    return finish(w, t, l.tally, &text, p);
}
