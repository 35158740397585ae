/* One case of a sweep: its runs, its rows, its summary. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/sweep/breaks.h"
#include "experiments/cases/case_text.h"
#include "experiments/cases/experiment.h"
#include "experiments/sweep/engine.h"
#include "kernels/gpu/load.h"
#include "reference/format/number.h"

/* That of what the columns of exact values show: of one output where there are many. Of what only
 * moves elements, that of the whole input. */
static struct figure cond_of(const struct sweep *w, const struct study_case *t)
{
    const struct shared *s = &w->shared;
    bool many = operation_makes_array(t->method->operation);
    if (many && s->like && (shared_multiplies(s) || s->last.exact.length > 0))
        return s->outputs ? s->last.cond_log2 : (struct figure){0};
    return w->truth ? w->truth->cond_log2 : (struct figure){0};
}

static void text_of(struct case_text *c, const struct sweep *w, const struct study_case *t)
{
    case_text(c, t, &w->plan->source[t->source], w->plan->axes->experiment->name, cond_of(w, t));
}

const struct text *sweep_exact(const struct sweep *w, const struct study_case *t)
{
    if (!operation_makes_array(t->method->operation))
        return w->truth ? &w->truth->exact : NULL;
    return w->shared.like && w->shared.outputs ? &w->shared.last.exact : NULL;
}

/* Sees to it that what cases share that scan alike is there, if this is one. */
static enum status begin_scans(struct sweep *w, const struct study_case *t, struct problem *why)
{
    if (!operation_makes_array(t->method->operation))
        return STATUS_OK;
    if (w->truth)
        return shared_begin(&w->shared, t, &w->plan->source[t->source], w->plan->axes->reference,
                            why);
    shared_end(&w->shared);
    return STATUS_OK;
}

/* What results are to be, and what the fixed-order twin gives. */
static enum status find_due(struct sweep *w, const struct study_case *t, struct figure *ulp,
                            struct figure *fixed, struct problem *p)
{
    struct shared *s = &w->shared;
    if (!operation_makes_array(t->method->operation)) {
        *ulp = tally_ulp(w->truth->reference.sum, t->accumulator);
        const struct source *source = &w->plan->source[t->source];
        *fixed = truth_fixed(w->truth, t->method->operation, &source->array,
                             source->pair ? &source->second : NULL, t->accumulator);
        return STATUS_OK;
    }
    *ulp = *fixed = (struct figure){0};
    if (!s->outputs)
        return STATUS_OK;
    enum status status = shared_twin(s, t, p);
    if (status != STATUS_OK)
        return status;
    *ulp = tally_ulp(s->last.reference.sum, t->setting.output);
    *fixed = (struct figure){true, array_get(&s->twin, s->shown)};
    return STATUS_OK;
}

/* Summarises a finished case. Its rows are written before: a summary without them would be of
 * nothing. */
static enum status finish(struct sweep *w, struct study_case *t, struct tally *tally,
                          const struct case_text *text, struct problem *p)
{
    struct figure ulp, fixed;
    enum status status = csv_file_flush(&w->results.file, p);
    if (status == STATUS_OK && t->supported)
        status = find_due(w, t, &ulp, &fixed, p);
    if (status != STATUS_OK)
        return status;
    t->summary = (struct summary){0};
    if (t->supported) {
        tally_summary(&t->summary, tally, ulp, fixed);
        t->err_rel_max = tally_err_rel_max(tally);
        t->err_backward_max = tally_err_backward_max(tally);
    }
    if (t->supported)
        breaks_note(t, tally);
    if (w->truth)
        t->cond_log2 = cond_of(w, t);
    summary_row(&w->summary.pending, text->column, &t->summary,
                experiment_columns(w->plan->axes->experiment));
    w->outcome->finished += !t->finished;
    t->finished = t->summarised = true;
    case_forget(t);
    return csv_file_flush(&w->summary, p);
}

enum status sweep_fail(struct sweep *w, struct study_case *t, const struct problem *why,
                       struct problem *p)
{
    struct case_text text;
    if (w->outcome->failed++ == 0)
        w->outcome->failed_status = why->status;
    t->failed = true;
    text_of(&text, w, t);
    results_case(&w->results, text.column);
    results_append(&w->results, &(struct results_row){.run = t->done + 1,
                                                      .exact = sweep_exact(w, t),
                                                      .outcome = OUTCOME_ERROR});
    return csv_file_flush(&w->results.file, p);
}

