/* Orders: the folds and the methods by hand, and that what is declared is a tree of its height. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>

#include "kernels/method/fold.h"
#include "tests/support/holds.h"
#include "tests/support/samples.h"

static void print(FILE *to, const struct order *o, uint32_t node)
{
    if (node < o->leaves) {
        fprintf(to, "%u", node);
        return;
    }
    fputc('(', to);
    print(to, o, o->operand[node - o->leaves][0]);
    fputc('+', to);
    print(to, o, o->operand[node - o->leaves][1]);
    fputc(')', to);
}

/* A tree with parentheses. The caller frees it. */
static char *text_of(const struct order *o)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    print(to, o, o->output[0]);
    fclose(to);
    return text;
}

static char *text_of_method(const char *name, size_t n, unsigned threads, unsigned blocks)
{
    const struct method *m = method_named(name);
    struct order o;
    order_init(&o, n, 1);
    m->order(&o, (struct shape){threads, blocks});
    char *text = text_of(&o);
    order_free(&o);
    return text;
}

typedef uint32_t order_fold(struct order *o, uint32_t *node, size_t count);
typedef double value_fold(enum format f, double *v, size_t count);

static const struct {
    const char *name;
    order_fold *order;
    value_fold *value;
} folds[] = {
    {"serial", order_serial, fold_serial},
    {"adjacent", order_adjacent, fold_adjacent},
    {"halving", order_halving, fold_halving},
};

Test(order, folds_by_hand)
{
    static const char *const expected[3][9] = {
        {"", "0", "(0+1)", "((0+1)+2)", "(((0+1)+2)+3)", "((((0+1)+2)+3)+4)"},
        {"", "0", "(0+1)", "((0+1)+2)", "((0+1)+(2+3))", "(((0+1)+(2+3))+4)",
         "(((0+1)+(2+3))+(4+5))", "(((0+1)+(2+3))+((4+5)+6))", "(((0+1)+(2+3))+((4+5)+(6+7)))"},
        {"", "0", "(0+1)", "((0+2)+1)", "((0+2)+(1+3))", "(((0+4)+2)+(1+3))",
         "(((0+4)+2)+((1+5)+3))", "(((0+4)+(2+6))+((1+5)+3))", "(((0+4)+(2+6))+((1+5)+(3+7)))"},
    };
    for (size_t fold = 0; fold < 3; fold++)
        for (uint32_t n = 1; n < 9 && expected[fold][n]; n++) {
            struct order o;
            uint32_t node[] = {0, 1, 2, 3, 4, 5, 6, 7};
            order_init(&o, n, 1);
            o.output[0] = folds[fold].order(&o, node, n);
            char *text = text_of(&o);
            cr_expect_str_eq(text, expected[fold][n], "%s of %u: %s, expected %s", folds[fold].name,
                             n, text, expected[fold][n]);
            free(text);
            order_free(&o);
        }
}

/* On values as on nodes. */
Test(order, folds_of_values_follow_those_of_nodes)
{
    enum { MOST = 70 };
    for (size_t fold = 0; fold < 3; fold++)
        for (size_t n = 1; n <= MOST; n++) {
            struct order o;
            double v[MOST], node[2 * MOST];
            uint32_t id[MOST];
            struct array in = {FP64, n, node};
            sample_fill(&in, SAMPLE_NEAR, FP32, n);
            order_init(&o, n, 1);
            for (size_t i = 0; i < n; i++) {
                v[i] = node[i] = format_round(FP32, node[i]);
                id[i] = (uint32_t)i;
            }
            uint32_t root = folds[fold].order(&o, id, n);
            for (size_t k = 0; k < o.additions; k++)
                node[n + k] = (float)node[o.operand[k][0]] + (float)node[o.operand[k][1]];
            double got = folds[fold].value(FP32, v, n);
            cr_expect(got == node[root], "%s of %zu: %a, expected %a", folds[fold].name, n, got,
                      node[root]);
            order_free(&o);
        }
}

