/* Methods on a GPU, held to their CPU twins bit by bit and to their theorems. Where there is no GPU
 * the program says so with exit status 77. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/gpu/gpu.h"
#include "reference/measure/measure.h"
#include "tests/support/holds.h"
#include "tests/support/samples.h"

static const struct shape shapes[] = {{0, 0},   {256, 3},  {1, 1},       {2, 5},     {31, 7},
                                      {33, 64}, {96, 200}, {1024, 1024}, {64, 65535}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Must its runs give the same bits? CUB documents that those of ReduceByKey do, but they are known
 * not to (kernels/cub/sum_by_key.c), which is no defect of ours. */
static bool is_repeatable(const struct method *m)
{
    return m->promise > PROMISE_NONE && strcmp(m->name, "cub/sum_by_key") != 0;
}

static bool is_ours(const struct method *m)
{
    return strncmp(m->name, "sum/", 4) == 0;
}

/* Does it begin from an element, or from -0? cuBLAS's sums and atomic additions begin from +0. */
static bool keeps_minus_zero(const struct method *m)
{
    return strncmp(m->name, "cublas/", 7) != 0 && strcmp(m->name, "cub/sum_not_guaranteed") != 0;
}

/* Runs a job `runs` times as one batch; all results must be one, which is returned. */
static uint64_t run_on_gpu(const struct gpu_input *input, const struct method *m, enum format f,
                           struct shape shape, size_t runs, const char *what)
{
    static struct hash128 bits[GPU_BATCH];
    static double time_ns[GPU_BATCH];
    struct problem p = {0};
    struct gpu_job *job = NULL;
    struct task task = {.of = &(struct operands){.product = m->product},
                        .out.format = f,
                        .accumulator = f,
                        .shape = shape};
    bool fine = gpu_job_open(&job, input, m, &task, &p) == STATUS_OK &&
                gpu_job_start(job, runs, &p) == STATUS_OK &&
                gpu_job_wait(job, bits, time_ns, &p) == STATUS_OK;
    gpu_job_close(job);
    cr_assert(fine, "%s: %s", what, p.text);
    for (size_t i = 1; i < runs && is_repeatable(m); i++)
        cr_assert_eq(bits[i].word[0], bits[0].word[0],
                     "%s: run %zu gave %#" PRIx64 ", the first %#" PRIx64, what, i, bits[i].word[0],
                     bits[0].word[0]);
    cr_assert(time_ns[0] > 0, "%s: time %g", what, time_ns[0]);
    return bits[0].word[0];
}

/* An array, here and there, `offset` elements off the alignment there. */
struct subject {
    struct array in;
    const struct gpu_input *input;
    enum sample kind;
    size_t offset;
};

static void describe(char what[256], const struct subject *on, const struct method *m,
                     enum format f, struct shape shape)
{
    snprintf(what, 256, "%s %s/%s n=%zu T=%u B=%u sample %s offset %zu", m->name,
             format_facts[on->in.format].name, format_facts[f].name, on->in.n, shape.threads,
             shape.blocks, sample_name[on->kind], on->offset);
}

/* The CPU twin's bits. */
static void hold_to_twin(const struct subject *on, const struct method *m, enum format f,
                         struct shape asked, size_t runs)
{
    char what[256];
    uint64_t want = 0;
    struct shape usual = {0, 0}, given = m->shape_order ? asked : usual;
    struct shape here = method_shape(m, DEVICE_CPU, on->in.n, given);
    struct shape there = method_shape(m, DEVICE_CUDA, on->in.n, asked);
    describe(what, on, m, f, there);
    cr_assert_eq(run_method_once(m, &on->in, f, here, &want), STATUS_OK, "%s", what);
    uint64_t got = run_on_gpu(on->input, m, f, there, runs, what);
    cr_assert_eq(got, want, "%s: GPU %#" PRIx64 ", CPU %#" PRIx64, what, got, want);
}

/* The order of the atomic methods is not known, but their theorem is. */
static void hold_to_theorem(const struct subject *on, const struct reference *r,
                            const struct method *m, enum format f)
{
    char what[256];
    struct shape shape = method_shape(m, DEVICE_CUDA, on->in.n, (struct shape){0, 0});
    struct theorem t = method_theorem(m, DEVICE_CUDA, f, on->in.n, shape);
    struct measure measured;
    describe(what, on, m, f, shape);
    double result = format_decode(f, run_on_gpu(on->input, m, f, shape, 3, what));
    measure(&measured, r, on->in.format, f, result, &t);
    cr_assert(!measured.broken, "%s: %a is %g off, the bound is %g", what, result,
              measured.err_abs.value, measured.bound.value);
    /* Zeros have no rounding to hide behind: -0 if all of them are -0, else +0. */
    bool zero = mpfr_zero_p(r->sum_abs), negative = mpfr_signbit(r->sum);
    bool same = result == 0 && (!signbit(result) == !negative || !keeps_minus_zero(m));
    cr_assert(!zero || same, "%s: %a of zeros", what, result);
    bool finite = result - result == 0;
    cr_assert(finite || on->kind != SAMPLE_NEAR, "%s: %a is not finite", what, result);
}

