#include "experiments/sweep/shared.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/operations/operation.h"
#include "experiments/system/machine.h"
#include "experiments/system/memory.h"
#include "experiments/runs/runner.h"
#include "reference/measure/by_bin_check.h"

bool shared_alike(const struct study_case *a, const struct study_case *b)
{
    return operation_makes_array(a->method->operation) &&
           a->method->operation == b->method->operation && a->source == b->source &&
           a->accumulator == b->accumulator && setting_same_operands(&a->setting, &b->setting);
}

/* Rows have the same exact values whatever their results are added in and rounded to. */
static bool same_values(const struct study_case *a, const struct study_case *b)
{
    struct setting as = a->setting;
    as.output = b->setting.output;
    return operation_of_rows(a->method->operation) &&
           a->method->operation == b->method->operation && a->source == b->source &&
           setting_same_operands(&as, &b->setting);
}

bool shared_keep(struct shared *s, const struct study_case *t)
{
    if (!s->like || !(shared_alike(s->like, t) || same_values(s->like, t)))
        return false;
    if (!shared_alike(s->like, t)) { /* the twin adds in another accumulator */
        free(s->twin.data);
        s->twin = (struct array){0};
    }
    s->like = t;
    return true;
}

/* The elements that the last output covers. */
static struct array covered(const struct array *in, const struct study_case *t)
{
    size_t first = t->setting.segment ? (in->n - 1) / t->setting.segment * t->setting.segment : 0;
    size_t bytes = (size_t)format_facts[in->format].bytes;
    return (struct array){in->format, in->n - first - t->setting.exclusive,
                          (char *)in->data + first * bytes};
}

/* The truth of the output with the most elements; where each element has one, of its first. */
static enum status show_fullest(struct shared *s, enum exact_value of, const struct source *source,
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
    status = truth_make_of(&s->last, source->name, of, &fullest, NULL, kind, p);
    if (s->values.place)
        s->shown = s->by_bin.element[s->by_bin.start[s->shown]];
    free(fullest.data);
    return status;
}

/* The elements by bin, held to MPFR as truth_make's are, and the truth of the fullest. */
static enum status begin_bins(struct shared *s, const struct operation *o, size_t outputs,
                              const struct source *source, enum reference_kind kind,
                              struct problem *p)
{
    size_t n = s->made.of.in.n, bins = operation_of_rows(o) ? s->made.of.bins : outputs;
    enum status status = by_bin_make(&s->by_bin, s->place, n, bins + 1, p);
    s->by_bin.bins = bins; /* behind them is the place of what goes nowhere */
    if (status != STATUS_OK || !s->outputs)
        return status;
    if (kind == REFERENCE_MPFR || n <= TRUTH_ALWAYS_CHECKED)
        status = by_bin_check(&s->by_bin, &s->made.of.in, s->place, source->name, p);
    if (status == STATUS_OK && operation_of_rows(o))
        status = row_values_make(&s->values, o->of, operation_of_each(o), &s->made.of.in,
                                 &s->by_bin, s->place, machine_processors(), p);
    return status == STATUS_OK
               ? show_fullest(s, operation_of_rows(o) ? o->of : EXACT_SUM, source, kind, p)
               : status;
}

/* The matrices, held to MPFR where there are few products, and the truth of the first element: a
 * dot product, C one of its factors, the other 1. */
