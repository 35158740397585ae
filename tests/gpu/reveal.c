/* Every deterministic method's GPU side reveals the order that it declares. */
#include <criterion/criterion.h>

#include "kernels/scan/tiled.h"
#include "kernels/blocks/tiled.h"
#include "tests/support/holds_scan.h"
#include "tests/support/reveals.h"

static const struct device gpu = {DEVICE_CUDA, 0};

static const struct {
    enum format storage, accumulator;
} pairs[] = {{FP32, FP32}, {FP64, FP64}, {FP16, FP16}, {BF16, BF16},
             {FP16, FP32}, {BF16, FP32}, {FP32, FP64}, {FP64, FP32}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* Do masks show its order? Else it takes one call for an element, and many for a tree. */
static bool is_plain(const struct method *m)
{
    return m->bound == THEOREM_TREE || m->bound == THEOREM_WIDENED || !m->order;
}

static bool counting; /* cases, without a question */

static void hold(const struct method *m, size_t n, size_t pair, struct shape shape, size_t *held)
{
    static uint8_t heads[1 << 14];
    char why[WHY];
    struct scan_variant variant[SCAN_VARIANTS] = {{0}};
    bool scan = m->operation == &operation_scan;
    size_t variants = scan ? scan_variants(m, variant) : 1;
    struct reveal_case c = {.spec = {.method = m,
                                     .device = gpu,
                                     .storage = pairs[pair].storage,
                                     .accumulator = pairs[pair].accumulator,
                                     .output = pairs[pair].accumulator,
                                     .n = n,
                                     .shape = shape},
                            .prefix = n - 1};
    if (!operation_plain(m->operation) || !reveal_can_ask(m) ||
        !method_supports(m, DEVICE_CUDA, c.spec.storage, c.spec.accumulator))
        return;
    for (size_t v = 0; v < variants && (v < 3 || n < 100); v++)
        for (int last = 0; last < 1 + scan; last++) {
            c.prefix = last == scan ? n - 1 : n / 2;
            c.spec.exclusive = variant[v].exclusive;
            c.spec.heads = scan ? scan_heads(&variant[v], heads, n, n) : NULL;
            cr_expect(counting || reveals_right(&c, why), "%s", why);
            ++*held;
        }
}

/* A share of the methods: tests run side by side. */
enum { SHARES = 8 };

static size_t hold_short(size_t share)
{
    static const size_t lengths[] = {2, 3, 33, 100};
    static const struct shape shapes[] = {{0, 0}, {64, 3}, {33, 1}};
    size_t held = 0;
    for (size_t i = share; i < method_count; i += SHARES)
        for (size_t pair = 0; pair < PAIRS; pair++)
            for (size_t k = 0; k < 4; k++) {
                const struct method *m = method_registry[i];
                struct shape shape = k > 0 ? shapes[(i + pair + k) % 3] : shapes[0];
                hold(m, lengths[k], pair, shape, &held);
            }
    return held;
}
#define SHORT_ORDERS(share)                                                                        \
    Test(gpu_reveal, short_orders_##share)                                                         \
    {                                                                                              \
        (void)hold_short(share);                                                                   \
    }
SHORT_ORDERS(0)
SHORT_ORDERS(1)
SHORT_ORDERS(2)
SHORT_ORDERS(3)
SHORT_ORDERS(4)
SHORT_ORDERS(5)
SHORT_ORDERS(6)
SHORT_ORDERS(7)

static size_t hold_tiles(size_t share)
{
    static const size_t sums[] = {600, TILE + 1, 2 * TILE + 300},
                        scans[] = {600, SCAN_TILE / 2 + 5, SCAN_TILE + 1};
    size_t held = 0;
    for (size_t i = share; i < method_count; i += SHARES)
        for (size_t k = 0; k < 3; k++) {
            const struct method *m = method_registry[i];
            const size_t *lengths = m->operation == &operation_scan ? scans : sums;
            for (size_t pair = 0; pair < 2; pair++)
                if (is_plain(m) || k == 0)
                    hold(m, lengths[k], pair, (struct shape){k == 1 ? 64 : 0, k == 1 ? 3 : 0},
                         &held);
        }
    return held;
}
#define ORDERS_OF_SEVERAL_TILES(share)                                                             \
    Test(gpu_reveal, orders_of_several_tiles_##share)                                              \
    {                                                                                              \
        (void)hold_tiles(share);                                                                   \
    }
ORDERS_OF_SEVERAL_TILES(0)
ORDERS_OF_SEVERAL_TILES(1)
ORDERS_OF_SEVERAL_TILES(2)
ORDERS_OF_SEVERAL_TILES(3)
ORDERS_OF_SEVERAL_TILES(4)
ORDERS_OF_SEVERAL_TILES(5)
ORDERS_OF_SEVERAL_TILES(6)
ORDERS_OF_SEVERAL_TILES(7)

Test(gpu_reveal, cases_are_many)
{
    size_t shorts = 0, tiles = 0;
    counting = true;
    for (size_t share = 0; share < SHARES; share++) {
        shorts += hold_short(share);
        tiles += hold_tiles(share);
    }
    cr_expect(shorts > 500, "only %zu cases", shorts);
    cr_expect(tiles > 100, "only %zu cases", tiles);
}

/* The vendor's sum says nothing of its order, but has one. */
Test(gpu_reveal, cub_has_an_order)
{
    for (size_t pair = 0; pair < 2; pair++)
        for (size_t n = 10; n < 3000; n *= 7) {
            struct reveal r;
            struct problem p = {0};
            struct reveal_case c = {.spec = {.method = method_named("cub/sum"),
                                             .device = gpu,
                                             .storage = pairs[pair].storage,
                                             .accumulator = pairs[pair].accumulator,
                                             .output = pairs[pair].accumulator,
                                             .n = n}};
            cr_assert_eq(reveal_method(&r, &c, 0, &p), STATUS_OK, "%s", p.text);
            cr_expect_eq(r.verdict, REVEAL_TREE, "n = %zu: verdict %d, %s", n, (int)r.verdict,
                         r.words);
            reveal_free(&r);
        }
}

/* They declare none: the CPU's is what it is compared with. */
Test(gpu_reveal, scatter_adds_show_the_cpus_order_in_a_bin)
{
    static const size_t lengths[] = {33, 1000, 3000};
    size_t held = 0;
    for (size_t i = 0; i < method_count * 3; i++) {
        const struct method *m = method_registry[i / 3];
        struct reveal_case c = {.spec = {.method = m,
                                         .storage = FP32,
                                         .accumulator = FP32,
                                         .output = FP32,
                                         .n = lengths[i % 3]},
                                .prefix = lengths[i % 3] - 1};
        struct reveal shown[2];
        struct problem p = {0};
        if (m->operation != &operation_scatter || m->promise != PROMISE_GPU_TO_GPU ||
            !method_supports(m, DEVICE_CUDA, FP32, FP32))
            continue;
        for (int cuda = 0; cuda < 2; cuda++) {
            c.spec.device = cuda ? gpu : (struct device){DEVICE_CPU, 0};
            cr_assert(reveal_method(&shown[cuda], &c, 1, &p) == STATUS_OK, "%s: %s", m->name,
                      p.text);
        }
        cr_expect(shown[0].verdict == REVEAL_TREE && shown[1].verdict == REVEAL_TREE &&
                      sum_tree_equal(&shown[0].tree, &shown[1].tree),
                  "%s, n = %zu: '%s' on the CPU, '%s' on the GPU", m->name, c.spec.n,
                  shown[0].words, shown[1].words);
        reveal_free(&shown[0]);
        reveal_free(&shown[1]);
        held++;
    }
    cr_expect(held >= 3);
}

/* C, too, is what it is when a question is asked. */
Test(gpu_reveal, c_changes_between_questions)
{
    float c = 1, d = 0;
    struct problem p = {0};
    struct probe *probe = NULL;
    struct probe_spec s = {.method = method_named("gemm/serial"),
                           .device = gpu,
                           .storage = FP32,
                           .accumulator = FP32,
                           .output = FP32,
                           .gemm = {.m = 1, .n = 1, .k = 1},
                           .c = {FP32, 1, &c},
                           .bins = 1};
    s.n = gemm_c_begins(&s.gemm);
    cr_assert_eq(probe_open(&probe, &s, &p), STATUS_OK, "%s", p.text);
    for (int i = 0; i < 3; i++) {
        c = (float)(1 - 5 * i);
        cr_assert_eq(probe_run(probe, &(struct array){FP32, 1, &d}, &p), STATUS_OK, "%s", p.text);
        cr_expect_eq(d, c, "C is %g, D %g", c, d); /* A is 0 */
    }
    probe_close(probe);
}
