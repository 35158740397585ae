/* The bits of an entry's cases, and their errors against the exact value. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/cases/experiment.h"
#include "experiments/gate/gate.h"
#include "experiments/runs/bound.h"
#include "experiments/runs/probe.h"
#include "experiments/runs/truth.h"
#include "experiments/sweep/shared.h"
#include "experiments/system/clock.h"
#include "reference/base/grow.h"
#include "reference/format/number.h"

/* Of a case of what promises nothing, whatever the time: the worst counts. */
enum { RUNS_LEAST = 3 };

struct measuring {
    struct gate_entry *entry;
    const struct gate_options *options;
    const struct study_case *t;
    const struct source *source;
    struct truth *truth;   /* of one result, or NULL */
    struct shared *shared; /* of an array */
    const struct setting_operands *made;
    uint64_t runs, end; /* of a case that promises nothing, until then */
};

/* Identifies a case on any machine; below gpu_to_gpu also its launch shape and device, on which its
 * bits depend. */
static char *key_of(const struct measuring *m)
{
    struct text key = {0}, says = {0};
    char device[DEVICE_TEXT], *copy;
    const struct study_case *t = m->t;
    text_format(&key, "%s/%s %s n=%zu", format_facts[m->source->array.format].name,
                format_facts[t->accumulator].name, m->source->name, m->source->array.n);
    if (m->source->generated && input_uses_seed(&m->source->input))
        text_format(&key, " seed=%" PRIu64, m->source->seed);
    setting_says(&says, t->method->operation, &t->setting);
    if (says.length > 0)
        text_format(&key, " %s", text_string(&says));
    text_free(&says);
    if (m->entry->promise < PROMISE_GPU_TO_GPU || m->entry->promise > PROMISES) {
        device_name(t->device, device);
        text_format(&key, " threads=%u blocks=%u on %s", t->shape.threads, t->shape.blocks, device);
    }
    copy = text_string(&key) ? strdup(text_string(&key)) : NULL;
    text_free(&key);
    return copy;
}

static void measure_one(const struct measuring *m, struct gate_case *c, const struct array *out)
{
    struct measure is;
    const struct study_case *t = m->t;
    const struct reference *r = &m->truth->reference;
    struct theorem theorem =
        method_theorem(t->method, t->device.kind, t->accumulator, m->source->array.n, t->shape);
    theorem.product = t->setting.product;
    measure(&is, r, m->source->array.format, t->accumulator, array_get(out, 0), &theorem);
    double error = recommend_error(&m->entry->tolerance, &is, r, m->source->array.format);
    c->judged = mpfr_number_p(r->sum) && mpfr_number_p(r->sum_abs);
    c->error = figure_worse(error, c->error) ? error : c->error;
    c->exceeds |= bound_breaks(m->entry->method, &is, array_get(out, 0));
    if (is.err_ulp.known && (!c->ulps.known || figure_worse(is.err_ulp.value, c->ulps.value)))
        c->ulps = is.err_ulp;
    number_bits(c->bits, out->format, array_get(out, 0));
}

static enum status measure_all(const struct measuring *m, struct gate_case *c,
                               const struct array *out, struct problem *p)
{
    struct hash128 hash = runner_digest_of(m->t->method, out);
    struct scan_measure *is = calloc(1, sizeof *is);
    enum status status = is ? STATUS_OK : problem(p, STATUS_MEMORY, "gate: out of memory");
    if (status == STATUS_OK && m->shared->outputs)
        status = shared_measure(is, m->shared, m->t, out, NULL, p);
    if (status == STATUS_OK)
        c->ulps = is->err_ulp;
    c->exceeds |= status == STATUS_OK && bound_breaks_in(m->entry->method, is);
    snprintf(c->bits, sizeof c->bits, "%016" PRIx64 "%016" PRIx64, hash.word[0], hash.word[1]);
    free(is);
    return status;
}

static enum status run(const struct measuring *m, struct probe *probe, struct gate_case *c,
                       struct problem *p)
{
    const struct study_case *t = m->t;
    const struct operation *o = t->method->operation;
    struct array out;
    enum status status = memory_array(
        &out, t->setting.output, o->outputs(m->source->array.n, m->made->of.bins), "results", p);
    if (status != STATUS_OK)
        return status;
    for (uint64_t i = 0;
         i < m->runs && status == STATUS_OK && (i < RUNS_LEAST || clock_ns() < m->end); i++) {
        if (m->options->stop && *m->options->stop)
            status = problem(p, STATUS_INTERRUPTED, "interrupted");
        if (status == STATUS_OK)
            status = probe_run(probe, &out, p);
        if (status == STATUS_OK && operation_makes_array(o))
            status = measure_all(m, c, &out, p);
        else if (status == STATUS_OK)
            measure_one(m, c, &out);
        m->entry->result.runs += status == STATUS_OK;
    }
    free(out.data);
    return status;
}