static enum status begin_product(struct shared *s, const struct matrices *of,
                                 const struct source *source, enum reference_kind kind,
                                 struct problem *p)
{
    enum status status = matrices_pack(&s->packed, of, p);
    if (status != STATUS_OK || !s->outputs)
        return status;
    if (kind == REFERENCE_MPFR || of->k * s->made.of.bins <= TRUTH_ALWAYS_CHECKED)
        status = matrices_check(&s->packed, source->name, p);
    struct array x = {FP64, of->k + 1, NULL}, y = x;
    if (status == STATUS_OK)
        status = memory_array(&x, FP64, of->k + 1, source->name, p);
    if (status == STATUS_OK)
        status = memory_array(&y, FP64, of->k + 1, source->name, p);
    if (status == STATUS_OK) {
        matrices_factors(&s->packed, 0, x.data, y.data);
        array_encode(&x, of->k, 1, &(double){array_get(&of->c, 0)});
        array_encode(&y, of->k, 1, &(double){1});
        status = truth_make_of(&s->last, source->name, EXACT_DOT, &x, &y, kind, p);
    }
    free(x.data);
    free(y.data);
    return status;
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
    if (shared_keep(s, t))
        return STATUS_OK;
    shared_end(s);
    const struct operation *o = t->method->operation;
    s->made.of.in = source->array;
    s->made.wide = source->wide;
    enum status status = setting_make(&s->made, o, &t->setting, t->setting.key_seed, p);
    if (status == STATUS_OK)
        status = setting_places(&s->place, o, &s->made, p);
    size_t outputs = o->outputs(source->array.n, s->made.of.bins);
    struct matrices matrices;
    s->outputs = outputs > 0;
    if (status == STATUS_OK && setting_matrices(&matrices, o, &s->made.of))
        status = begin_product(s, &matrices, source, kind, p);
    else if (status == STATUS_OK)
        status = s->place ? begin_bins(s, o, outputs, source, kind, p)
                          : begin_prefixes(s, t, source, kind, p);
    if (status == STATUS_OK)
        s->like = t;
    else
        shared_end(s);
    return status;
}

size_t shared_outputs(const struct shared *s)
{
    return s->values.value ? s->values.outputs
           : s->place      ? s->by_bin.bins
           : s->packed.a   ? matrices_outputs(&s->packed)
                           : s->made.of.in.n;
}

bool shared_multiplies(const struct shared *s)
{
    return s->packed.a;
}

bool shared_own(const struct shared *s)
{
    return s->place || shared_multiplies(s);
}

static const struct method *twin_of(const struct study_case *t)
{
    const struct method *m = t->method;
    const char *model =
        m->model ? m->model(m->name, t->setting.ranks, t->setting.bins, t->accumulator) : NULL;
    return method_named(model ? model : setting_twin(m->operation, &t->setting));
}

enum status shared_twin(struct shared *s, const struct study_case *t, struct problem *p)
{
    const struct method *m = twin_of(t);
    if (s->twin.data && s->twin_method == m)
        return STATUS_OK;
    free(s->twin.data);
    s->twin.data = NULL;
    s->twin_method = m;
    enum status status = memory_array(&s->twin, t->setting.output, shared_outputs(s), m->name, p);
    if (status != STATUS_OK)
        return status;
    struct shape asked = {.threads = machine_processors(), .blocks = t->shape.blocks};
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
    const struct shared *shared;
    const struct study_case *of;
    uint16_t *segment; /* heights of trees that heads cut, or NULL */
};

static size_t own_terms(const struct shared *s, size_t i)
{
    if (s->values.value)
        i = row_values_row(&s->values, i);
    return s->place ? by_bin_count(&s->by_bin, i) : s->packed.k + 1;
}

static size_t height_of_own(const struct method *m, const struct shared *s, size_t n, size_t i)
{
    size_t row = s->values.value ? row_values_row(&s->values, i) : i;
    const size_t *element = s->place ? s->by_bin.element + s->by_bin.start[row] : NULL;
    return m->bin_height(element, own_terms(s, i), n,
                         s->place ? s->by_bin.bins : shared_outputs(s));
}

/* The bound of an element of D, as its model gives it. */
static double given_of(const struct shared *s, const struct study_case *t, size_t i)
{
    struct operands of = s->made.of;
    setting_put(&of, &t->setting);
    return t->method->given(&of, t->accumulator, t->shape, &s->packed, i);
}

