/* The results of scans: outputs are fetched and measured when their hash was not seen before. */
#include "experiments/system/memory.h"
#include "experiments/sweep/engine.h"

static struct figure index_of(size_t index, size_t n)
{
    return (struct figure){index < n, index < n ? (double)index : 0};
}

static void set_facts(struct scan_facts *f, const struct scan_measure *m, size_t n)
{
    const struct scan_difference *twin = &m->difference[0], *run_1 = &m->difference[1];
    f->err_ulp_rms = m->err_ulp_rms;
    f->worst_index = index_of(m->worst_index, n);
    f->differing = twin->differing;
    f->mean_rel_diff = twin->mean_rel_diff;
    f->first_diff = index_of(twin->first_diff, n);
    f->decreases = m->decreases;
    if (!run_1->differing.known) /* what an earlier process found stays */
        return;
    f->run_differing = run_1->differing;
    f->run_mean_rel_diff = run_1->mean_rel_diff;
    f->run_first_diff = index_of(run_1->first_diff, n);
}

void sweep_entry(struct distinct *d, const struct shared *s, const struct study_case *t,
                 const struct scan_measure *m, const struct array *out)
{
    const struct scan_point *last = m->points > 0 ? &m->point[m->points - 1] : NULL;
    size_t n = shared_outputs(s);
    struct measure all = {.outcome = m->outcome,
                          .err_abs = m->err_abs,
                          .err_rel = m->err_rel,
                          .err_ulp = m->err_ulp,
                          .err_backward = m->err_backward,
                          .bound = last ? last->bound : (struct figure){0},
                          .err_over_bound = m->err_over_bound};
    d->value = last ? (struct figure){true, last->result} : (struct figure){0};
    if (shared_own(s) && s->outputs) {
        d->value = (struct figure){true, array_get(out, s->shown)};
        all.bound = shared_shown_bound(s, t, d->value.value);
    }
    d->err_rel = m->err_rel;
    d->err_ulp = m->err_ulp;
    d->err_backward = m->err_backward;
    d->err_over_bound = m->err_over_bound;
    d->outcome = m->outcome;
    d->broken = m->broken > 0;
    d->first_broken = m->first_broken;
    set_facts(&d->scan, m, n);
    text_clear(&d->value_text);
    text_clear(&d->errors_text);
    text_clear(&d->scan_text);
    results_hash(&d->value_text, d->value, d->digest);
    results_errors(&d->errors_text, &all);
    results_scan(&d->scan_text, &d->scan);
}

/* Copies the output to where it is kept: run 1's beside all others. */
static enum status fetch(struct live *l, struct array *to, const struct runner_results *results,
                         size_t i, struct problem *p)
{
    enum status status = STATUS_OK;
    if (!to->data)
        status = memory_array(to, l->t->setting.output, shared_outputs(&l->w->shared),
                              l->t->method->name, p);
    return status == STATUS_OK ? results->output(results->source, i, to, p) : status;
}

enum status sweep_meet_scan(struct live *l, struct distinct *d,
                            const struct runner_results *results, size_t i, struct problem *p)
{
    struct scan_measure m = {0};
    struct sweep *w = l->w;
    struct array *out = d == l->tally->item ? &l->first : &l->other;
    if (w->shared.outputs) {
        enum status status = fetch(l, out, results, i, p);
        if (status == STATUS_OK)
            status = shared_measure(&m, &w->shared, l->t, out, l->first.data ? &l->first : NULL, p);
        if (status != STATUS_OK)
            return status;
    }
    sweep_entry(d, &w->shared, l->t, &m, out);
    if (l->t->done > 0 || shared_own(&w->shared))
        return STATUS_OK;
    profile_append(&w->profile, l->text, l->t->setting.output, &m);
    return l->status = csv_file_flush(&w->profile, p);
}