/* Uploads the source when the first case of a GPU reads it; `own`: elements of a case's own, which
 * are uploaded for it alone. */
static enum status upload(struct sweep *w, struct runner *r, struct gpu_input **own,
                          struct problem *why)
{
    const struct axes *axes = w->plan->axes;
    if (r->device.kind == DEVICE_CPU || r->method->foreign)
        return STATUS_OK;
    if (w->shared.made.copied) {
        const enum status made = gpu_upload(own, r->device.index, &r->of->in, 0, why);
        r->gpu = *own;
        return made;
    }
    size_t at = 0;
    while (axes->device[at].kind != r->device.kind || axes->device[at].index != r->device.index)
        at++;
    enum status status = STATUS_OK;
    if (!w->gpu[at]) {
        status = gpu_upload(&w->gpu[at], r->device.index, &r->of->in, 0, why);
        if (status == STATUS_OK && r->of->in2.data)
            status = gpu_give(w->gpu[at], r->of, OPERAND_IN2, 0, why);
    }
    if (status != STATUS_OK) {
        gpu_release(w->gpu[at]);
        w->gpu[at] = NULL;
    }
    r->gpu = w->gpu[at];
    return status;
}

static enum status run(struct sweep *w, struct study_case *t, struct live *l, struct problem *why)
{
    const struct source *s = &w->plan->source[t->source];
    struct operands of = w->shared.made.of;
    if (!w->shared.made.copied) /* the reference's may be of another format */
        of.in = s->array;
    if (s->pair)
        of.in2 = s->second;
    setting_put(&of, &t->setting);
    struct runner r = {.method = t->method,
                       .device = t->device,
                       .of = &of,
                       .accumulator = t->accumulator,
                       .output = t->setting.output,
                       .shape = t->shape,
                       .stop = w->options->stop};
    struct load *load = NULL;
    struct gpu_input *own = NULL;
    enum status status = upload(w, &r, &own, why);
    if (status == STATUS_OK && t->load == LOAD_BUSY)
        status = load_begin(&load, t->device.kind == DEVICE_CPU ? -1 : t->device.index, why);
    if (status == STATUS_OK)
        status = runner_run(&r, t->runs - t->done, sweep_digest, l, why);
    load_end(load);
    gpu_release(own);
    return status;
}

static enum status unsupported(struct sweep *w, struct study_case *t, const struct case_text *text,
                               struct problem *p)
{
    results_append(&w->results, &(struct results_row){.run = 1,
                                                      .exact = sweep_exact(w, t),
                                                      .outcome = OUTCOME_UNSUPPORTED});
    t->done = 1;
    return finish(w, t, NULL, text, p);
}

static void note_failure(struct sweep *w, const struct study_case *t, const struct problem *why)
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

/* Runs what is left and writes its rows. Failures of the case are said in `why`. */
static enum status run_live(struct sweep *w, struct study_case *t, const struct case_text *text,
                            struct problem *why, struct problem *p)
{
    const struct source *s = &w->plan->source[t->source];
    struct live l = {
        .w = w, .t = t, .text = text->column, .tally = t->earlier ? t->earlier : &w->tally};
    l.theorem = method_theorem(t->method, t->device.kind, t->accumulator, s->array.n, t->shape);
    l.theorem.product = t->setting.product;
    tally_clear(&w->tally);
    enum status status = run(w, t, &l, why);
    free(l.first.data);
    free(l.other.data);
    if (l.status != STATUS_OK || status == STATUS_INTERRUPTED)
        return problem(p, status, "%s", why->text);
    return status == STATUS_OK ? finish(w, t, l.tally, text, p) : STATUS_OK;
}

enum status sweep_case(struct sweep *w, struct study_case *t, struct problem *p)
{
    struct case_text text;
    struct problem why = {0};
    enum status status = begin_scans(w, t, &why);
    text_of(&text, w, t);
    results_case(&w->results, text.column);
    if (status == STATUS_FAILED || (status != STATUS_OK && t->finished))
        return problem(p, status, "%s", why.text);
    if (!t->supported && !t->finished)
        return unsupported(w, t, &text, p);
    if (t->finished)
        return finish(w, t, t->earlier, &text, p);
    if (status == STATUS_OK)
        status = run_live(w, t, &text, &why, p);
    if (p->status != STATUS_OK || why.status == STATUS_OK)
        return status;
    note_failure(w, t, &why);
    if (!why.unsupported || t->done > 0)
        return sweep_fail(w, t, &why, p);
    t->supported = false;
    return unsupported(w, t, &text, p);
}