Test(order, methods_by_hand)
{
    static const struct {
        const char *method;
        size_t n;
        unsigned threads, blocks;
        const char *order;
    } expected[] = {
        {"sum/serial", 5, 0, 0, "((((0+1)+2)+3)+4)"},
        {"sum/pairwise", 5, 0, 0, "(((0+1)+(2+3))+4)"},
        {"sum/pairwise", 7, 0, 0, "(((0+1)+(2+3))+((4+5)+6))"},
        {"sum/interleaved", 6, 4, 0, "(((0+1)+(2+3))+(4+5))"},
        {"sum/interleaved", 7, 3, 0, "((((0+1)+2)+((3+4)+5))+6)"},
        {"sum/interleaved", 5, 2, 0, "(((0+1)+(2+3))+4)"},
        {"sum/sequential", 6, 4, 0, "(((0+2)+(1+3))+(4+5))"},
        {"sum/sequential", 7, 3, 0, "((((0+2)+1)+6)+((3+5)+4))"},
        {"sum/sequential", 5, 2, 0, "(((0+1)+(2+3))+4)"},
        {"sum/shuffle", 7, 3, 0, "((((0+2)+1)+6)+((3+5)+4))"},
        {"sum/coarsened", 9, 1, 0, "((((((((0+1)+2)+3)+4)+5)+6)+7)+8)"},
        {"sum/coarsened", 5, 3, 0, "(((0+3)+2)+(1+4))"},
        {"sum/coarsened", 19, 2, 0,
         "(((((((((0+2)+4)+6)+8)+10)+12)+14)+(((((((1+3)+5)+7)+9)+11)+13)+15))+((16+18)+17))"},
        {"sum/two_kernel", 9, 2, 2, "((((0+4)+8)+(1+5))+((2+6)+(3+7)))"},
        {"sum/two_kernel", 6, 2, 3, "(((0+1)+(4+5))+(2+3))"},
        {"sum/two_kernel", 3, 2, 7, "((0+1)+2)"},
        {"sum/last_block", 9, 2, 2, "((((0+4)+8)+(1+5))+((2+6)+(3+7)))"},
        {"sum/last_block", 6, 2, 3, "(((0+1)+(4+5))+(2+3))"},
        {"sum/host_finish", 6, 2, 3, "(((0+1)+(2+3))+(4+5))"},
        {"sum/host_finish", 7, 2, 3, "((((0+6)+1)+(2+3))+(4+5))"},
        {"sum/tiled", 5, 0, 0, "(((0+4)+2)+(1+3))"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char *text = text_of_method(expected[i].method, expected[i].n, expected[i].threads,
                                    expected[i].blocks);
        cr_expect_str_eq(text, expected[i].order, "%s of %zu, shape %u %u: %s, expected %s",
                         expected[i].method, expected[i].n, expected[i].threads, expected[i].blocks,
                         text, expected[i].order);
        free(text);
    }
}

/* Lane i of a warp of 32 from `base` on, when strides 16 .. stride are done. */
static void lane(FILE *to, unsigned base, unsigned i, unsigned stride)
{
    if (stride == 32) {
        fprintf(to, "%u", base + i);
        return;
    }
    fputc('(', to);
    lane(to, base, i, 2 * stride);
    fputc('+', to);
    lane(to, base, i + stride, 2 * stride);
    fputc(')', to);
}

/* Three warps, the last one of a single element: halving of three results. */
Test(order, shuffle_folds_warps_then_their_results)
{
    char *expected = NULL, *text = text_of_method("sum/shuffle", 65, 96, 0);
    size_t size;
    FILE *to = open_memstream(&expected, &size);
    fputs("((", to);
    lane(to, 0, 0, 1);
    fputs("+64)+", to);
    lane(to, 32, 0, 1);
    fputc(')', to);
    fclose(to);
    cr_expect_str_eq(text, expected, "%s, expected %s", text, expected);
    free(text);
    free(expected);
}

/* Tiles of 8 rows by 256 columns are the chunks of sum/coarsened with 256 threads. */
Test(order, tiled_is_coarsened_with_256_threads)
{
    static const size_t lengths[] = {1,    2,    255,  256,  257,  511,   512,   2047,
                                     2048, 2049, 2303, 2304, 4097, 20480, 530000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *tiled = text_of_method("sum/tiled", lengths[i], 0, 0);
        char *coarsened = text_of_method("sum/coarsened", lengths[i], 256, 0);
        cr_expect(strcmp(tiled, coarsened) == 0, "n = %zu", lengths[i]);
        free(tiled);
        free(coarsened);
    }
}

Test(order, every_declared_order_is_a_tree_of_its_height)
{
    char why[WHY] = "";
    size_t checked = 0;
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i]->order) {
            cr_expect(holds_order(method_registry[i], why), "%s", why);
            checked++;
        }
    cr_expect(checked >= 10, "only %zu methods with an order", checked);
}

