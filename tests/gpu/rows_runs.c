#include "tests/gpu/rows_runs.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "kernels/gpu/gpu.h"

enum { RUNS = 3 };

void gpu_rows_run(const struct matrix_case *c, size_t offset, const struct array *out)
{
    struct gpu_input *input = NULL;
    struct gpu_job *job = NULL;
    struct problem p = {0};
    struct hash128 digest[RUNS];
    double time_ns[RUNS];
    struct task task = {
        .of = &(struct operands){.mask = c->method->operation->mask && c->in.n > 0 ? c->mask : NULL,
                                 .bins = c->bins,
                                 .stride = c->stride},
        .out.format = c->accumulator,
        .accumulator = c->accumulator,
        .shape = c->shape};
    bool fine = gpu_upload(&input, 0, &c->in, offset, &p) == STATUS_OK &&
                gpu_job_open(&job, input, c->method, &task, &p) == STATUS_OK &&
                gpu_job_start(job, RUNS, &p) == STATUS_OK &&
                gpu_job_wait(job, digest, time_ns, &p) == STATUS_OK &&
                gpu_job_output(job, RUNS - 1, out, &p) == STATUS_OK;
    gpu_job_close(job);
    gpu_release(input);
    cr_assert(fine, "%s, n = %zu, %zu rows: %s", c->method->name, c->in.n, c->bins, p.text);
    for (size_t i = 1; i < RUNS && c->method->promise > PROMISE_NONE; i++)
        cr_assert(digest[i].word[0] == digest[0].word[0] && digest[i].word[1] == digest[0].word[1],
                  "%s, n = %zu, %zu rows: run %zu differs", c->method->name, c->in.n, c->bins, i);
}

/* NaNs are alike where they are sums; what moves keeps its payload. */
static uint64_t shown_bits(const struct matrix_case *c, const struct array *out, size_t i)
{
    uint64_t bits = array_bits(out, i);
    return c->method->operation == &operation_rows ? format_canonical(out->format, bits) : bits;
}

void gpu_rows_hold(struct matrix_case *c, size_t offset, struct shape asked)
{
    size_t outputs = matrix_outputs(c);
    struct array there = {c->accumulator, outputs,
                          malloc(array_bytes(c->accumulator, outputs) + 1)};
    struct array here = {c->accumulator, outputs, malloc(array_bytes(c->accumulator, outputs) + 1)};
    cr_assert(there.data && here.data);
    c->shape = method_shape(c->method, DEVICE_CUDA, c->in.n, asked);
    gpu_rows_run(c, offset, &there);
    c->shape = method_shape(c->method, DEVICE_CPU, c->in.n, (struct shape){0});
    if (c->method->cpu)
        cr_assert(matrix_run(c, &here) == STATUS_OK);
    for (size_t i = 0; i < outputs && c->method->cpu && c->method->promise > PROMISE_NONE; i++) {
        uint64_t got = shown_bits(c, &there, i), want = shown_bits(c, &here, i);
        cr_assert(
            got == want,
            "%s %s/%s, %zu elements, %zu rows, stride %zu, %u threads, %s: output %zu is %#llx, "
            "CPU %#llx",
            c->method->name, format_facts[c->in.format].name, format_facts[c->accumulator].name,
            c->in.n, c->bins, c->stride, asked.threads, c->sample, i, (unsigned long long)got,
            (unsigned long long)want);
    }
    char why[WHY] = "";
    if (c->in.n <= MATRIX_MOST)
        cr_assert(matrix_holds(c, &there, why), "there: %s", why);
    free(there.data);
    free(here.data);
}

struct matrix_case *gpu_rows_new(const struct method *m, size_t room)
{
    struct matrix_case *c = calloc(1, sizeof *c);
    cr_assert(c);
    c->method = m;
    c->there = true;
    c->in.data = malloc(room * sizeof(double));
    cr_assert(c->in.data);
    return c;
}

void gpu_rows_free(struct matrix_case *c)
{
    free(c->in.data);
    free(c);
}
