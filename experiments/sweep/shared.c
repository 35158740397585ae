#include "experiments/sweep/shared.h"

#include <stdlib.h>

#include "experiments/inputs/heads.h"
#include "experiments/system/machine.h"
#include "experiments/inputs/mask.h"
#include "experiments/system/memory.h"
#include "experiments/runs/runner.h"
#include "kernels/method/matrix.h"
#include "reference/measure/by_bin_check.h"

bool shared_alike(const struct study_case *a, const struct study_case *b)
{
    return a->method->operation->array && a->method->operation == b->method->operation &&
           a->source == b->source && a->accumulator == b->accumulator &&
           setting_equal(&a->setting, &b->setting);
}

/* The elements that the last output covers. */
static struct array covered(const struct array *in, const struct study_case *t)
{
    size_t first = t->setting.segment ? (in->n - 1) / t->setting.segment * t->setting.segment : 0;
    size_t bytes = (size_t)format_facts[in->format].bytes;
    return (struct array){in->format, in->n - first - t->setting.exclusive,
                          (char *)in->data + first * bytes};
}

/* Each element that is kept has an output; those that are not share the one behind the last. */
static enum status fill_kept(struct shared *s, size_t keep, uint64_t seed, struct problem *p)
{
    size_t kept = 0;
    enum status status = mask_make(&s->flags, &s->of.bins, s->of.in.n, keep, seed, p);
    for (size_t i = 0; status == STATUS_OK && i < s->of.in.n; i++)
        s->keys[i] = (uint32_t)(s->flags[i] ? kept++ : s->of.bins);
    s->of.mask = s->flags;
    return status;
}

/* Which output each element goes to. */
static enum status fill_keys(struct shared *s, const struct study_case *t, uint64_t seed,
                             struct problem *p)
{
    const struct operation *o = t->method->operation;
    size_t n = s->of.in.n, columns = matrix_length(n, t->setting.bins);
    s->of.bins = t->setting.bins;
    s->of.keys = o->keys ? s->keys : NULL;
    if (o->keys)
        return keys_fill(t->setting.keys, s->keys, n, t->setting.bins, t->setting.key_seed, p);
    if (o->mask)
        return fill_kept(s, t->setting.keep, seed, p);
    for (size_t i = 0; o == &operation_transpose && i < n; i++)
        s->keys[i] = (uint32_t)(i % columns * t->setting.bins + i / columns);
    if (o == &operation_transpose)
        return STATUS_OK;
    enum status status = layout_stride(&s->of.stride, t->setting.layout, n, t->setting.bins, p);
    if (status == STATUS_OK)
        layout_keys(s->keys, n, t->setting.bins, s->of.stride);
    return status;
}

/* The truth of the output with the most elements. */
static enum status show_fullest(struct shared *s, const struct source *source,
                                enum reference_kind kind, struct problem *p)
{
    struct array fullest = {s->of.in.format, 0, NULL};
    s->shown = by_bin_fullest(&s->by_bin);
    enum status status = memory_array(&fullest, s->of.in.format, by_bin_count(&s->by_bin, s->shown),
                                      source->name, p);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < fullest.n; i++)
        array_set_bits(&fullest, i,
                       array_bits(&s->of.in, s->by_bin.element[s->by_bin.start[s->shown] + i]));
    status = truth_make(&s->last, source->name, &fullest, kind, p);
    free(fullest.data);
    return status;
}

/* Keys, the elements by bin, held to MPFR as truth_make's are, and the truth of the fullest. */
static enum status begin_bins(struct shared *s, const struct study_case *t,
                              const struct source *source, enum reference_kind kind,
                              struct problem *p)
{
    size_t n = s->of.in.n;
    s->keys = malloc((n + 1) * sizeof *s->keys);
    if (!s->keys)
        return problem(p, STATUS_DEVICE, "%s: out of memory for %zu keys", source->name, n);
    enum status status = fill_keys(s, t, source->generated ? source->seed : 1, p);
    size_t bins = t->method->operation->outputs(n, s->of.bins);
    if (status == STATUS_OK) /* and the place of what is not kept */
        status = by_bin_make(&s->by_bin, s->keys, n, bins + t->method->operation->mask, p);
    s->by_bin.bins = bins;
    s->outputs = bins > 0;
    if (status != STATUS_OK || !s->outputs)
        return status;
    if (kind == REFERENCE_MPFR || n <= TRUTH_ALWAYS_CHECKED)
        status = by_bin_check(&s->by_bin, &s->of.in, s->keys, source->name, p);
    return status == STATUS_OK ? show_fullest(s, source, kind, p) : status;
}

