/* Statistics of rows on a GPU: every output has the bits of the CPU twin, which theorems are held
 * to elsewhere; and, in place of the CPU side, its methods keep their bounds and promises. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "kernels/gpu/gpu.h"
#include "tests/support/samples.h"
#include "tests/support/statistics.h"

enum { RUNS = 2 };

static const struct method *on_trial;

static bool tried(const struct method *m)
{
    return m->operation->of_rows && m->cpu && format_pairs_any(method_pairs(m, DEVICE_CUDA));
}

/* In the place of a CPU side. */
static enum status run_there(const struct task *t, struct problem *p)
{
    struct gpu_input *input = NULL;
    struct gpu_job *job = NULL;
    struct hash128 digest[RUNS];
    double time_ns[RUNS];
    struct operands of = {.bins = t->of->bins, .stride = t->of->stride};
    struct task task = {.of = &of,
                        .out.format = t->accumulator,
                        .accumulator = t->accumulator,
                        .shape =
                            method_shape(on_trial, DEVICE_CUDA, t->of->in.n, (struct shape){0})};
    size_t offset = t->of->in.n % 3;
    bool fine = gpu_upload(&input, 0, &t->of->in, offset, p) == STATUS_OK &&
                gpu_job_open(&job, input, on_trial, &task, p) == STATUS_OK &&
                gpu_job_start(job, RUNS, p) == STATUS_OK &&
                gpu_job_wait(job, digest, time_ns, p) == STATUS_OK &&
                gpu_job_output(job, RUNS - 1, &t->out, p) == STATUS_OK;
    gpu_job_close(job);
    gpu_release(input);
    if (fine && memcmp(&digest[0], &digest[1], sizeof digest[0]) != 0)
        return problem(p, STATUS_DATA, "%s: two runs differ", on_trial->name);
    return fine ? STATUS_OK : p->status;
}