static enum status open_probe(const struct measuring *m, struct probe **probe, struct problem *p)
{
    const struct study_case *t = m->t;
    const struct operands *of = &m->made->of;
    const struct array *in[] = {&m->source->array, &m->source->second};
    struct probe_spec spec = {.method = t->method,
                              .device = t->device,
                              .storage = m->source->array.format,
                              .accumulator = t->accumulator,
                              .output = t->setting.output,
                              .n = m->source->array.n,
                              .shape = t->shape,
                              .exclusive = t->setting.exclusive,
                              .heads = of->heads,
                              .mask = of->mask,
                              .product = t->setting.product,
                              .bins = t->setting.bins,
                              .stride = of->stride};
    enum status status = probe_open(probe, &spec, p);
    for (unsigned i = 0; status == STATUS_OK && i < operation_arrays(t->method->operation); i++) {
        struct array to = i ? probe_second(*probe) : probe_input(*probe);
        memcpy(to.data, in[i]->data, array_bytes(to.format, to.n));
    }
    if (status == STATUS_OK && of->keys)
        memcpy(probe_keys(*probe), of->keys, m->source->array.n * sizeof *of->keys);
    return status;
}

/* Adds the case. */
static enum status measure_case(struct measuring *m, struct problem *p)
{
    struct gate_result *r = &m->entry->result;
    struct probe *probe = NULL;
    struct gate_case c = {.key = key_of(m), .error = 0};
    snprintf(c.input, sizeof c.input, "%s", m->source->hash);
    enum status status = c.key && grow(&r->cases, r->case_count, sizeof *r->cases)
                             ? STATUS_OK
                             : problem(p, STATUS_MEMORY, "gate: out of memory");
    if (status == STATUS_OK)
        status = open_probe(m, &probe, p);
    if (status == STATUS_OK)
        status = run(m, probe, &c, p);
    probe_close(probe);
    if (status == STATUS_OK)
        r->cases[r->case_count++] = c;
    else
        free(c.key);
    return status;
}

static bool answered(const struct measuring *m)
{
    const struct pairs *out = &m->entry->result.left_out;
    for (size_t i = 0; i < out->count; i++)
        if (out->item[i].storage == m->source->array.format &&
            out->item[i].accumulator == m->t->accumulator)
            return false;
    return m->t->supported;
}

/* The cases of one source. */
static enum status measure_source(struct measuring *m, const struct plan *plan, struct source *s,
                                  struct problem *p)
{
    struct truth truth;
    struct shared shared = {0};
    struct setting_operands made = {0};
    const struct operation *o = m->entry->method->operation;
    bool array = operation_makes_array(o);
    m->source = s;
    m->shared = &shared;
    m->truth = &truth;
    m->made = array ? &shared.made : &made;
    enum status status = source_load(s, p);
    if (status == STATUS_OK && !array)
        status = truth_make_of(&truth, s->name, o->of, &s->array, s->pair ? &s->second : NULL,
                               REFERENCE_FAST, p);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < s->cases && status == STATUS_OK; i++) {
        m->t = &plan->cases[s->first + i];
        if (m->options->stop && *m->options->stop)
            status = problem(p, STATUS_INTERRUPTED, "interrupted");
        else if (answered(m) && array)
            status = shared_begin(&shared, m->t, s, REFERENCE_FAST, p);
        if (status == STATUS_OK && answered(m))
            status = measure_case(m, p);
    }
    shared_end(&shared);
    if (!array)
        truth_free(&truth);
    source_unload(s);
    return status;
}

/* Where bits may differ from run to run, the errors of as many runs as the confidence needs are
 * held, all cases together. */
static void set_runs(struct measuring *m, const struct plan *plan)
{
    size_t cases = 0;
    m->runs = 1;
    if (m->entry->promise != PROMISE_NONE)
        return;
    for (size_t i = 0; i < plan->case_count; i++)
        cases += plan->cases[i].supported;
    m->runs = cases ? (m->entry->wanted + cases - 1) / cases : 1;
    m->runs = m->runs < RUNS_LEAST ? RUNS_LEAST : m->runs;
    m->end = clock_ns() + (uint64_t)(m->entry->seconds * 1e9);
}

enum status gate_measure(struct gate_entry *e, const struct gate_options *o, struct problem *p)
{
    /* What tells of roundings and orders, where the manifest names nothing. */
    const struct experiment_axes own = {.formats = FORMATS_USUAL,
                                        .input = "symmetric,lognormal:sigma=4",
                                        .n = "33,1000,65536",
                                        .runs = 1};
    const struct experiment experiment = {.name = "gate",
                                          .operation = {e->method->operation},
                                          .keys = "uniform",
                                          .fits = true,
                                          .axes = {[DEVICE_CPU] = own, [DEVICE_CUDA] = own}};
    struct request words = e->words; /* lists are the entry's */
    struct axes axes = {0};
    struct plan plan = {0};
    struct measuring m = {.entry = e, .options = o};
    words.axis[AXIS_LOAD] = (struct list){0};
    enum status status = axes_resolve(&axes, &experiment, &words, p);
    if (status == STATUS_OK)
        status = plan_make(&plan, &axes, p);
    set_runs(&m, &plan);
    for (size_t i = 0; i < plan.sources && status == STATUS_OK; i++)
        status = measure_source(&m, &plan, &plan.source[i], p);
    plan_free(&plan);
    axes_free(&axes);
    return status;
}
