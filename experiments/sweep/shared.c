#include "experiments/sweep/shared.h"

#include <stdlib.h>

#include "experiments/operations/operation.h"
#include "experiments/system/machine.h"
#include "experiments/system/memory.h"
#include "experiments/runs/runner.h"
#include "reference/measure/by_bin_check.h"

bool shared_alike(const struct study_case *a, const struct study_case *b)
{
    return operation_makes_array(a->method->operation) &&
           a->method->operation == b->method->operation && a->source == b->source &&
           a->accumulator == b->accumulator && setting_equal(&a->setting, &b->setting);
}

/* The elements that the last output covers. */
static struct array covered(const struct array *in, const struct study_case *t)
{
    size_t first = t->setting.segment ? (in->n - 1) / t->setting.segment * t->setting.segment : 0;
    size_t bytes = (size_t)format_facts[in->format].bytes;
    return (struct array){in->format, in->n - first - t->setting.exclusive,
                          (char *)in->data + first * bytes};
}

/* The truth of the output with the most elements. */
static enum status show_fullest(struct shared *s, const struct source *source,
                                enum reference_kind kind, struct problem *p)
{
    struct array fullest = {s->made.of.in.format, 0, NULL};
    s->shown = by_bin_fullest(&s->by_bin);
    enum status status = memory_array(&fullest, s->made.of.in.format,
                                      by_bin_count(&s->by_bin, s->shown), source->name, p);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < fullest.n; i++)
        array_set_bits(
            &fullest, i,
            array_bits(&s->made.of.in, s->by_bin.element[s->by_bin.start[s->shown] + i]));
    status = truth_make(&s->last, source->name, &fullest, kind, p);
    free(fullest.data);
    return status;
}

/* The elements by bin, held to MPFR as truth_make's are, and the truth of the fullest. */
static enum status begin_bins(struct shared *s, size_t bins, const struct source *source,
                              enum reference_kind kind, struct problem *p)
{
    size_t n = s->made.of.in.n;
    enum status status = by_bin_make(&s->by_bin, s->place, n, bins + 1, p);
    s->by_bin.bins = bins; /* behind them is the place of what goes nowhere */
    if (status != STATUS_OK || !s->outputs)
        return status;
    if (kind == REFERENCE_MPFR || n <= TRUTH_ALWAYS_CHECKED)
        status = by_bin_check(&s->by_bin, &s->made.of.in, s->place, source->name, p);
    return status == STATUS_OK ? show_fullest(s, source, kind, p) : status;
}

static enum status begin_prefixes(struct shared *s, const struct study_case *t,
                                  const struct source *source, enum reference_kind kind,
                                  struct problem *p)
{
    if (!s->outputs)
        return STATUS_OK;
    struct array last = covered(&s->made.of.in, t);
    s->shown = s->made.of.in.n - 1;
    return truth_make(&s->last, source->name, &last, kind, p);
}

enum status shared_begin(struct shared *s, const struct study_case *t, const struct source *source,
                         enum reference_kind kind, struct problem *p)
{
    if (s->like && shared_alike(s->like, t))
        return STATUS_OK;
    shared_end(s);
    const struct operation *o = t->method->operation;
    s->made.of.in = source->array;
    enum status status =
        setting_make(&s->made, o, &t->setting, source->generated ? source->seed : 1, p);
    if (status == STATUS_OK)
        status = setting_places(&s->place, o, &s->made, p);
    size_t outputs = o->outputs(source->array.n, s->made.of.bins);
    s->outputs = outputs > 0;
    if (status == STATUS_OK)
        status = s->place ? begin_bins(s, outputs, source, kind, p)
                          : begin_prefixes(s, t, source, kind, p);
    if (status == STATUS_OK)
        s->like = t;
    else
        shared_end(s);
    return status;
}

size_t shared_outputs(const struct shared *s)
{
    return s->place ? s->by_bin.bins : s->made.of.in.n;
}

