#include "experiments/conformance/stand.h"

#include "experiments/conformance/product.h"

#include <stdlib.h>

#include "experiments/inputs/heads.h"
#include "experiments/system/memory.h"

void special_input_copy(const struct special_input *to, const struct special_input *from)
{
    memcpy(to->x.data, from->x.data, array_bytes(from->x.format, from->x.n));
    if (from->y.data)
        memcpy(to->y.data, from->y.data, array_bytes(from->y.format, from->y.n));
}

static enum status open_product(struct conformance_stand *s, struct probe_spec *spec, size_t n,
                                struct problem *p)
{
    const struct gemm_shape shape = special_product_shape(spec->method, n);
    const size_t outputs = shape.m * shape.n;
    s->out.data = NULL;
    enum status status = memory_array(&s->out, spec->output, outputs, spec->method->name, p);
    if (status == STATUS_OK)
        status = memory_array(&s->c, spec->output, outputs, spec->method->name, p);
    if (status == STATUS_OK)
        status = memory_array(&s->product.x, spec->storage, n, spec->method->name, p);
    if (status == STATUS_OK)
        status = memory_array(&s->product.y, spec->storage, n, spec->method->name, p);
    spec->gemm = shape;
    spec->c = s->c;
    spec->bins = outputs;
    spec->n = gemm_c_begins(&shape);
    return status == STATUS_OK ? probe_open(&s->probe, spec, p) : status;
}

enum status conformance_stand_open(struct conformance_stand *s,
                                   const struct conformance_subject *subject, size_t n,
                                   struct problem *p)
{
    const struct method *m = subject->method;
    struct probe_spec spec = {.method = m,
                              .device = subject->device,
                              .storage = subject->storage,
                              .accumulator = subject->accumulator,
                              .output = subject->accumulator,
                              .n = n,
                              .shape = subject->shape,
                              .exclusive = subject->exclusive,
                              .chip = subject->chip,
                              .product = subject->product,
                              .bins = special_reads_rows(m) ? 1 : 0,
                              .stride = special_reads_rows(m) ? 1 : 0};
    *s = (struct conformance_stand){.subject = subject};
    s->out = (struct array){subject->accumulator, 1, s->one};
    enum status status = heads_make(&s->heads, n, subject->segment, p);
    spec.heads = s->heads;
    if (status == STATUS_OK && special_multiplies(m))
        return open_product(s, &spec, n, p);
    if (status == STATUS_OK && operation_makes_array(m->operation)) {
        s->out.data = NULL;
        status = memory_array(&s->out, subject->accumulator, m->operation->outputs(n, spec.bins),
                              m->name, p);
    }
    return status == STATUS_OK ? probe_open(&s->probe, &spec, p) : status;
}

struct special_input conformance_stand_input(const struct conformance_stand *s)
{
    return special_multiplies(s->subject->method)
               ? s->product
               : (struct special_input){probe_input(s->probe), probe_second(s->probe)};
}

enum status conformance_stand_run(struct conformance_stand *s, struct judgement *j,
                                  struct problem *p)
{
    struct special_input in = conformance_stand_input(s);
    if (special_multiplies(s->subject->method)) {
        const struct array operands = probe_input(s->probe);
        special_product_settle(s->subject, &in);
        special_product_fill(s->subject, &operands, &s->c, &in);
    }
    enum status status = probe_run(s->probe, &s->out, p);
    return status == STATUS_OK ? conformance_judge(j, s->subject, &in, s->heads, &s->out, p)
                               : status;
}

void conformance_stand_close(struct conformance_stand *s)
{
    probe_close(s->probe);
    free(s->heads);
    free(s->c.data);
    free(s->product.x.data);
    free(s->product.y.data);
    if (s->out.data != s->one)
        free(s->out.data);
    *s = (struct conformance_stand){0};
}

enum status conformance_try(struct judgement *j, const struct conformance_subject *subject,
                            const struct special_input *in, unsigned runs, struct problem *p)
{
    struct conformance_stand stand;
    enum status status = conformance_stand_open(&stand, subject, in->x.n, p);
    *j = (struct judgement){.is = JUDGED_FINE};
    for (unsigned run = 0; run < runs && status == STATUS_OK && j->is != JUDGED_IMPOSSIBLE; run++) {
        struct special_input own = conformance_stand_input(&stand);
        special_input_copy(&own, in);
        status = conformance_stand_run(&stand, j, p);
    }
    conformance_stand_close(&stand);
    return status;
}
