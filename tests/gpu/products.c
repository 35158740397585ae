#include "tests/gpu/products.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 2, THREADS = 8 };

struct gpu_product gpu_product_new(const struct gemm_shape *shape, enum format storage,
                                   enum format accumulator, enum format output)
{
    size_t n = gemm_c_begins(shape), outputs = shape->m * shape->n;
    struct gpu_product s = {.of = {.in = {storage, n, malloc(array_bytes(storage, n) + 8)},
                                   .gemm = *shape,
                                   .bins = outputs,
                                   .c = {output, outputs, calloc(outputs + 1, sizeof(double))}},
                            .accumulator = accumulator,
                            .what = ""};
    cr_assert(s.of.in.data && s.of.c.data);
    return s;
}

void gpu_product_free(struct gpu_product *s)
{
    free(s->of.in.data);
    free(s->of.c.data);
}

/* Samples are of accumulators: those of 8 bits come through doubles. */
static void fill_array(const struct array *a, enum sample kind, enum format accumulator,
                       uint64_t seed)
{
    struct array wide = {FP64, a->n, malloc((a->n + 1) * sizeof(double))};
    cr_assert(wide.data);
    if (a->format < ACCUMULATORS)
        sample_fill(a, kind, accumulator, seed);
    else if (kind != SAMPLE_BITS)
        sample_fill(&wide, kind, accumulator, seed);
    for (size_t i = 0; a->format >= ACCUMULATORS && i < a->n; i++)
        if (kind == SAMPLE_BITS)
            array_set_bits(a, i, sample_next(&seed) & 0xff);
        else
            array_encode(a, i, 1, (const double *)wide.data + i);
    free(wide.data);
}

/* C stays zeros where there is none. */
void gpu_product_fill(struct gpu_product *s, enum sample kind, uint64_t seed)
{
    s->what = sample_name[kind];
    fill_array(&s->of.in, kind, s->accumulator, seed);
    if (!s->of.gemm.no_c)
        fill_array(&s->of.c, kind, s->accumulator, seed + 1);
}

/* -1, 0 and 1, whose sums are exact in any order up to 256 of them. */
void gpu_product_units(struct gpu_product *s, uint64_t seed)
{
    s->what = "units";
    for (size_t i = 0; i < s->of.in.n; i++)
        array_encode(&s->of.in, i, 1, &(double){(double)(sample_next(&seed) % 3) - 1});
    for (size_t i = 0; i < s->of.c.n && !s->of.gemm.no_c; i++)
        array_encode(&s->of.c, i, 1, &(double){(double)(sample_next(&seed) % 3) - 1});
}

/* False, and nothing is written, where a library says that it does not support this. */
bool gpu_product_run(const struct gpu_product *s, size_t offset, struct shape asked,
                     const struct array *out)
{
    struct gpu_input *input = NULL;
    struct gpu_job *job = NULL;
    struct problem p = {0};
    struct hash128 digest[RUNS];
    double time_ns[RUNS];
    struct task task = {.of = &s->of,
                        .out.format = out->format,
                        .accumulator = s->accumulator,
                        .shape = method_shape(s->method, DEVICE_CUDA, s->of.in.n, asked)};
    bool fine = gpu_upload(&input, 0, &s->of.in, offset, &p) == STATUS_OK &&
                gpu_job_open(&job, input, s->method, &task, &p) == STATUS_OK &&
                gpu_job_start(job, RUNS, &p) == STATUS_OK &&
                gpu_job_wait(job, digest, time_ns, &p) == STATUS_OK &&
                gpu_job_output(job, RUNS - 1, out, &p) == STATUS_OK;
    gpu_job_close(job);
    gpu_release(input);
    if (!fine && !s->method->cpu && strstr(p.text, "not supported"))
        return false;
    const struct gemm_shape *g = &s->of.gemm;
    cr_assert(fine, "%s, %s in %s, %zux%zux%zu, leading %zu, %zu, A by %s, B by %s: %s",
              s->method->name, format_facts[s->of.in.format].name,
              format_facts[s->accumulator].name, g->m, g->n, g->k, gemm_lda(g), gemm_ldb(g),
              g->a_column ? "columns" : "rows", g->b_column ? "columns" : "rows", p.text);
    for (size_t i = 1; i < RUNS && s->method->promise > PROMISE_NONE; i++)
        cr_assert(digest[i].word[0] == digest[0].word[0] && digest[i].word[1] == digest[0].word[1],
                  "%s: run %zu differs", s->method->name, i);
    return true;
}

static void run_here(const struct gpu_product *s, struct shape asked, const struct array *out)
{
    const struct method *m = s->twin ? s->twin : s->method;
    struct problem p = {0};
    struct task task = {.of = &s->of,
                        .out = *out,
                        .accumulator = s->accumulator,
                        .shape = method_shape(m, DEVICE_CPU, s->of.in.n, asked),
                        .method = m,
                        .device = -1};
    cr_assert(m->cpu(&task, &p) == STATUS_OK, "%s", p.text);
}

/* Every element, NaNs alike; false: not supported. */
bool gpu_product_hold(const struct gpu_product *s, size_t offset, unsigned blocks)
{
    const struct gemm_shape *g = &s->of.gemm;
    enum format f = s->of.c.format;
    struct array there = {f, s->of.bins, calloc(s->of.bins + 1, sizeof(double))};
    struct array here = {f, s->of.bins, calloc(s->of.bins + 1, sizeof(double))};
    size_t wrong = 0, first = 0;
    cr_assert(there.data && here.data);
    bool ran = gpu_product_run(s, offset, (struct shape){0, blocks}, &there);
    run_here(s, (struct shape){THREADS, blocks}, &here);
    for (size_t i = 0; i < s->of.bins && ran; i++)
        if (format_canonical(f, array_bits(&there, i)) !=
            format_canonical(f, array_bits(&here, i))) {
            first = wrong++ == 0 ? i : first;
        }
    cr_expect(wrong == 0,
              "%s %s/%s to %s, %zux%zux%zu%s%s pad %zu, offset %zu, %u blocks, promote %zu, %s: "
              "%zu differ, the first is element %zu: %#llx, on the CPU %#llx",
              s->method->name, format_facts[s->of.in.format].name,
              format_facts[s->accumulator].name, format_facts[f].name, g->m, g->n, g->k,
              g->a_column ? "t" : "n", g->b_column ? "t" : "n", g->pad, offset, blocks,
              s->of.promote, s->what, wrong, first,
              (unsigned long long)(wrong ? array_bits(&there, first) : 0),
              (unsigned long long)(wrong ? array_bits(&here, first) : 0));
    free(there.data);
    free(here.data);
    return ran;
}
