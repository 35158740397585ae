/* Dot products on a GPU, held to their CPU twins bit by bit, with products that are not the
 * elements of one array, however they are formed; to their theorem where there is no order. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "kernels/gpu/gpu.h"
#include "reference/measure/measure.h"
#include "tests/support/dots.h"
#include "tests/gpu/run.h"

static const struct shape shapes[] = {{0, 0},   {256, 3},  {1, 1},       {2, 5},     {31, 7},
                                      {33, 64}, {96, 200}, {1024, 1024}, {64, 65535}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Two arrays, here and there. */
struct two {
    struct array a, b;
    struct gpu_input *gpu;
    const char *what;
};

static struct two two_new(enum format f, size_t n)
{
    struct two t = {
        {f, n, malloc(array_bytes(f, n) + 1)}, {f, n, malloc(array_bytes(f, n) + 1)}, NULL, ""};
    cr_assert(t.a.data && t.b.data);
    return t;
}

static void upload(struct two *t, size_t offset, size_t second_offset)
{
    struct problem p = {0};
    cr_assert(gpu_upload(&t->gpu, 0, &t->a, offset, &p) == STATUS_OK &&
                  gpu_give(t->gpu, &(struct operands){.in2 = t->b}, OPERAND_IN2, second_offset,
                           &p) == STATUS_OK,
              "%s", p.text);
}

static void two_free(struct two *t)
{
    gpu_release(t->gpu);
    free(t->a.data);
    free(t->b.data);
}

static void hold_one(const struct two *t, const struct reference *r, const struct method *m,
                     enum product_kind how, enum format f, struct shape asked)
{
    char what[256];
    enum format s = t->a.format;
    size_t n = t->a.n;
    struct shape there = method_shape(m, DEVICE_CUDA, n, asked);
    snprintf(what, sizeof what, "%s %s/%s n=%zu T=%u B=%u products %s, %s", m->name,
             format_facts[s].name, format_facts[f].name, n, there.threads, there.blocks,
             product_name[how], t->what);
    struct task task = {.of = &(struct operands){.product = how},
                        .out.format = f,
                        .accumulator = f,
                        .shape = there,
                        .method = m};
    uint64_t got = gpu_run_same(t->gpu, m, &task, what), want = 0;
    if (m->order || m->promise >= PROMISE_ORDER_INVARIANT) {
        struct array out = {f, 1, &want};
        struct shape here = m->shape_order ? asked : (struct shape){0, 0};
        cr_assert(dot_run(m, how, &t->a, &t->b, f, here, &out) == STATUS_OK, "%s", what);
        want = format_canonical(f, want);
        cr_assert_eq(got, want, "%s: GPU %#" PRIx64 ", CPU %#" PRIx64, what, got, want);
        return;
    }
    /* Of libraries nothing is known at the ends of the range. */
    if (!m->cpu && strcmp(t->what, sample_name[SAMPLE_NEAR]) != 0)
        return;
    struct measure measured;
    struct theorem theorem = method_theorem(m, DEVICE_CUDA, f, n, there);
    measure(&measured, r, s, f, format_decode(f, got), &theorem);
    cr_assert(!measured.broken, "%s: %g off, the bound is %g", what, measured.err_abs.value,
              measured.bound.value);
}

/* Every method, way and accumulator, with the usual launch shape and every step-th of the others.
 */