/* Is it a method that takes long over long inputs: one thread, or one accumulator for all? */
static bool is_slow(const struct method *m)
{
    return m->atomic || strcmp(m->name, "sum/serial") == 0;
}

/* Is the method to be held to its theorem on such samples? Of cuBLAS and of CUB's reproducible sum
 * nothing is known at the ends of the range (kernels/cublas/cublas.c, and sum_gpu_to_gpu.c of
 * kernels/cub). */
static bool is_bounded(const struct method *m, enum sample kind)
{
    bool unknown =
        strncmp(m->name, "cublas/", 7) == 0 || strcmp(m->name, "cub/sum_gpu_to_gpu") == 0;
    return !unknown || kind == SAMPLE_NEAR || kind == SAMPLE_TIES;
}

/* With the usual launch shape, and every shape_step-th of the others. */
static void hold_all_methods(const struct subject *on, size_t shape_step, size_t runs)
{
    struct reference r;
    cr_assert_eq(reference_compute(&r, &on->in, REFERENCE_FAST, NULL), STATUS_OK);
    for (size_t i = 0; i < method_count; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            const struct method *m = method_registry[i];
            if (m->operation != &operation_sum || (is_slow(m) && on->in.n > 100000) ||
                !method_supports(m, DEVICE_CUDA, on->in.format, f))
                continue;
            if (!m->cpu || (!m->order && m->promise < PROMISE_ORDER_INVARIANT)) {
                if (is_bounded(m, on->kind))
                    hold_to_theorem(on, &r, m, f);
            } else
                for (size_t s = 0; s < SHAPES; s++)
                    if (s == 0 || (s + i + f + on->kind + on->in.n) % shape_step == 0)
                        hold_to_twin(on, m, f, shapes[s], runs);
        }
    reference_free(&r);
}

/* Inputs of one length, in every storage format. */
static void hold_length(size_t n, enum sample kind, size_t offset, size_t shape_step, size_t runs)
{
    for (enum format s = 0; s < FORMATS; s++) {
        struct subject on = {{s, n, malloc(array_bytes(s, n) + 1)}, NULL, kind, offset};
        struct gpu_input *input = NULL;
        struct problem p = {0};
        cr_assert(on.in.data);
        sample_fill(&on.in, kind, (s + n) % ACCUMULATORS, n + kind);
        cr_assert_eq(gpu_upload(&input, 0, &on.in, offset, &p), STATUS_OK, "%s", p.text);
        on.input = input;
        hold_all_methods(&on, shape_step, runs);
        gpu_release(input);
        free(on.in.data);
    }
}

Test(gpu, short_lengths_agree)
{
    static const size_t lengths[] = {0,  1,   2,   3,   5,   31,  32,  33,   63,
                                     65, 127, 255, 256, 257, 511, 513, 1000, 1025};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (enum sample kind = 0; kind < SAMPLES; kind++)
            hold_length(lengths[i], kind, (i + kind) % 3, 3, 2);
}

Test(gpu, long_lengths_agree)
{
    static const size_t lengths[] = {2047, 2048,  2049,  4095,  4097,
                                     8193, 16384, 16385, 65537, 70001};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (enum sample kind = i % 3; kind < SAMPLES; kind += 3)
            hold_length(lengths[i], kind, (i + kind) % 2, SHAPES, 2);
}

/* 512 tiles have a block each; three levels of tiles begin at 2048 squared. */
Test(gpu, great_lengths_agree)
{
    hold_length((1 << 20) - 3, SAMPLE_TIES, 0, SHAPES, 2);
    hold_length((1 << 20) + 3, SAMPLE_WIDE, 0, SHAPES, 2);
    hold_length((1 << 22) + 1, SAMPLE_NEAR, 1, SHAPES, 2);
}

/* Magnitudes that rise from the smallest to the largest or fall, of either sign: sums in bins move
 * from bin to bin. Or, in one step, all elements alike, with all bits but one set: the sums of
 * lanes grow as fast as they can. */
