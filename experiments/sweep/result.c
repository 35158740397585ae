/* The results of a case as they come: a row for each run. */
#include <inttypes.h>
#include <stdio.h>

#include "experiments/cases/experiment.h"
#include "experiments/sweep/engine.h"

/* Measures a sum that was not seen before and formats its parts of a row. */
static void meet_sum(const struct live *l, struct distinct *d)
{
    struct measure m;
    const struct source *s = &l->w->plan->source[l->t->source];
    double value = format_decode(l->t->accumulator, d->digest.word[0]);
    measure(&m, &l->w->truth->reference, s->array.format, l->t->accumulator, value, &l->theorem);
    results_value(&d->value_text, l->t->accumulator, value);
    results_errors(&d->errors_text, &m);
    d->value = (struct figure){true, value};
    d->err_rel = m.err_rel;
    d->err_ulp = m.err_ulp;
    d->err_backward = m.err_backward;
    d->err_over_bound = m.err_over_bound;
    d->outcome = m.outcome;
    d->broken = m.broken;
}

/* Has anything to be found out about it? Of a scan, what it is beside run 1, too, once that is at
 * hand again after a resume. */
static bool unmet(const struct live *l, const struct distinct *d)
{
    return d->value_text.length == 0 || (l->first.data && !d->scan.run_differing.known);
}

static void note_broken(const struct live *l, const struct distinct *d, uint64_t run)
{
    struct sweep_outcome *outcome = l->w->outcome;
    char index[40] = "";
    if (operation_makes_array(l->t->method->operation))
        snprintf(index, sizeof index, ", index %zu", d->first_broken);
    if (outcome->broken++ == 0)
        snprintf(outcome->first_broken, sizeof outcome->first_broken,
                 "case %016" PRIx64 " (%s), run %" PRIu64 "%s", l->t->id, l->t->method->name, run,
                 index);
}

static enum status take(struct live *l, const struct runner_results *results, size_t i,
                        struct problem *p)
{
    struct sweep *w = l->w;
    struct distinct *d = tally_add(l->tally, results->digest[i]);
    bool timed = results->time_ns != NULL;
    if (!d || (timed && !tally_time(l->tally, results->time_ns[i])))
        return l->status = problem(p, STATUS_MEMORY, "%s: out of memory for its distinct results",
                                   l->t->method->name);
    enum status status = STATUS_OK;
    if (unmet(l, d) && operation_makes_array(l->t->method->operation))
        status = sweep_meet_scan(l, d, results, i, p);
    else if (unmet(l, d))
        meet_sum(l, d);
    if (status != STATUS_OK)
        return status;
    l->t->done++;
    results_append(&w->results, &(struct results_row){.run = l->t->done,
                                                      .value = &d->value_text,
                                                      .exact = sweep_exact(w, l->t),
                                                      .errors = &d->errors_text,
                                                      .scan = &d->scan_text,
                                                      .timed = timed,
                                                      .time_ns = timed ? results->time_ns[i] : 0,
                                                      .outcome = d->outcome});
    if (d->broken)
        note_broken(l, d, l->t->done);
    return STATUS_OK;
}

static enum status flush(struct live *l, struct problem *p)
{
    struct sweep *w = l->w;
    sweep_progress(w);
    return l->status = csv_file_flush(&w->results.file, p);
}

/* To measure an array may take seconds: each is written at once, and behind each it may end. */
enum status sweep_digest(void *context, const struct runner_results *results, struct problem *p)
{
    struct live *l = context;
    const volatile sig_atomic_t *stop = l->w->options->stop;
    bool array = operation_makes_array(l->t->method->operation);
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < results->runs; i++) {
        if (array && i > 0 && stop && *stop)
            return problem(p, STATUS_INTERRUPTED, "interrupted");
        status = take(l, results, i, p);
        if (status != STATUS_OK)
            return status;
        l->w->runs_done++;
        l->w->outcome->runs++;
        if (array)
            status = flush(l, p);
    }
    return status == STATUS_OK ? flush(l, p) : status;
}
