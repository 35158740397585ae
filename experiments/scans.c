#include "experiments/scans.h"

#include <stdlib.h>

#include "experiments/heads.h"
#include "experiments/machine.h"
#include "experiments/memory.h"
#include "experiments/runner.h"

bool scans_alike(const struct trial *a, const struct trial *b)
{
    return a->method->operation == &operation_scan && b->method->operation == &operation_scan &&
           a->source == b->source && a->accumulator == b->accumulator && a->output == b->output &&
           a->exclusive == b->exclusive && a->segment == b->segment;
}

/* The elements that the last output covers. */
static struct array covered(const struct array *in, const struct trial *t)
{
    size_t first = t->segment ? (in->n - 1) / t->segment * t->segment : 0;
    size_t bytes = (size_t)format_facts[in->format].bytes;
    return (struct array){in->format, in->n - first - t->exclusive,
                          (char *)in->data + first * bytes};
}

enum status scans_begin(struct scans *s, const struct trial *t, const struct source *source,
                        enum reference_kind kind, struct problem *p)
{
    if (s->like && scans_alike(s->like, t))
        return STATUS_OK;
    scans_end(s);
    s->in = source->array;
    s->outputs = s->in.n > 0;
    enum status status = heads_make(&s->heads, s->in.n, t->segment, p);
    if (status == STATUS_OK && s->outputs) {
        struct array last = covered(&s->in, t);
        status = truth_make(&s->last, source->name, &last, kind, p);
    }
    if (status == STATUS_OK) {
        s->like = t;
        return status;
    }
    free(s->heads);
    *s = (struct scans){0};
    return status;
}

enum status scans_twin(struct scans *s, struct problem *p)
{
    const struct trial *t = s->like;
    const struct method *m = method_named(s->heads ? "scan/segmented" : "scan/tiled");
    if (s->twin.data)
        return STATUS_OK;
    enum status status = memory_array(&s->twin, t->output, s->in.n, m->name, p);
    if (status != STATUS_OK)
        return status;
    struct shape asked = {.threads = machine_processors()};
    struct runner r = {.method = m,
                       .in = &s->in,
                       .accumulator = t->accumulator,
                       .output = t->output,
                       .shape = method_shape(m, DEVICE_CPU, s->in.n, asked),
                       .exclusive = t->exclusive,
                       .heads = s->heads};
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
};

static size_t height_of(const void *context, size_t i)
{
    const struct tree *t = context;
    return t->method->prefix_height(i, t->n, t->shape, t->exclusive);
}

enum status scans_measure(struct scan_measure *m, struct scans *s, const struct trial *t,
                          const struct array *out, const struct array *run_1, struct problem *p)
{
    enum status status = scans_twin(s, p);
    if (status != STATUS_OK)
        return status;
    struct tree tree = {t->method, s->in.n, t->shape, t->exclusive};
    struct scan scan = {s->in, t->exclusive, s->heads, NULL};
    struct scan_output output = {.out = *out,
                                 .accumulator = t->accumulator,
                                 .bound = t->method->bound,
                                 .height = height_of,
                                 .context = &tree,
                                 .twin = {&s->twin, run_1}};
    return measure_scan(m, &output, 1, &scan, machine_processors(), p);
}

void scans_end(struct scans *s)
{
    if (s->like && s->outputs)
        truth_free(&s->last);
    free(s->heads);
    free(s->twin.data);
    *s = (struct scans){0};
}