/* Rows, their length, and the stride. */
static const size_t shapes[][3] = {{1, 1, 1},    {5, 0, 5},      {7, 1, 1},    {6, 50, 3},
                                   {31, 33, 31}, {2, 257, 2},    {3, 2047, 1}, {4, 2048, 2},
                                   {3, 2049, 3}, {2, 4352, 1},   {1, 9000, 1}, {300, 30, 300},
                                   {64, 128, 1}, {4500, 2, 450}, {3, 129, 1},  {70, 127, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void hold_to_twin(struct statistic_case *c, double *room, uint64_t k)
{
    const size_t *s = shapes[k % SHAPES];
    enum sample kind = k % 3 ? SAMPLE_NEAR : (enum sample)(k / 3 % SAMPLES);
    c->rows = s[0], c->stride = s[2];
    c->in = (struct array){c->in.format, s[0] * s[1], room};
    c->sample = sample_name[kind];
    sample_fill(&c->in, kind, c->accumulator, k);
    struct operands of = {.in = c->in, .bins = c->rows, .stride = c->stride};
    size_t outputs = statistic_outputs(c), bytes = array_bytes(c->accumulator, outputs) + 1;
    struct array there = {c->accumulator, outputs, malloc(bytes)},
                 here = {c->accumulator, outputs, malloc(bytes)};
    struct problem p = {0};
    struct task task = {.of = &of,
                        .out = here,
                        .method = c->method,
                        .accumulator = c->accumulator,
                        .shape = method_shape(c->method, DEVICE_CPU, c->in.n, (struct shape){0})};
    cr_assert(here.data && there.data && c->in.n <= STATISTIC_MOST);
    cr_assert_eq(c->method->cpu(&task, &p), STATUS_OK, "%s", p.text);
    task.out = there;
    on_trial = c->method;
    cr_assert_eq(run_there(&task, &p), STATUS_OK, "%s: %s", c->method->name, p.text);
    for (size_t i = 0; i < outputs; i++) {
        uint64_t got = format_canonical(there.format, array_bits(&there, i)),
                 want = format_canonical(here.format, array_bits(&here, i));
        cr_assert(got == want,
                  "%s %s/%s, %zu rows of %zu, stride %zu, %s, case %zu: output %zu is %#llx, "
                  "CPU %#llx",
                  c->method->name, format_facts[c->in.format].name,
                  format_facts[c->accumulator].name, s[0], s[1], s[2], c->sample, (size_t)k, i,
                  (unsigned long long)got, (unsigned long long)want);
    }
    free(there.data);
    free(here.data);
}

static void hold_all(size_t turns)
{
    static double room[STATISTIC_MOST];
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++) {
        struct statistic_case c = {.method = method_registry[i]};
        if (!tried(c.method))
            continue;
        for (size_t k = 0; k < turns; k++) {
            c.in.format = (enum format)((k / SHAPES + k) % ACCUMULATORS);
            c.accumulator = (enum format)((k / SHAPES / ACCUMULATORS + i + k) % ACCUMULATORS);
            if (!method_supports(c.method, DEVICE_CUDA, c.in.format, c.accumulator))
                continue;
            hold_to_twin(&c, room, k);
            held++;
        }
    }
    cr_expect(held > turns, "%zu", held);
}

Test(gpu_statistics, have_the_bits_of_the_cpu, .timeout = 300)
{
    hold_all(16 * SHAPES);
}

Test(gpu_statistics, keep_their_bounds_there, .timeout = 300)
{
    char why[WHY] = "";
    for (size_t i = 0; i < method_count; i++) {
        struct method there = *method_registry[i];
        on_trial = method_registry[i];
        if (!tried(on_trial))
            continue;
        there.cpu = run_there;
        there.pairs[DEVICE_CPU] = there.pairs[DEVICE_CUDA];
        there.shape_read[DEVICE_CPU] = 0;
        cr_expect(holds_bound(&there, why), "%s", why);
    }
}

/* Rows of three levels, and more rows than a block each. */
Test(gpu_statistics, long_and_many_rows_agree, .timeout = 300)
{
    static const size_t wide[][3] = {{1, 3000000, 1}, {5000, 3, 5000}, {2, 70000, 2}};
    double *room = malloc(3000000 * sizeof *room);
    cr_assert(room);
    for (size_t i = 0; i < method_count; i++)
        for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) {
            const struct method *m = method_registry[i];
            bool folds = strstr(m->name, "tiled") || strstr(m->name, "chan");
            if (!tried(m) || (!folds && k == 0))
                continue;
            struct operands of = {.in = {FP32, wide[k][0] * wide[k][1], room},
                                  .bins = wide[k][0],
                                  .stride = wide[k][2]};
            sample_fill(&of.in, SAMPLE_NEAR, FP32, k);
            size_t outputs = m->operation->outputs(of.in.n, of.bins);
            struct array there = {FP32, outputs, malloc(4 * outputs + 1)},
                         here = {FP32, outputs, malloc(4 * outputs + 1)};
            struct task task = {.of = &of,
                                .out = here,
                                .method = m,
                                .accumulator = FP32,
                                .shape = method_shape(m, DEVICE_CPU, of.in.n, (struct shape){0})};
            struct problem p = {0};
            cr_assert(here.data && there.data && m->cpu(&task, &p) == STATUS_OK, "%s", p.text);
            task.out = there;
            on_trial = m;
            cr_assert_eq(run_there(&task, &p), STATUS_OK, "%s: %s", m->name, p.text);
            size_t differ = 0;
            for (size_t o = 0; o < outputs; o++)
                differ += format_canonical(FP32, array_bits(&there, o)) !=
                          format_canonical(FP32, array_bits(&here, o));
            cr_expect_eq(differ, 0, "%s, shape %zu: %zu outputs", m->name, k, differ);
            free(there.data);
            free(here.data);
        }
    free(room);
}

/* For sanitizers. */
Test(gpu_statistics, tour, .timeout = 300)
{
    hold_all(SHAPES);
}