/* The least that can be said of a descriptor. */
Test(order, descriptors_are_whole)
{
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        cr_expect(m->summary && m->operation, "%s", m->name);
        cr_expect(method_named(m->name) == m, "%s", m->name);
        /* Without one, as a vendor's routine, the order may not be known; with keys it depends on
         * them; that of comparisons does not show in any bit. */
        if (m->cpu && operation_plain(m->operation) &&
            exact_facts[m->operation->of].form < FORM_ELEMENT)
            cr_expect((m->order != NULL) ==
                          (m->promise > PROMISE_NONE && m->promise < PROMISE_ORDER_INVARIANT),
                      "%s", m->name);
        cr_expect((m->height != NULL) == theorem_has_height(m->bound), "%s", m->name);
        cr_expect(m->promise < PROMISE_GPU_TO_GPU || m->shape_order == 0, "%s", m->name);
        for (enum device_kind d = 0; d < DEVICE_KINDS; d++) {
            cr_expect((m->shape_order & ~m->shape_read[d]) == 0, "%s", m->name);
            cr_expect(m->shape_read[d] == 0 || m->resolve, "%s", m->name);
        }
    }
}

/* What is asked for is used, within what works; what is left open is filled in. */
Test(order, launch_shapes_are_resolved)
{
    static const unsigned asked[] = {0, 1, 2, 33, 1024, 5000};
    static const size_t lengths[] = {0, 1, 255, 256, 257, 1 << 20, (size_t)1 << 33};
    for (size_t i = 0; i < method_count; i++)
        for (enum device_kind d = 0; d < DEVICE_KINDS; d++)
            for (size_t k = 0; k < 6 * 7; k++) {
                const struct method *m = method_registry[i];
                unsigned read = m->shape_read[d], a = asked[k % 6];
                size_t n = lengths[k / 6];
                struct shape s = method_shape(m, d, n, (struct shape){a, a});
                bool threads = read & SHAPE_THREADS ? s.threads >= 1 && s.threads <= THREADS_MAX
                                                    : s.threads == 0;
                bool blocks =
                    read & SHAPE_BLOCKS ? s.blocks >= 1 && s.blocks <= BLOCKS_MAX : s.blocks == 0;
                cr_expect(threads && blocks, "%s, n = %zu, asked %u: %u threads, %u blocks",
                          m->name, n, a, s.threads, s.blocks);
                if (a >= 2 && a <= THREADS_MAX) {
                    bool used = !(m->shape_order & SHAPE_THREADS) || s.threads == a;
                    used &= !(read & SHAPE_BLOCKS) || s.blocks == a;
                    cr_expect(used, "%s, n = %zu, asked %u: %u threads, %u blocks", m->name, n, a,
                              s.threads, s.blocks);
                }
            }
}
