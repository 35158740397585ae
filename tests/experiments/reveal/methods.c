/* Every deterministic method's CPU side reveals the order that it declares, and no other; of scans
 * every prefix tried. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>

#include "kernels/scan/tiled.h"
#include "kernels/blocks/tiled.h"
#include "tests/support/holds_scan.h"
#include "tests/support/reveals.h"
#include "tests/support/small_scan.h"

/* On the CPU, in any format pair and to any output. */
static struct reveal_case case_of(const struct method *m, size_t n, int pair)
{
    enum format s = pair / ACCUMULATORS, f = pair % ACCUMULATORS;
    return (struct reveal_case){
        .spec = {.method = m, .storage = s, .accumulator = f, .output = f, .n = n},
        .prefix = n - 1};
}

/* Some outputs of scans, with and without the element itself, whole and cut. */
static void hold_scan(struct reveal_case c, size_t *held)
{
    static uint8_t heads[1 << 14];
    char why[WHY];
    struct scan_variant variant[SCAN_VARIANTS];
    size_t n = c.spec.n, variants = scan_variants(c.spec.method, variant);
    size_t prefix[] = {0, 1, n / 3, n - 1};
    for (size_t v = 0; v < variants; v++)
        for (size_t i = 0; i < 4; i++) {
            if (prefix[i] >= n || (n > 300 && i != 3 - v % 2) || (n > 40 && v > 3))
                continue;
            c.prefix = prefix[i];
            c.spec.exclusive = variant[v].exclusive;
            c.spec.heads = scan_heads(&variant[v], heads, n, n);
            cr_expect(reveals_right(&c, why), "%s", why);
            ++*held;
        }
}

static void hold(struct reveal_case c, size_t *held)
{
    char why[WHY];
    if (!reveal_can_ask(c.spec.method) ||
        !method_supports(c.spec.method, DEVICE_CPU, c.spec.storage, c.spec.accumulator))
        return;
    if (c.spec.method->operation == &operation_scan) {
        hold_scan(c, held);
        return;
    }
    cr_expect(reveals_right(&c, why), "%s", why);
    ++*held;
}

/* Short lengths: every pair. Longer ones: of each length every second or fourth pair. */
Test(reveal_methods, in_every_format_pair)
{
    static const struct {
        size_t n, one_in, of;
    } lengths[] = {{1, 1, 0},  {2, 1, 0},  {3, 1, 0},   {4, 1, 0},  {7, 1, 0},
                   {32, 2, 0}, {33, 2, 1}, {100, 2, 0}, {257, 4, 0}};
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (size_t pair = 0; pair < (size_t)ACCUMULATORS * ACCUMULATORS; pair++) {
                size_t at = i + pair + pair / ACCUMULATORS; /* each storage, each accumulator */
                if (method_registry[i]->cpu && at % lengths[k].one_in == lengths[k].of)
                    hold(case_of(method_registry[i], lengths[k].n, (int)pair), &held);
            }
    cr_expect(held > 4000, "only %zu cases", held);
}

static struct reveal found_of(const struct reveal_case *c)
{
    struct reveal r;
    struct problem p = {0};
    cr_assert_eq(reveal_method(&r, c, 7, &p), STATUS_OK, "%s", p.text);
    return r;
}

/* As each method says that it forms them; the first one of a chain of fused ones is rounded, since
 * it is added to nothing: in a tile each column has such a chain, elsewhere each thread. */
Test(reveal_methods, how_products_are_formed)
{
    size_t held[PRODUCTS] = {0}, exact = 0;
    for (size_t i = 0; i < method_count; i++)
        for (int pair = 0; pair < ACCUMULATORS * ACCUMULATORS; pair++)
            for (enum product_kind k = PRODUCT_ROUNDED; k <= PRODUCT_FUSED; k++) {
                const struct method *m = method_registry[i];
                size_t n = k == PRODUCT_FUSED ? 3 * TILE_COLUMNS : 40;
                struct reveal_case c = case_of(m, n, pair);
                size_t asked = n < 64 ? n : 64;
                c.spec.product = k;
                if (m->shape_order)
                    c.spec.shape = (struct shape){.threads = 32, .blocks = 1};
                if (!m->cpu || !(m->products & 1u << k) || m->order == NULL ||
                    !method_supports(m, DEVICE_CPU, c.spec.storage, c.spec.accumulator))
                    continue;
                struct reveal r = found_of(&c);
                const struct reveal_products *q = &r.products;
                int digits = format_facts[c.spec.storage].precision;
                bool all = 2 * digits <= format_facts[c.spec.accumulator].precision;
                if (r.verdict == REVEAL_TREE) {
                    cr_expect(q->exact == all && (q->asked == asked) == !all, "%s, %s", m->name,
                              product_name[k]);
                    cr_expect(q->rounded + q->unrounded == q->asked);
                    cr_expect(k == PRODUCT_ROUNDED ? q->unrounded == 0 : (q->unrounded > 0) == !all,
                              "%s, %s: %d of %d rounded", m->name, product_name[k], (int)q->rounded,
                              (int)q->asked);
                    held[k] += !all;
                    exact += all;
                }
                reveal_free(&r);
            }
    cr_expect(held[PRODUCT_ROUNDED] > 10 && held[PRODUCT_FUSED] > 10 && exact > 10, "%zu, %zu, %zu",
              held[PRODUCT_ROUNDED], held[PRODUCT_FUSED], exact);
}

