/* Products of scaled matrices of 8 bits on a GPU, every bit of D held to the CPU twin: of scales of
 * each kind, made or from files, and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/products.h"

/* How scales are dealt. Those from files differ between A and B, and need not change with blocks.
 */
enum dealt { WHOLE, OUTER, BLOCKS, FILES, DEALT };
static const char *const dealt_name[DEALT] = {"one scale each", "scales of rows and columns",
                                              "scales of blocks", "scales from files"};

/* Near one; of any size, so that sums of fp32 overflow and underflow; or powers of two near one. */
enum size { NEAR, WIDE, POWERS, SIZES };

static const struct gemm_shape shapes[] = {
    {.m = 1, .n = 1, .k = 1},       {.m = 2, .n = 3, .k = 0},       {.m = 17, .n = 33, .k = 31},
    {.m = 65, .n = 129, .k = 130},  {.m = 1, .n = 300, .k = 257},   {.m = 300, .n = 1, .k = 129},
    {.m = 128, .n = 128, .k = 256}, {.m = 130, .n = 140, .k = 200}, {.m = 5, .n = 7, .k = 1100},
    {.m = 129, .n = 9, .k = 640}};
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

static float scale_drawn(enum size size, uint64_t *seed)
{
    const uint64_t bits = sample_next(seed);
    const float near = size == POWERS ? 1 : 1 + (float)(bits % (1 << 23)) * 0x1p-23f;
    return ldexpf(near, (int)(bits >> 40) % (size == WIDE ? 181 : 7) - (size == WIDE ? 90 : 3));
}

/* What an operand's scales need beside it. */
struct scales {
    float *of;
    struct matrices_scales given[2];
};

static void deal(struct gpu_product *s, struct scales *to, enum dealt dealt, enum size size,
                 uint64_t seed)
{
    static const size_t most = (size_t)-1, lines[] = {1, 128, (size_t)-1};
    struct gemm_shape *g = &s->of.gemm;
    g->scaling = dealt == WHOLE   ? GEMM_SCALED
                 : dealt == OUTER ? GEMM_SCALED_OUTER
                                  : GEMM_SCALED_BLOCKS;
    for (int side = 0; side < 2 && dealt == FILES; side++) {
        const bool along = (seed >> side) % 3 != 1;
        to->given[side] =
            (struct matrices_scales){.lines = lines[(seed / 3 + (size_t)side) % 3],
                                     .terms = along ? 128 : most,
                                     .along = along && g->k > 0 ? (g->k - 1) / 128 + 1 : 1};
    }
    g->given = dealt == FILES ? to->given : NULL;
    const size_t of_a = gemm_scales_count(g, 0), all = of_a + gemm_scales_count(g, 1);
    to->of = malloc((all + 1) * sizeof *to->of);
    cr_assert(to->of);
    for (size_t i = 0; i < all; i++)
        to->of[i] = scale_drawn(size, &seed);
    to->given[0].of = to->of;
    to->given[1].of = to->of + of_a;
    s->of.scales = to->of;
    for (int side = 0; side < 2 && dealt == WHOLE; side++)
        g->scale[side] = scale_drawn(size, &seed);
}

/* One product, held to the CPU's. */
static void hold_one(const struct method *m, const struct gemm_shape *shape, enum format storage,
                     enum format accumulator, enum dealt dealt, size_t turn)
{
    static const size_t every[] = {128, 32, 64, 0, 1, 48};
    struct scales scales = {0};
    struct gpu_product on =
        gpu_product_new(shape, storage, accumulator, turn % 5 == 0 ? storage : accumulator);
    on.method = m;
    on.of.promote = m->promotes ? every[turn % (dealt < BLOCKS ? 6 : 5)] : 0;
    gpu_product_fill(&on, (enum sample)(turn % SAMPLES), turn);
    deal(&on, &scales, dealt, (enum size)(turn / 2 % SIZES), turn);
    on.what = dealt_name[dealt];
    gpu_product_hold(&on, turn % 2, 1 + (unsigned)(turn % 7));
    free(scales.of);
    gpu_product_free(&on);
}

/* Both formats of A and B and every accumulator, in every shape; samples, sizes of scales, layouts
 * and intervals take turns. */