static void hold_all(const struct two *t, size_t step)
{
    struct reference r;
    cr_assert(reference_compute_of(&r, EXACT_DOT, &t->a, &t->b, REFERENCE_FAST, NULL) == STATUS_OK);
    for (size_t i = 0; i < method_count; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (enum product_kind how = 1; how < PRODUCTS; how++) {
                const struct method *m = method_registry[i];
                bool slow = m->atomic || strcmp(m->name, "dot/serial") == 0;
                if (m->operation != &operation_dot || !(m->products & 1u << how) ||
                    (slow && t->a.n > 100000) || !method_supports(m, DEVICE_CUDA, t->a.format, f))
                    continue;
                for (size_t k = 0; k < SHAPES; k++)
                    if (k == 0 || (k + i + f + t->a.n) % step == 0)
                        hold_one(t, &r, m, how, f, shapes[k]);
            }
    reference_free(&r);
}

static void hold_samples(size_t n, size_t step)
{
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (enum sample k = 0; k < SAMPLES; k++) {
            struct two t = two_new(s, n);
            if (n > 3000 && (k + s) % 3 != 0) {
                two_free(&t);
                continue;
            }
            sample_fill(&t.a, k, (enum format)((s + n) % ACCUMULATORS), n + k);
            sample_fill(&t.b, n % 2 ? SAMPLE_NEAR : k, (enum format)((s + n) % ACCUMULATORS),
                        ~(n + k));
            t.what = sample_name[k];
            upload(&t, n % 3, k % 2);
            hold_all(&t, step);
            two_free(&t);
        }
}

Test(gpu_dot, short_lengths_agree, .timeout = 300)
{
    static const size_t lengths[] = {0,  1,   2,   3,   5,   31,  32,   33,
                                     65, 255, 256, 257, 511, 513, 1000, 1025};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        hold_samples(lengths[i], 3);
}

Test(gpu_dot, long_lengths_agree, .timeout = 300)
{
    static const size_t lengths[] = {2047, 2048, 2049, 4097, 8193, 16385, 65537};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        hold_samples(lengths[i], SHAPES);
}

/* 512 tiles have a block each; three levels of tiles begin at 2048 squared. */
Test(gpu_dot, great_lengths_agree, .timeout = 300)
{
    hold_samples((1 << 20) + 3, SHAPES);
    hold_samples((1 << 22) + 1, SHAPES);
}

/* Every input family, of one array and of two; products of any size. */
Test(gpu_dot, inputs_agree, .timeout = 300)
{
    enum { N = 5000 };
    for (size_t i = 0; i < input_family_count + pair_family_count; i++)
        for (enum format s = 0; s < ACCUMULATORS; s++) {
            const struct input_family *family =
                i < input_family_count ? input_families[i] : pair_families[i - input_family_count];
            struct input in;
            struct array whole = {s, 2 * N, malloc(array_bytes(s, 2 * N))};
            struct two t = two_new(s, N);
            cr_assert(whole.data && input_parse(&in, family->name, NULL) == STATUS_OK);
            bool there = input_generate_pair(&in, &whole, i, 0, NULL) == STATUS_OK;
            memcpy(t.a.data, whole.data, array_bytes(s, N));
            memcpy(t.b.data, (char *)whole.data + array_bytes(s, N), array_bytes(s, N));
            t.what = family->name;
            if (there) {
                upload(&t, i % 2, 0);
                hold_all(&t, SHAPES);
            }
            free(whole.data);
            two_free(&t);
        }
}

/* Doubles of any exponent: products from 2^-2148 to 2^2048. */
Test(gpu_dot, every_exponent_agrees, .timeout = 300)
{
    uint64_t seed = 9;
    for (int round = 0; round < 40; round++) {
        struct two t = two_new(FP64, (size_t)(1 + round * round * 3));
        for (size_t i = 0; i < t.a.n; i++)
            for (int side = 0; side < 2; side++) {
                uint64_t bits = sample_next(&seed), field = sample_next(&seed) % 2047;
                field = round % 3 == 2 ? (bits % 3 ? 0 : 2046) : field;
                array_set_bits(side ? &t.b : &t.a, i,
                               (bits & ~(UINT64_C(0x7ff) << 52)) | field << 52);
            }
        t.what = "any exponent";
        upload(&t, 0, 0);
        hold_all(&t, SHAPES);
        two_free(&t);
    }
}

Test(gpu_dot, one_array_is_not_enough)
{
    double x[2] = {1, 2};
    struct array a = {FP64, 2, x}, other = {FP32, 2, x};
    struct gpu_input *input = NULL;
    struct gpu_job *job = NULL;
    struct problem p = {0};
    struct task task = {.of = &(struct operands){.product = PRODUCT_ROUNDED},
                        .out.format = FP64,
                        .accumulator = FP64};
    cr_assert(gpu_upload(&input, 0, &a, 0, &p) == STATUS_OK, "%s", p.text);
    cr_expect(gpu_job_open(&job, input, method_named("dot/serial"), &task, &p) == STATUS_DEVICE &&
                  strstr(p.text, "reads a second input"),
              "%s", p.text);
    cr_expect(gpu_give(input, &(struct operands){.in2 = other}, OPERAND_IN2, 0, &p) ==
              STATUS_DEVICE);
    gpu_release(input);
}
