/* Methods whose result is no matter of order, on a GPU: the bits of their CPU twins on every family
 * of inputs, those that defeat a certificate among them. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "tests/gpu/scan_runs.h"
#include "tests/support/halfway.h"

/* Scatter-adds, sums of rows and extrema have tests of their own. */
static bool is_ours(const struct method *m, enum format s, enum format f)
{
    return m->promise >= PROMISE_ORDER_INVARIANT && m->cpu && m->operation->inputs == 1 &&
           operation_plain(m->operation) && exact_facts[m->operation->of].form <= FORM_MOMENTS &&
           method_supports(m, DEVICE_CUDA, s, f);
}

static void hold_sum(const struct method *m, const struct array *in, const struct gpu_input *input,
                     enum format f, const char *name)
{
    struct problem p = {0};
    struct gpu_job *job = NULL;
    struct hash128 got[2];
    double time_ns[2];
    uint64_t want = 0;
    struct task task = {.out.format = f, .accumulator = f};
    task.shape = method_shape(m, DEVICE_CUDA, in->n, (struct shape){0, 0});
    cr_assert(gpu_job_open(&job, input, m, &task, &p) == STATUS_OK &&
                  gpu_job_start(job, 2, &p) == STATUS_OK &&
                  gpu_job_wait(job, got, time_ns, &p) == STATUS_OK,
              "%s: %s", m->name, p.text);
    gpu_job_close(job);
    struct shape here = method_shape(m, DEVICE_CPU, in->n, (struct shape){0, 0});
    cr_assert_eq(run_method_once(m, in, f, here, &want), STATUS_OK, "%s", m->name);
    for (int i = 0; i < 2; i++)
        cr_expect_eq(got[i].word[0], want,
                     "%s, %s in %s, %s, n = %zu, run %d: GPU %#" PRIx64 ", CPU %#" PRIx64, m->name,
                     format_facts[in->format].name, format_facts[f].name, name, in->n, i + 1,
                     got[i].word[0], want);
}

static void hold_scan(const struct method *m, const struct array *in, const struct gpu_input *input,
                      enum format f, unsigned variant, const char *name)
{
    char why[WHY] = "";
    struct scan_case c = {.in = *in,
                          .accumulator = f,
                          .output = variant / 2 % 2 ? in->format : f,
                          .exclusive = variant % 2};
    cr_expect(gpu_scan_hold(m, &c, input, 2, why), "%s: %s", name, why);
}

/* A family need not have a member of this size in this format. */
static size_t hold_family(const struct input_family *family, enum format s, size_t n, double *data)
{
    struct array in = {s, n, data};
    struct input input;
    struct gpu_input *there = NULL;
    struct problem p = {0};
    size_t held = 0;
    cr_assert_eq(input_parse(&input, family->name, &p), STATUS_OK, "%s", p.text);
    if (input_generate(&input, &in, n, 0, NULL) != STATUS_OK)
        return 0;
    cr_assert_eq(gpu_upload(&there, 0, &in, n % 2, &p), STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < method_count; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            const struct method *m = method_registry[i];
            if (!is_ours(m, s, f))
                continue;
            if (m->operation == &operation_scan)
                hold_scan(m, &in, there, f, (unsigned)(n + s + f), family->name);
            else
                hold_sum(m, &in, there, f, family->name);
            held++;
        }
    gpu_release(there);
    return held;
}

static void hold_length(size_t n)
{
    double *data = malloc(n * sizeof *data);
    size_t held = 0;
    cr_assert(data);
    for (size_t i = 0; i < input_family_count; i++)
        for (enum format s = 0; s < ACCUMULATORS; s++)
            held += hold_family(input_families[i], s, n, data);
    cr_expect(held > 8 * input_family_count, "only %zu cases", held);
    free(data);
}

Test(gpu_exact, a_few_tiles)
{
    hold_length(3 * 4096 + 77);
}

Test(gpu_exact, many_blocks)
{
    hold_length((1 << 20) + 4098);
}

/* The certificate of sum/exact may not hold where the digits that decide are far below the rest.
 * Sums of `digits` digits and more are held to: narrower accumulators round them. */
static void hold_halfway(enum format s, size_t n, int below, bool tells)
{
    static const int digits[ACCUMULATORS] = {[FP16] = 12, [BF16] = 9, [FP32] = 25, [FP64] = 25};
    struct array in = {s, n, malloc(array_bytes(s, n))};
    struct gpu_input *there = NULL;
    struct problem p = {0};
    cr_assert(in.data);
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        if (!halfway_fill(&in, f, below, tells, n + (size_t)below)) {
            cr_expect(format_facts[f].precision >= digits[s], "no case of %s in %s, n = %zu",
                      format_facts[s].name, format_facts[f].name, n);
            continue;
        }
        cr_assert_eq(gpu_upload(&there, 0, &in, 0, &p), STATUS_OK, "%s", p.text);
        hold_sum(method_named("sum/exact"), &in, there, f, tells ? "half-way" : "beside half-way");
        gpu_release(there);
    }
    free(in.data);
}

Test(gpu_exact, halfway)
{
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (int below = 0; below <= (s == FP16 ? 4 : 100); below += below < 8 ? 1 : 23)
            for (int tells = 0; tells < 2; tells++)
                hold_halfway(s, 70000 + 65536 * (size_t)(below % 3), below, tells);
}

/* A little, for runs under a sanitizer. */
Test(gpu_exact, tour)
{
    hold_length(5000);
}