static void hold_method(const char *name)
{
    const struct method *m = method_named(name);
    size_t turn = 0, held = 0;
    for (enum format s = E4M3; s <= E5M2; s++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (enum dealt d = WHOLE; d < DEALT; d++)
                for (size_t i = 0; i < SHAPES; i++, turn++) {
                    const struct gemm_shape shape = shape_of(i, turn);
                    if (!method_supports(m, DEVICE_CUDA, s, f) || (d >= BLOCKS && !m->parts))
                        continue;
                    hold_one(m, &shape, s, f, d, turn);
                    held++;
                }
    cr_expect(held >= 2 * SHAPES, "%s: %zu", name, held);
}

Test(gpu_gemm_scales, serial_agrees, .timeout = 300)
{
    hold_method("gemm/serial");
}

Test(gpu_gemm_scales, tiled_agrees, .timeout = 300)
{
    hold_method("gemm/tiled");
}

Test(gpu_gemm_scales, split_k_agrees, .timeout = 300)
{
    hold_method("gemm/split_k");
}

Test(gpu_gemm_scales, exact_agrees, .timeout = 300)
{
    hold_method("gemm/exact");
}

Test(gpu_gemm_scales, mma_agrees, .timeout = 300)
{
    hold_method("gemm/mma");
}

Test(gpu_gemm_scales, wgmma_agrees, .timeout = 300)
{
    hold_method("gemm/wgmma");
}

Test(gpu_gemm_scales, promoted_agrees, .timeout = 300)
{
    hold_method("gemm/promoted");
}

/* Of whole tiles, and of many. */
Test(gpu_gemm_scales, large_ones_agree, .timeout = 300)
{
    static const char *const names[] = {"gemm/tiled", "gemm/exact", "gemm/wgmma", "gemm/promoted"};
    static const struct gemm_shape large[] = {{.m = 256, .n = 256, .k = 512, .b_column = true},
                                              {.m = 300, .n = 400, .k = 700, .a_column = true}};
    size_t turn = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (enum dealt d = WHOLE; d < DEALT; d++, turn++) {
            const struct method *m = method_named(names[i]);
            if (d < BLOCKS || m->parts)
                hold_one(m, &large[turn % 2], E4M3, FP32, d, 7 * turn); /* SAMPLE_NEAR */
        }
}

/* Sums of units times powers of two are exact in any order, of atomic additions and of libraries,
 * which take one scale of each matrix. */
Test(gpu_gemm_scales, others_agree_where_sums_are_exact, .timeout = 300)
{
    size_t turn = 0, held = 0;
    for (size_t k = 0; k < method_count; k++)
        for (enum format s = E4M3; s <= E5M2; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (size_t i = 0; i < 2 * SHAPES; i++, turn++) {
                    const struct method *m = method_registry[k];
                    const struct gemm_shape shape = shape_of(i / 2, turn);
                    const enum dealt dealt = i % 2 && !m->whole_scales ? OUTER : WHOLE;
                    struct scales scales = {0};
                    if (m->operation != &operation_gemm || m->promise > PROMISE_NONE ||
                        shape.k >= 256 || !method_supports(m, DEVICE_CUDA, s, f))
                        continue;
                    /* What 8 bits cannot hold is NaN here, and the largest number elsewhere. */
                    const bool narrow = turn % 5 == 0 && !m->whole_scales;
                    struct gpu_product on = gpu_product_new(&shape, s, f, narrow ? s : f);
                    on.method = m;
                    on.twin = method_named("gemm/serial");
                    gpu_product_units(&on, turn);
                    deal(&on, &scales, dealt, POWERS, turn);
                    on.what = dealt_name[dealt];
                    cr_expect(gpu_product_hold(&on, turn % 2, 1 + (unsigned)(turn % 7)),
                              "%s: not supported", m->name);
                    held++;
                    free(scales.of);
                    gpu_product_free(&on);
                }
    cr_expect(held > 50, "%zu", held);
}

/* One line, of what a method does not take. */
static void refused(const char *name, enum dealt dealt, size_t promote, const char *words)
{
    struct gpu_input *input = NULL;
    struct gpu_job *job = NULL;
    struct problem p = {0};
    struct scales scales = {0};
    const struct gemm_shape shape = {.m = 16, .n = 16, .k = 160, .b_column = true};
    struct gpu_product s = gpu_product_new(&shape, E4M3, FP32, FP32);
    struct task task = {.of = &s.of, .out.format = FP32, .accumulator = FP32};
    gpu_product_units(&s, 1);
    deal(&s, &scales, dealt, NEAR, 0);
    s.of.promote = promote;
    cr_assert(gpu_upload(&input, 0, &s.of.in, 0, &p) == STATUS_OK, "%s", p.text);
    cr_expect(gpu_job_open(&job, input, method_named(name), &task, &p) == STATUS_DEVICE, "%s",
              name);
    cr_expect(!job && strstr(p.text, name) && strstr(p.text, words), "%s", p.text);
    gpu_release(input);
    free(scales.of);
    gpu_product_free(&s);
}

Test(gpu_gemm_scales, methods_refuse_what_they_do_not_take)
{
    refused("gemm/serial", BLOCKS, 0, "do not change along k");
    refused("gemm/wgmma", BLOCKS, 0, "do not change along k");
    refused("gemm/promoted", BLOCKS, 48, "a divisor of 128");
    if (method_cuda(method_named("cublaslt/product_8")))
        refused("cublaslt/product_8", OUTER, 0, "one scale of each");
}

/* Every kernel once, for compute-sanitizer, where no side nor k is a multiple of a tile. */
Test(gpu_gemm_scales, tour, .timeout = 300)
{
    const struct gemm_shape shape = {.m = 37, .n = 43, .k = 283, .pad = 1, .a_column = true};
    size_t turn = 0;
    for (size_t i = 0; i < method_count; i++)
        for (enum format s = E4M3; s <= E5M2; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (enum dealt d = OUTER; d < DEALT; d++, turn++) {
                    const struct method *m = method_registry[i];
                    if (m->operation == &operation_gemm && m->cpu && m->promise > PROMISE_NONE &&
                        method_supports(m, DEVICE_CUDA, s, f) && (d == OUTER || m->parts))
                        hold_one(m, &shape, s, f, d, turn);
                }
}