Test(reveal_methods, in_every_launch_shape)
{
    static const size_t lengths[] = {5, 64, 301};
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            const struct method *m = method_registry[i];
            struct shape shape[SHAPES_TRIED];
            size_t shapes = m->cpu ? shapes_tried(m, lengths[k], shape) : 0;
            for (size_t s = 0; s < shapes; s++) {
                struct reveal_case c = case_of(m, lengths[k], FP32 * ACCUMULATORS + FP32);
                if (!m->shape_order && shape[s].threads > 1 && lengths[k] > 64)
                    continue; /* CPU threads, of which each call starts some */
                c.spec.shape = shape[s];
                hold(c, &held);
            }
        }
    cr_expect(held > 500, "only %zu cases", held);
}

static bool asks_one_by_one(const struct method *m)
{
    return m->bound == THEOREM_COMPENSATED || m->bound == THEOREM_KAHAN ||
           m->bound == THEOREM_K_FOLD || m->bound == THEOREM_DOUBLE_WORD ||
           exact_facts[m->operation->of].term;
}

/* The units that methods are made of begin and end here; methods take turns at ending in a tile of
 * one element, or of some rows and a part of one. (Calls times elements is time: a tile more costs
 * as much as all before.) */
Test(reveal_methods, at_the_edges_of_tiles)
{
    static const size_t sums[] = {1025, TILE, 2 * TILE + 1, 2 * TILE + 300},
                        scans[] = {513, 1025, SCAN_TILE + 1};
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        bool scan = m->operation == &operation_scan;
        const size_t *lengths = scan ? scans : sums;
        for (size_t k = 0; k < (scan ? 3 : 4) && m->cpu; k++) {
            bool slow = asks_one_by_one(m) && strcmp(m->name, "sum/sum2") != 0;
            if ((k > 0 && slow) || (!scan && k == 2 + i % 2))
                continue; /* an element a call: one of them must do */
            size_t n = slow && !scan ? 513 : lengths[k];
            struct reveal_case c = case_of(m, n, FP32 * ACCUMULATORS + FP32);
            c.spec.shape.threads = m->shape_order ? 0 : 1;
            hold(c, &held);
        }
    }
    cr_expect(held > 100, "only %zu cases", held);
}

Test(reveal_methods, to_outputs_of_another_format)
{
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++)
        for (int pair = 0; pair < ACCUMULATORS * ACCUMULATORS; pair++) {
            struct reveal_case c = case_of(method_registry[i], 50, pair);
            c.spec.output = c.spec.storage;
            if (c.spec.method->operation == &operation_scan && c.spec.method->cpu)
                hold(c, &held);
        }
    cr_expect(held > 300, "only %zu cases", held);
}

/* With small units a short scan has many of them. */
Test(reveal_methods, of_small_units)
{
    static const struct method *const small[] = {&small_tiled, &small_compensated,
                                                 &small_segmented};
    size_t held = 0;
    for (size_t i = 0; i < 3; i++) {
        struct reveal_case c =
            case_of(small[i], 3 * SMALL_SUPER / 2 + 1, FP32 * ACCUMULATORS + FP32);
        c.spec.shape.threads = 1;
        hold(c, &held);
    }
    cr_expect(held > 5, "only %zu cases", held);
}

/* Where units divided by n are no normal numbers, nothing is said; what is no sum is not asked. */
Test(reveal_methods, of_means_as_far_as_a_format_tells)
{
    char why[WHY];
    struct reveal_case c = case_of(method_named("mean/tiled"), 70000, FP16 * ACCUMULATORS + FP16);
    struct reveal r;
    cr_assert(reveal_method(&r, &c, 1, NULL) == STATUS_OK);
    cr_expect(r.verdict == REVEAL_OUT_OF_REACH, "verdict %d", (int)r.verdict);
    reveal_free(&r);
    c = case_of(method_named("mean/serial"), 1000, FP16 * ACCUMULATORS + FP16);
    cr_expect(reveals_declared(&c, why), "%s", why);
    cr_expect(!reveal_can_ask(method_named("mean/running")));
    cr_expect(!reveal_can_ask(method_named("variance/two_pass")));
}

/* A method that does not do as it declares is found out: another order, in one place or all. */
Test(reveal_methods, false_declarations_are_found)
{
    static const char *const other[][2] = {
        {"sum/tiled", "sum/serial"},  {"sum/pairwise", "sum/tiled"},
        {"sum/sum2", "sum/pairwise"}, {"sum/serial", "sum/pairwise"},
        {"mean/serial", "sum/tiled"}, {"norm/scaled", "sum/serial"}};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        struct method m = *method_named(other[i][0]);
        char why[WHY];
        m.order = method_named(other[i][1])->order;
        struct reveal_case c = case_of(&m, 600, FP32 * ACCUMULATORS + FP32);
        cr_expect(!reveals_declared(&c, why), "%s as %s", other[i][0], other[i][1]);
    }
}