static enum status make_tree(struct tree *tree, const struct shared *s, const struct study_case *t,
                             struct problem *p)
{
    *tree = (struct tree){.method = t->method,
                          .n = s->made.of.in.n,
                          .shape = t->shape,
                          .exclusive = t->setting.exclusive,
                          .shared = s,
                          .of = t};
    if (shared_own(s) || !s->made.of.heads || !t->method->segment_heights)
        return STATUS_OK;
    tree->segment = malloc(s->made.of.in.n * sizeof *tree->segment);
    enum status status =
        tree->segment
            ? t->method->segment_heights(tree->segment, s->made.of.in.n, t->setting.exclusive,
                                         s->made.of.heads, p)
            : problem(p, STATUS_MEMORY, "scan: out of memory for %zu heights", s->made.of.in.n);
    if (status != STATUS_OK)
        free(tree->segment);
    return status;
}

static size_t height_of(const void *context, size_t i)
{
    const struct tree *t = context;
    if (shared_own(t->shared))
        return height_of_own(t->method, t->shared, t->n, i);
    if (t->segment)
        return t->segment[i];
    return t->method->prefix_height(i, t->n, t->shape, t->exclusive);
}

static double given(const void *context, size_t i)
{
    const struct tree *t = context;
    return given_of(t->shared, t->of, i);
}

enum status shared_measure(struct scan_measure *m, struct shared *s, const struct study_case *t,
                           const struct array *out, const struct array *run_1, struct problem *p)
{
    enum status status = shared_twin(s, t, p);
    if (status != STATUS_OK)
        return status;
    struct theorem theorem =
        method_theorem(t->method, t->device.kind, t->accumulator, s->made.of.in.n, t->shape);
    struct tree tree;
    status = make_tree(&tree, s, t, p);
    if (status != STATUS_OK)
        return status;
    struct scan scan = {.in = s->made.of.in,
                        .exclusive = t->setting.exclusive,
                        .heads = s->made.of.heads,
                        .by_bin = s->place ? &s->by_bin : NULL,
                        .values = s->values.value ? &s->values : NULL,
                        .matrices = s->packed.a ? &s->packed : NULL};
    struct scan_output output = {.out = *out,
                                 .accumulator = t->accumulator,
                                 .bound = method_bound(t->method, &s->made.of),
                                 .height = height_of,
                                 .given = given,
                                 .folds = t->method->folds,
                                 .context = &tree,
                                 .twin = {&s->twin, run_1},
                                 .product = t->method->product,
                                 .flushes = theorem.flushing > 0};
    status = shared_own(s) ? measure_scatter(m, &output, 1, &scan, machine_processors(), p)
                           : measure_scan(m, &output, 1, &scan, machine_processors(), p);
    free(tree.segment);
    return status;
}

struct figure shared_shown_bound(const struct shared *s, const struct study_case *t, double result)
{
    struct measure m;
    size_t terms = own_terms(s, s->shown);
    struct theorem theorem =
        method_theorem(t->method, t->device.kind, t->accumulator, s->made.of.in.n, t->shape);
    theorem.kind = method_bound(t->method, &s->made.of);
    theorem.height = 0;
    theorem.flushing = theorem.flushing > 0 ? terms : 0;
    if (t->method->bin_height && terms > 0)
        theorem.height = height_of_own(t->method, s, s->made.of.in.n, s->shown);
    if (theorem.kind == THEOREM_BLOCKS)
        theorem.given = given_of(s, t, s->shown);
    measure_output(&m, &s->last.reference, s->made.of.in.format, t->accumulator, t->setting.output,
                   result, &theorem);
    return m.bound;
}

void shared_end(struct shared *s)
{
    if (s->like && s->outputs)
        truth_free(&s->last);
    row_values_free(&s->values);
    by_bin_free(&s->by_bin);
    matrices_free(&s->packed);
    free(s->place);
    setting_free(&s->made);
    free(s->twin.data);
    *s = (struct shared){0};
}