static void fill_in_steps(const struct array *a, int steps, bool rising)
{
    const struct format_facts *facts = &format_facts[a->format];
    int range = facts->emax - facts->emin + facts->precision;
    for (size_t i = 0; i < a->n; i++) {
        size_t place = rising ? i : a->n - 1 - i, step = place * (size_t)steps / a->n;
        int e = facts->emin - facts->precision + 2 + (int)step * range / steps;
        if (steps == 1)
            e = facts->emax - 24;
        double x = ldexp(2 - 4 * facts->unit_roundoff, e - 1);
        array_encode(a, i, 1, &(double){steps > 1 && i % 3 == 0 ? -x : x});
    }
}

Test(gpu, sums_of_any_order_at_every_magnitude, .timeout = 120)
{
    static const int steps[] = {1, 2, 7, 300, 2000};
    enum { N = 40000 };
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (int k = 0; k < 10; k++) {
            struct subject on = {{s, N, malloc(array_bytes(s, N))}, NULL, SAMPLE_WIDE, k % 2};
            struct gpu_input *input = NULL;
            struct problem p = {0};
            cr_assert(on.in.data);
            fill_in_steps(&on.in, steps[k % 5], k < 5);
            cr_assert_eq(gpu_upload(&input, 0, &on.in, on.offset, &p), STATUS_OK, "%s", p.text);
            on.input = input;
            for (size_t i = 0; i < method_count; i++)
                for (enum format f = 0; f < ACCUMULATORS; f++)
                    if (method_registry[i]->operation == &operation_sum &&
                        method_registry[i]->promise >= PROMISE_ORDER_INVARIANT &&
                        method_supports(method_registry[i], DEVICE_CUDA, s, f))
                        for (size_t shape = 0; shape < 3; shape++) /* usual, some, one warp */
                            hold_to_twin(&on, method_registry[i], f, shapes[shape], 2);
            gpu_release(input);
            free(on.in.data);
        }
}

/* What blocks leave for each other must never look like nothing, whatever the input. */
Test(gpu, nan_of_all_ones_is_no_empty_place, .timeout = 120)
{
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct array in = {f, 70000, malloc(70000 * 8)};
        struct gpu_input *input = NULL;
        struct problem p = {0};
        cr_assert(in.data);
        memset(in.data, 0xff, array_bytes(f, in.n));
        cr_assert_eq(gpu_upload(&input, 0, &in, 0, &p), STATUS_OK, "%s", p.text);
        for (size_t k = 0; k < SHAPES * method_count; k++) {
            const struct method *m = method_registry[k / SHAPES];
            struct shape shape = method_shape(m, DEVICE_CUDA, in.n, shapes[k % SHAPES]);
            if (m->operation != &operation_sum || !m->cpu || m->promise < PROMISE_GPU_TO_GPU ||
                !method_supports(m, DEVICE_CUDA, f, f))
                continue;
            uint64_t bits = run_on_gpu(input, m, f, shape, 2, m->name);
            cr_assert_eq(bits, format_encode(f, NAN), "%s, %s: %#" PRIx64, m->name,
                         format_facts[f].name, bits);
        }
        gpu_release(input);
        free(in.data);
    }
}