enum status shared_twin(struct shared *s, struct problem *p)
{
    const struct study_case *t = s->like;
    const struct method *m = method_named(setting_twin(t->method->operation, &t->setting));
    if (s->twin.data)
        return STATUS_OK;
    enum status status = memory_array(&s->twin, t->setting.output, shared_outputs(s), m->name, p);
    if (status != STATUS_OK)
        return status;
    struct shape asked = {.threads = machine_processors()};
    struct runner r = {.method = m,
                       .of = &s->made.of,
                       .accumulator = t->accumulator,
                       .output = t->setting.output,
                       .shape = method_shape(m, DEVICE_CPU, s->made.of.in.n, asked)};
    status = runner_once(&r, &s->twin, p);
    if (status != STATUS_OK) {
        free(s->twin.data);
        s->twin.data = NULL;
    }
    return status;
}

struct tree {
    const struct method *method;
    size_t n;
    struct shape shape;
    bool exclusive;
    const struct by_bin *by_bin;
    uint16_t *segment; /* heights of trees that heads cut, or NULL */
};

static size_t height_of_bin(const struct method *m, const struct by_bin *b, size_t n, size_t bin)
{
    return m->bin_height(b->element + b->start[bin], by_bin_count(b, bin), n, b->bins);
}

static enum status make_tree(struct tree *tree, const struct shared *s, const struct study_case *t,
                             struct problem *p)
{
    *tree = (struct tree){
        t->method, s->made.of.in.n, t->shape, t->setting.exclusive, s->place ? &s->by_bin : NULL,
        NULL};
    if (tree->by_bin || !s->made.of.heads || !t->method->segment_heights)
        return STATUS_OK;
    tree->segment = malloc(s->made.of.in.n * sizeof *tree->segment);
    enum status status =
        tree->segment
            ? t->method->segment_heights(tree->segment, s->made.of.in.n, t->setting.exclusive,
                                         s->made.of.heads, p)
            : problem(p, STATUS_DEVICE, "scan: out of memory for %zu heights", s->made.of.in.n);
    if (status != STATUS_OK)
        free(tree->segment);
    return status;
}

static size_t height_of(const void *context, size_t i)
{
    const struct tree *t = context;
    if (t->by_bin)
        return height_of_bin(t->method, t->by_bin, t->n, i);
    if (t->segment)
        return t->segment[i];
    return t->method->prefix_height(i, t->n, t->shape, t->exclusive);
}

enum status shared_measure(struct scan_measure *m, struct shared *s, const struct study_case *t,
                           const struct array *out, const struct array *run_1, struct problem *p)
{
    enum status status = shared_twin(s, p);
    if (status != STATUS_OK)
        return status;
    const struct by_bin *by_bin = s->place ? &s->by_bin : NULL;
    struct theorem theorem =
        method_theorem(t->method, t->device.kind, t->accumulator, s->made.of.in.n, t->shape);
    struct tree tree;
    status = make_tree(&tree, s, t, p);
    if (status != STATUS_OK)
        return status;
    struct scan scan = {s->made.of.in, t->setting.exclusive, s->made.of.heads, by_bin};
    struct scan_output output = {.out = *out,
                                 .accumulator = t->accumulator,
                                 .bound = t->method->bound,
                                 .height = height_of,
                                 .context = &tree,
                                 .twin = {&s->twin, run_1},
                                 .flushes = theorem.flushing > 0};
    status = by_bin ? measure_scatter(m, &output, 1, &scan, machine_processors(), p)
                    : measure_scan(m, &output, 1, &scan, machine_processors(), p);
    free(tree.segment);
    return status;
}

struct figure shared_shown_bound(const struct shared *s, const struct study_case *t, double result)
{
    struct measure m;
    size_t terms = by_bin_count(&s->by_bin, s->shown);
    struct theorem theorem =
        method_theorem(t->method, t->device.kind, t->accumulator, s->made.of.in.n, t->shape);
    theorem.height = 0;
    theorem.flushing = theorem.flushing > 0 ? terms : 0;
    if (t->method->bin_height && terms > 0)
        theorem.height = height_of_bin(t->method, &s->by_bin, s->made.of.in.n, s->shown);
    measure(&m, &s->last.reference, s->made.of.in.format, t->accumulator, result, &theorem);
    return m.bound;
}

void shared_end(struct shared *s)
{
    if (s->like && s->outputs)
        truth_free(&s->last);
    by_bin_free(&s->by_bin);
    free(s->place);
    setting_free(&s->made);
    free(s->twin.data);
    *s = (struct shared){0};
}
