/* Matrix products on a GPU, every bit of D held to the CPU twin; and a tour that launches every
 * kernel of theirs once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/mma/mma.h"
#include "tests/gpu/products.h"

/* Of all layouts in turn. */
static const struct gemm_shape shapes[] = {
    {.m = 1, .n = 1, .k = 1},       {.m = 1, .n = 1, .k = 0},     {.m = 2, .n = 3, .k = 5},
    {.m = 17, .n = 33, .k = 31},    {.m = 64, .n = 8, .k = 32},   {.m = 65, .n = 129, .k = 130},
    {.m = 1, .n = 300, .k = 257},   {.m = 300, .n = 1, .k = 129}, {.m = 128, .n = 256, .k = 64},
    {.m = 130, .n = 260, .k = 200}, {.m = 5, .n = 7, .k = 2050},  {.m = 0, .n = 3, .k = 4},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static struct gemm_shape shape_of(size_t i, size_t turn)
{
    struct gemm_shape s = shapes[i];
    s.a_column = turn & 1;
    s.b_column = turn & 2;
    s.pad = turn % 3;
    s.no_c = turn % 4 == 3;
    return s;
}

/* Every pair of formats, in every shape; samples, layouts, offsets and intervals take turns. */
static void hold_method(const char *name, bool every_sample)
{
    const struct method *m = method_named(name);
    size_t turn = 0, held = 0;
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (size_t i = 0; i < SHAPES && method_supports(m, DEVICE_CUDA, s, f); i++) {
                const struct gemm_shape shape = shape_of(i, turn++);
                const bool small = shape.m * shape.n * shape.k < 40000;
                struct gpu_product on = gpu_product_new(&shape, s, f, turn % 5 == 0 ? s : f);
                on.method = m;
                for (size_t k = 0; k < (every_sample && small ? SAMPLES : 2); k++) {
                    static const size_t every[] = {128, 32, 16, 100, 1, 1000};
                    on.of.promote = m->promotes ? every[(turn + k) % 6] : 0;
                    gpu_product_fill(&on, (enum sample)((turn + k) % SAMPLES), turn * 64 + k);
                    gpu_product_hold(&on, (turn + k) % 2, 1 + (unsigned)((turn + k) % 7));
                    held++;
                }
                gpu_product_free(&on);
            }
    cr_expect(held > 10, "%s: %zu", name, held);
}

Test(gpu_gemm, serial_agrees, .timeout = 300)
{
    hold_method("gemm/serial", true);
}

Test(gpu_gemm, tiled_agrees, .timeout = 300)
{
    hold_method("gemm/tiled", true);
}

Test(gpu_gemm, split_k_agrees, .timeout = 300)
{
    hold_method("gemm/split_k", true);
}

Test(gpu_gemm, exact_agrees, .timeout = 300)
{
    hold_method("gemm/exact", true);
}

/* 1 + 2^-53 is a tie that 2^-110 decides, which no double beside it holds: such elements are summed
 * in fixed point, and stand among others that are not. */
Test(gpu_gemm, exact_decides_ties)
{
    const struct gemm_shape shape = {.m = 67, .n = 70, .k = 3, .b_column = true, .no_c = true};
    struct gpu_product s = gpu_product_new(&shape, FP64, FP64, FP64);
    struct array out = {FP64, s.of.bins, calloc(s.of.bins, sizeof(double))};
    double *in = s.of.in.data;
    s.method = method_named("gemm/exact");
    s.what = "ties";
    cr_assert(out.data);
    for (size_t i = 0; i < shape.m; i++)
        for (size_t k = 0; k < 3; k++)
            in[gemm_a_at(&shape, i, k)] = i % 2 ? -1 : 1;
    for (size_t j = 0; j < shape.n; j++) {
        in[gemm_b_at(&shape, 0, j)] = 1;
        in[gemm_b_at(&shape, 1, j)] = j % 3 ? 0x1p-53 : 0x1p-54;
        in[gemm_b_at(&shape, 2, j)] = j % 2 ? -0x1p-110 : 0x1p-110;
    }
    gpu_product_hold(&s, 0, 1);
    cr_assert(gpu_product_run(&s, 0, (struct shape){0}, &out));
    for (size_t i = 0; i < out.n; i++) {
        const size_t j = i % shape.n;
        const double expected = j % 3 && j % 2 == 0 ? 1 + 0x1p-52 : 1;
        const double found = array_get(&out, i) * (i / shape.n % 2 ? -1 : 1);
        cr_expect(found == expected, "element %zu: %a, expected %a", i, found, expected);
    }
    free(out.data);
    gpu_product_free(&s);
}

/* The instruction itself and its model on the CPU. */
Test(gpu_gemm, mma_agrees, .timeout = 300)
{
    hold_method("gemm/mma", true);
}

Test(gpu_gemm, wgmma_agrees, .timeout = 300)
{
    hold_method("gemm/wgmma", true);
}

Test(gpu_gemm, promoted_agrees, .timeout = 300)
{
    hold_method("gemm/promoted", true);
}

/* D of whole tiles, which wgmma's kernels write themselves, in both formats. */
Test(gpu_gemm, whole_tiles_agree, .timeout = 300)
{
    static const char *const names[] = {"gemm/wgmma", "gemm/promoted"};
    for (size_t i = 0; i < 2; i++)
        for (enum format s = 0; s < FORMATS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (size_t k = 0; k < 2 * SAMPLES; k++) {
                    const struct method *m = method_named(names[i]);
                    struct gemm_shape shape = {.m = 128, .n = 256, .k = 72, .b_column = k & 1};
                    if (!method_supports(m, DEVICE_CUDA, s, f))
                        continue;
                    struct gpu_product on = gpu_product_new(&shape, s, f, k < SAMPLES ? f : s);
                    on.method = m;
                    on.of.promote = m->promotes ? 32 : 0;
                    gpu_product_fill(&on, (enum sample)(k % SAMPLES), k);
                    gpu_product_hold(&on, 0, 1);
                    gpu_product_free(&on);
                }
}

/* One line where the chip asked for is another. */
Test(gpu_gemm, other_chips_are_refused)
{
    struct gpu_input *input = NULL;
    struct gpu_job *job = NULL;
    struct problem p = {0};
    const struct gemm_shape shape = {.m = 16, .n = 8, .k = 16};
    struct gpu_product s = gpu_product_new(&shape, FP16, FP32, FP32);
    struct task task = {.of = &s.of, .out.format = FP32, .accumulator = FP32};
    gpu_product_fill(&s, SAMPLE_NEAR, 1);
    s.of.chip = "v100";
    cr_assert(gpu_upload(&input, 0, &s.of.in, 0, &p) == STATUS_OK, "%s", p.text);
    cr_expect(gpu_job_open(&job, input, method_named("gemm/mma"), &task, &p) == STATUS_DEVICE);
    cr_expect(!job && strstr(p.text, "v100") && strstr(p.text, "7.0"), "%s", p.text);
    gpu_release(input);
    gpu_product_free(&s);
}

/* Whatever the order, sums of units are exact; the least of fp32's numbers, which atomic additions
 * flush, do not arise. */
Test(gpu_gemm, split_k_atomic_agrees_where_sums_are_exact, .timeout = 300)
{
    const struct method *m = method_named("gemm/split_k_atomic");
    size_t turn = 0;
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (size_t i = 0; i < SHAPES; i++) {
                const struct gemm_shape shape = shape_of(i, turn++);
                struct gpu_product on = gpu_product_new(&shape, s, f, turn % 5 == 0 ? s : f);
                if (shape.k < 256) {
                    on.method = m;
                    gpu_product_units(&on, turn);
                    gpu_product_hold(&on, turn % 2, 1 + (unsigned)(turn % 7));
                }
                gpu_product_free(&on);
            }
}

/* May the library have nothing for a shape: no second choice, no
 * emulation on this chip? */
static bool may_refuse(const struct method *m)
{
    static const char *const names[] = {"cublaslt/product_16_second", "cublaslt/product_emulated"};
    return m == method_named(names[0]) || m == method_named(names[1]);
}

/* cuBLAS and cuBLASLt likewise: they multiply what they are asked to, in every layout, with C and
 * without. */
Test(gpu_gemm, cublas_agrees_where_sums_are_exact, .timeout = 300)
{
    size_t turn = 0;
    for (size_t k = 0; k < method_count; k++) {
        size_t refused = 0, held = 0;
        for (enum format s = 0; s < FORMATS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (size_t i = 0; i < SHAPES; i++) {
                    const struct gemm_shape shape = shape_of(i, turn++);
                    const struct method *m = method_registry[k];
                    if (m->operation != &operation_gemm || m->cpu || shape.k >= 256 ||
                        !method_supports(m, DEVICE_CUDA, s, f))
                        continue;
                    struct gpu_product on = gpu_product_new(&shape, s, f, turn % 5 == 0 ? s : f);
                    on.method = m;
                    on.twin = method_named("gemm/serial");
                    gpu_product_units(&on, turn);
                    if (gpu_product_hold(&on, turn % 2, 1))
                        held++;
                    else
                        refused++;
                    gpu_product_free(&on);
                }
        cr_expect(refused == 0 || may_refuse(method_registry[k]), "%s: %zu of %zu not supported",
                  method_registry[k]->name, refused, refused + held);
        if (refused > 0)
            fprintf(stderr, "%s: %zu of %zu not supported\n", method_registry[k]->name, refused,
                    refused + held);
    }
}

/* Whatever the heuristic is asked for, what then runs multiplies what it is asked to. It may name
 * fewer algorithms than are asked for, but not none. */
Test(gpu_gemm, each_algorithm_agrees_where_sums_are_exact, .timeout = 300)
{
    static const size_t workspace[] = {0, 1 << 20, 32 << 20};
    static const char *const names[] = {"cublaslt/product_16", "cublaslt/product",
                                        "cublaslt/product_8"};
    static const enum format storage[] = {FP16, FP32, E4M3};
    size_t turn = 0;
    for (size_t k = 0; k < 3; k++) {
        size_t refused = 0, held = 0;
        for (size_t i = 3; i < SHAPES; i++)
            for (size_t a = 0; a < HEURISTIC_NAMES; a++) {
                const struct gemm_shape shape = shape_of(i, turn++);
                if (shape.m * shape.n == 0 || shape.k >= 256)
                    continue;
                struct gpu_product on = gpu_product_new(&shape, storage[k], FP32, FP32);
                on.method = method_named(names[k]);
                on.twin = method_named("gemm/serial");
                heuristic_workspace(&on.of.heuristic, workspace[turn % 3]);
                heuristic_algorithm(&on.of.heuristic, a);
                gpu_product_units(&on, turn);
                const bool ran = gpu_product_hold(&on, turn % 2, 1);
                cr_expect(ran || a > 0, "%s: no algorithm for shape %zu", names[k], i);
                held += ran;
                refused += !ran;
                gpu_product_free(&on);
            }
        cr_expect(held > 0, "%s", names[k]);
        fprintf(stderr, "%s: algorithms 0 to 7: %zu of %zu not supported\n", names[k], refused,
                refused + held);
    }
}

/* What an option asks for is what a method of its own asks for: the same bits. */
Test(gpu_gemm, heuristics_are_asked_for_what_names_say)
{
    static const struct {
        const char *name, *other;
        struct heuristic asked;
    } same[] = {
        {"cublaslt/product_16", "cublaslt/product_16", {true, true, 32 << 20, 0}},
        {"cublaslt/product_16_no_workspace", "cublaslt/product_16", {.has_workspace = true}},
        {"cublaslt/product_16_second", "cublaslt/product_16", {false, true, 0, 1}},
    };
    const struct gemm_shape shape = {.m = 64, .n = 64, .k = 8192, .b_column = true, .no_c = true};
    struct gpu_product s = gpu_product_new(&shape, FP16, FP32, FP32);
    struct array is[2];
    for (size_t k = 0; k < 2; k++)
        is[k] = (struct array){FP32, s.of.bins, calloc(s.of.bins, sizeof(float))};
    cr_assert(is[0].data && is[1].data);
    gpu_product_fill(&s, SAMPLE_NEAR, 7);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        s.method = method_named(same[i].name);
        s.of.heuristic = (struct heuristic){0};
        const bool ran = gpu_product_run(&s, 0, (struct shape){0}, &is[0]);
        s.method = method_named(same[i].other);
        s.of.heuristic = same[i].asked;
        cr_expect_eq(gpu_product_run(&s, 0, (struct shape){0}, &is[1]), ran, "%s", same[i].name);
        cr_expect(!ran || memcmp(is[0].data, is[1].data, s.of.bins * sizeof(float)) == 0, "%s",
                  same[i].name);
    }
    free(is[0].data);
    free(is[1].data);
    gpu_product_free(&s);
}

/* Shapes of many tiles, with all that lies within them. */
Test(gpu_gemm, large_ones_agree, .timeout = 300)
{
    static const struct gemm_shape large[] = {{.m = 400, .n = 300, .k = 1000, .a_column = true},
                                              {.m = 257, .n = 513, .k = 512, .b_column = true}};
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        size_t turn = i;
        if (m->operation != &operation_gemm || !m->cpu || m->promise == PROMISE_NONE)
            continue;
        for (enum format s = 0; s < FORMATS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++) {
                /* Others than these are slow on the CPU. */
                if (!method_supports(m, DEVICE_CUDA, s, f) || (!m->of_chip && f != FP32) ||
                    (s == FP64 && f == FP32))
                    continue;
                struct gpu_product on = gpu_product_new(&large[turn++ % 2], s, f, f);
                on.method = m;
                on.of.promote = m->promotes ? 128 : 0;
                gpu_product_fill(&on, SAMPLE_NEAR, turn);
                gpu_product_hold(&on, turn % 2, 5);
                gpu_product_free(&on);
            }
    }
}

/* Every kernel once, for compute-sanitizer: each pair of formats, each layout, D in both formats,
 * sides and k that are no multiples of a tile or an instruction. */
Test(gpu_gemm, tour, .timeout = 300)
{
    for (size_t i = 0; i < method_count; i++)
        for (enum format s = 0; s < FORMATS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++) {
                const struct method *m = method_registry[i];
                if (m->operation != &operation_gemm || !m->cpu ||
                    !method_supports(m, DEVICE_CUDA, s, f))
                    continue;
                struct gemm_shape shape = {.m = 37, .n = 43, .k = 83, .pad = 1};
                shape.a_column = (s + f) & 1;
                shape.b_column = s & 1;
                struct gpu_product on = gpu_product_new(&shape, s, f, f == FP32 ? s : f);
                on.method = m;
                on.of.promote = m->promotes ? 40 : 0;
                gpu_product_units(&on, s * 8 + f);
                gpu_product_hold(&on, 1, 3);
                gpu_product_free(&on);
            }
}
