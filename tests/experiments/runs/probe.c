/* A probe runs its subject on what is in its input at the time, wherever that lies. */
#include <criterion/criterion.h>

#include "experiments/runs/probe.h"
#include "experiments/subjects/subject.h"
#include "reference/format/hash_array.h"
#include "tests/support/samples.h"

enum { N = 3000 };

static const struct method *named(const char *name)
{
    struct problem p = {0};
    const struct method *m;
    cr_assert(subject_named(&m, "test", name, NULL, &p) == STATUS_OK, "%s", p.text);
    return m;
}

/* The method itself, on a copy of the input. */
static void directly(const struct probe_spec *s, const struct array *in, const struct array *out)
{
    struct problem p = {0};
    struct task task = {.of = &(struct operands){.in = *in, .exclusive = s->exclusive},
                        .out = *out,
                        .accumulator = s->accumulator,
                        .shape = method_shape(s->method, DEVICE_CPU, in->n, s->shape),
                        .method = s->method,
                        .device = -1};
    cr_assert(s->method->cpu(&task, &p) == STATUS_OK, "%s", p.text);
}

static void hold(const struct probe_spec *s)
{
    double got[N], want[N], copy[N];
    struct problem p = {0};
    struct probe *probe;
    size_t outputs = s->method->operation->outputs(s->n, 0);
    cr_assert(probe_open(&probe, s, &p) == STATUS_OK, "%s", p.text);
    struct array in = probe_input(probe);
    size_t width = (size_t)format_facts[s->storage].bytes;
    cr_expect((uintptr_t)in.data % 256 == s->offset * width % 256, "%s: offset %zu",
              s->method->name, s->offset);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        sample_fill(&in, SAMPLE_NEAR, s->accumulator, seed);
        memcpy(copy, in.data, array_bytes(in.format, in.n));
        struct array held = {in.format, in.n, copy}, a = {s->output, outputs, got},
                     b = {s->output, outputs, want};
        cr_assert(probe_run(probe, &a, &p) == STATUS_OK, "%s", p.text);
        directly(s, &held, &b);
        cr_expect(memcmp(got, want, array_bytes(s->output, outputs)) == 0,
                  "%s, %s, offset %zu, input %d", s->method->name, format_facts[s->storage].name,
                  s->offset, (int)seed);
    }
    probe_close(probe);
}

Test(probe, runs_what_is_in_its_input)
{
    static const char *const name[] = {"sum/tiled", "sum/two_kernel", "scan/tiled", "scan/serial"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (size_t offset = 0; offset < 300; offset = 3 * offset + 1)
                hold(&(struct probe_spec){.method = named(name[i]),
                                          .storage = f,
                                          .accumulator = FP32,
                                          .output = FP32,
                                          .n = N - offset,
                                          .shape = {64, 3},
                                          .offset = offset,
                                          .exclusive = offset % 2});
}

struct seen {
    uint64_t runs;
    struct hash128 first;
    bool same;
};

static enum status take(void *context, const struct runner_results *results, struct problem *p)
{
    struct seen *seen = context;
    (void)p;
    for (size_t i = 0; i < results->runs; i++) {
        if (seen->runs++ == 0)
            seen->first = results->digest[i];
        seen->same &= memcmp(&seen->first, &results->digest[i], sizeof seen->first) == 0;
    }
    return STATUS_OK;
}

Test(probe, repeats)
{
    struct problem p = {0};
    struct probe *probe;
    struct seen seen = {.same = true};
    struct probe_spec s = {
        .method = named("sum/tiled"), .storage = FP16, .accumulator = FP16, .output = FP16, .n = 5};
    cr_assert(probe_open(&probe, &s, &p) == STATUS_OK, "%s", p.text);
    struct array in = probe_input(probe);
    array_encode(&in, 0, 5, (const double[]){1, 2, 3, 4, 5});
    cr_assert(probe_repeat(probe, 1000, take, &seen, &p) == STATUS_OK, "%s", p.text);
    cr_expect(seen.runs == 1000 && seen.same && seen.first.word[0] == format_encode(FP16, 15) &&
              seen.first.word[1] == 0);
    probe_close(probe);
}

Test(probe, refuses)
{
    struct problem p = {0};
    struct probe *probe = NULL;
    struct probe_spec s = {.method = named("cub/sum"), .n = 5};
    cr_expect(probe_open(&probe, &s, &p) == STATUS_DEVICE && !probe, "%s", p.text);
    cr_expect(strstr(p.text, "cub/sum does not support fp16 in fp16 on cpu"), "%s", p.text);
    s.method = named("sum/serial");
    s.n = SIZE_MAX / 2;
    p = (struct problem){0};
    cr_expect(probe_open(&probe, &s, &p) == STATUS_MEMORY && !probe, "%s", p.text);
    p = (struct problem){0};
    cr_expect(subject_named(&s.method, "option --method", "sum/none", &operation_sum, &p) ==
                      STATUS_USAGE &&
                  strstr(p.text, "option --method: found 'sum/none', expected one of sum/serial"),
              "%s", p.text);
    cr_expect(!strstr(p.text, "scan/"), "%s", p.text);
}

/* Around its input lies what was asked for; a second array is ones until it is filled, and is read.
 */
Test(probe, what_lies_where)
{
    struct problem p = {0};
    struct probe *probe;
    double out;
    struct probe_spec s = {.method = named("dot/serial"),
                           .storage = FP64,
                           .accumulator = FP64,
                           .output = FP64,
                           .n = 3,
                           .around = 0x5a};
    cr_assert(probe_open(&probe, &s, &p) == STATUS_OK, "%s", p.text);
    struct array in = probe_input(probe), second = probe_second(probe);
    const uint8_t *byte = in.data;
    cr_expect(byte[-1] == 0xa5 && byte[3 * sizeof(double)] == 0xa5, "%x", byte[-1]);
    array_encode(&in, 0, 3, (const double[]){1, 2, 4});
    cr_assert(probe_run(probe, &(struct array){FP64, 1, &out}, &p) == STATUS_OK, "%s", p.text);
    cr_expect(out == 7, "%g", out);
    array_encode(&second, 0, 3, (const double[]){1, 10, 100});
    cr_assert(probe_run(probe, &(struct array){FP64, 1, &out}, &p) == STATUS_OK, "%s", p.text);
    cr_expect(out == 421, "%g", out);
    probe_close(probe);
}