static enum status begin_scan(struct shared *s, const struct study_case *t,
                              const struct source *source, enum reference_kind kind,
                              struct problem *p)
{
    enum status status = heads_make(&s->flags, s->of.in.n, t->setting.segment, p);
    s->of.heads = s->flags;
    if (status != STATUS_OK || !s->outputs)
        return status;
    struct array last = covered(&s->of.in, t);
    s->shown = s->of.in.n - 1;
    return truth_make(&s->last, source->name, &last, kind, p);
}

enum status shared_begin(struct shared *s, const struct study_case *t, const struct source *source,
                         enum reference_kind kind, struct problem *p)
{
    if (s->like && shared_alike(s->like, t))
        return STATUS_OK;
    shared_end(s);
    s->of.in = source->array;
    s->of.exclusive = t->setting.exclusive;
    s->outputs = s->of.in.n > 0;
    enum status status =
        (operation_plain(t->method->operation) ? begin_scan : begin_bins)(s, t, source, kind, p);
    if (status == STATUS_OK)
        s->like = t;
    else
        shared_end(s);
    return status;
}

size_t shared_outputs(const struct shared *s)
{
    return s->keys ? s->by_bin.bins : s->of.in.n;
}

enum status shared_twin(struct shared *s, struct problem *p)
{
    const struct study_case *t = s->like;
    const struct operation *o = t->method->operation;
    const struct method *m = method_named(o->fixed      ? o->fixed
                                          : s->of.heads ? "scan/segmented"
                                                        : "scan/tiled");
    if (s->twin.data)
        return STATUS_OK;
    enum status status = memory_array(&s->twin, t->setting.output, shared_outputs(s), m->name, p);
    if (status != STATUS_OK)
        return status;
    struct shape asked = {.threads = machine_processors()};
    struct runner r = {.method = m,
                       .of = &s->of,
                       .accumulator = t->accumulator,
                       .output = t->setting.output,
                       .shape = method_shape(m, DEVICE_CPU, s->of.in.n, asked)};
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
        t->method, s->of.in.n, t->shape, t->setting.exclusive, s->keys ? &s->by_bin : NULL, NULL};
    if (tree->by_bin || !s->of.heads || !t->method->segment_heights)
        return STATUS_OK;
    tree->segment = malloc(s->of.in.n * sizeof *tree->segment);
    enum status status =
        tree->segment
            ? t->method->segment_heights(tree->segment, s->of.in.n, t->setting.exclusive,
                                         s->of.heads, p)
            : problem(p, STATUS_DEVICE, "scan: out of memory for %zu heights", s->of.in.n);
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
    const struct by_bin *by_bin = s->keys ? &s->by_bin : NULL;
    struct theorem theorem =
        method_theorem(t->method, t->device.kind, t->accumulator, s->of.in.n, t->shape);
    struct tree tree;
    status = make_tree(&tree, s, t, p);
    if (status != STATUS_OK)
        return status;
    struct scan scan = {s->of.in, t->setting.exclusive, s->of.heads, by_bin};
    struct scan_output output = {.out = *out,
                                 .accumulator = t->accumulator,
                                 .bound = t->method->bound,
                                 .height = height_of,
                                 .context = &tree,
                                 .twin = {&s->twin, run_1},
                                 .flushes = theorem.flushing > 0};
    status =
        (by_bin ? measure_scatter : measure_scan)(m, &output, 1, &scan, machine_processors(), p);
    free(tree.segment);
    return status;
}

struct figure shared_shown_bound(const struct shared *s, const struct study_case *t, double result)
{
    struct measure m;
    size_t terms = by_bin_count(&s->by_bin, s->shown);
    struct theorem theorem =
        method_theorem(t->method, t->device.kind, t->accumulator, s->of.in.n, t->shape);
    theorem.height = 0;
    theorem.flushing = theorem.flushing > 0 ? terms : 0;
    if (t->method->bin_height && terms > 0)
        theorem.height = height_of_bin(t->method, &s->by_bin, s->of.in.n, s->shown);
    measure(&m, &s->last.reference, s->of.in.format, t->accumulator, result, &theorem);
    return m.bound;
}

void shared_end(struct shared *s)
{
    if (s->like && s->outputs)
        truth_free(&s->last);
    by_bin_free(&s->by_bin);
    free(s->keys);
    free(s->flags);
    free(s->twin.data);
    *s = (struct shared){0};
}