/* A little of everything, for runs under a sanitizer. */
Test(gpu, tour)
{
    static const size_t lengths[] = {0, 1, 33, 1500, 6000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        hold_length(lengths[i], SAMPLE_NEAR, i % 2, SHAPES, 2);
}

/* Batches large enough to be launched as graphs, two of them under way. */
Test(gpu, batches_agree)
{
    enum { N = 5000, LARGE = 2 * 1024 + 77, SMALL = 3 };
    static struct hash128 bits[2][GPU_BATCH];
    static double data[N], time_ns[GPU_BATCH];
    struct array in = {FP16, N, data};
    struct gpu_input *input = NULL;
    struct problem p = {0};
    sample_fill(&in, SAMPLE_NEAR, FP32, 5);
    cr_assert_eq(gpu_upload(&input, 0, &in, 0, &p), STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (m->operation != &operation_sum || !method_supports(m, DEVICE_CUDA, FP16, FP32))
            continue;
        struct shape shape = method_shape(m, DEVICE_CUDA, N, (struct shape){0, 0});
        struct gpu_job *job = NULL;
        struct task task = {.out.format = FP32, .accumulator = FP32, .shape = shape};
        bool fine = gpu_job_open(&job, input, m, &task, &p) == STATUS_OK &&
                    gpu_job_start(job, SMALL, &p) == STATUS_OK &&
                    gpu_job_start(job, LARGE, &p) == STATUS_OK &&
                    gpu_job_wait(job, bits[0], time_ns, &p) == STATUS_OK &&
                    gpu_job_start(job, LARGE, &p) == STATUS_OK &&
                    gpu_job_wait(job, bits[1], time_ns, &p) == STATUS_OK &&
                    gpu_job_wait(job, bits[1], time_ns, &p) == STATUS_OK;
        gpu_job_close(job);
        cr_assert(fine, "%s: %s", m->name, p.text);
        for (size_t k = 0; k < LARGE && is_repeatable(m); k++)
            cr_assert_eq(bits[1][k].word[0], bits[0][0].word[0], "%s: run %zu of a large batch",
                         m->name, k);
        for (size_t k = 0; k < LARGE; k++)
            cr_assert_neq(bits[1][k].word[0], format_encode(FP32, NAN), "%s: run %zu wrote nothing",
                          m->name, k);
    }
    gpu_release(input);
}

/* Where the device's atomic additions flush subnormals, the theorem of the atomic methods says so;
 * where it says so, they do. */
Test(gpu, flushing_is_as_declared)
{
    for (size_t i = 0; i < method_count; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            const struct method *m = method_registry[i];
            if (!m->atomic || !is_ours(m) || !operation_plain(m->operation) ||
                !method_supports(m, DEVICE_CUDA, f, f))
                continue;
            uint64_t subnormal = 1, one = format_encode(f, 1);
            struct array in = {f, 1, &subnormal}, second = {f, 1, &one};
            struct gpu_input *input = NULL;
            struct problem p = {0};
            struct shape shape = method_shape(m, DEVICE_CUDA, 1, (struct shape){0, 0});
            cr_assert_eq(gpu_upload(&input, 0, &in, 0, &p), STATUS_OK, "%s", p.text);
            if (m->operation->inputs == 2)
                cr_assert_eq(gpu_give(input, &(struct operands){.in2 = second}, OPERAND_IN2, 0, &p),
                             STATUS_OK, "%s", p.text);
            bool flushed = run_on_gpu(input, m, f, shape, 1, m->name) != subnormal;
            bool declared = method_theorem(m, DEVICE_CUDA, f, 1, shape).flushing > 0;
            cr_expect_eq(flushed, declared, "%s in %s: %s, declared is that it %s", m->name,
                         format_facts[f].name, flushed ? "flushes" : "does not flush",
                         declared ? "does" : "does not");
            gpu_release(input);
        }
}

Test(gpu, failures_name_the_device)
{
    double data[1] = {1};
    struct array huge = {FP64, (size_t)1 << 44, data}, small = {FP64, 1, data};
    struct gpu_input *input = NULL;
    struct problem p = {0};
    cr_expect_eq(gpu_upload(&input, 0, &huge, 0, &p), STATUS_MEMORY);
    cr_expect(strstr(p.text, "device cuda:0: out of memory") && strstr(p.text, "140737488356352"),
              "%s", p.text);
    cr_expect_null(input);

    p = (struct problem){0};
    cr_expect_eq(gpu_upload(&input, 999, &small, 0, &p), STATUS_DEVICE);
    cr_expect(strstr(p.text, "cuda:999"), "%s", p.text);

    /* The device is as good as before. */
    p = (struct problem){0};
    cr_assert_eq(gpu_upload(&input, 0, &small, 0, &p), STATUS_OK, "%s", p.text);
    struct gpu_job *job = NULL;
    const struct method *cub = method_named("cub/sum");
    struct task task = {.out.format = FP16, .accumulator = FP16};
    cr_expect_eq(gpu_job_open(&job, input, cub, &task, &p), STATUS_DEVICE);
    cr_expect(strstr(p.text, "cub/sum"), "%s", p.text);
    double time_ns = 0;
    p = (struct problem){0};
    cr_expect_eq(gpu_raw_read(input, 1, 3, &time_ns, &p), STATUS_OK, "%s", p.text);
    cr_expect(time_ns > 0);
    gpu_release(input);
}

/* In a child, since a process that has used the device cannot pass it on to the tests'. */
static bool gpu_present(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(gpu_count(false) > 0 ? 0 : 1);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Criterion's workers find this program's own main by its name, and it must be this one: hidden, as
 * other functions are here, they would find the library's, and no test would run. */
__attribute__((visibility("default"))) int main(int argc, char **argv)
{
    if ((uintptr_t)dlsym(dlopen(NULL, RTLD_LAZY), "main") != (uintptr_t)main) {
        fputs("main is not to be found by its name: Criterion's workers cannot begin\n", stderr);
        return 1;
    }
    if (!gpu_present()) {
        puts("no GPU: tests skipped");
        return 77;
    }
    struct criterion_test_set *tests = criterion_initialize();
    int status = criterion_handle_args(argc, argv, true) && !criterion_run_all_tests(tests);
    criterion_finalize(tests);
    return status;
}
