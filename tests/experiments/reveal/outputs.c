/* The order of each element of an all-reduce: models show the orders that their definitions say,
 * one element that is added otherwise is found, and what has no fixed order shows none. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>

#include "experiments/operations/operation.h"
#include "experiments/reveal/outputs.h"
#include "kernels/blocks/ranks.h"
#include "tests/support/flawed_sums.h"

extern const struct method allreduce_ring, allreduce_rank_order, allreduce_exact, allreduce_binned;

static void reveal(struct reveal_outputs *r, const struct method *m, enum format s, enum format f,
                   size_t ranks, size_t outputs)
{
    struct problem p = {0};
    struct probe_spec spec = {.method = m,
                              .storage = s,
                              .accumulator = f,
                              .output = f,
                              .n = ranks * outputs,
                              .bins = outputs,
                              .stride = outputs};
    cr_assert_eq(reveal_outputs_make(r, &spec, 1, false, &p), STATUS_OK, "%s: %s", m->name, p.text);
}

/* The chain that begins at rank `first` and goes round. */
static void make_chain(struct sum_tree *t, size_t ranks, size_t first)
{
    uint32_t parent[2 * REVEAL_TERMS_MOST];
    struct problem p = {0};
    for (size_t k = 0; k + 1 < ranks; k++) /* the k-th largest node lacks the last k of the chain */
        parent[ranks + k] = k == 0 ? SUM_TREE_NO_PARENT : (uint32_t)(ranks + k - 1);
    for (size_t i = 0; i < ranks; i++)
        parent[(first + i) % ranks] = (uint32_t)(ranks + (i == 0 ? ranks - 2 : ranks - 1 - i));
    cr_assert_eq(sum_tree_make(t, ranks, 2 * ranks - 1, parent, &p), STATUS_OK);
}

static const enum format pair[][2] = {{FP32, FP32}, {FP64, FP64}, {BF16, BF16}, {FP16, FP16},
                                      {BF16, FP32}, {E5M2, FP16}, {FP32, BF16}};
enum { PAIRS = sizeof pair / sizeof *pair };

Test(reveal_outputs, a_ring_shows_a_chain_for_each_block)
{
    static const size_t some[] = {2, 3, 4, 7, 16, 33, 64};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++)
        for (size_t f = 0; f < (some[k] > 16 ? 1 : PAIRS); f++) {
            const size_t ranks = some[k], outputs = 3 * ranks + 1;
            struct reveal_outputs r;
            reveal(&r, &allreduce_ring, pair[f][0], pair[f][1], ranks, outputs);
            cr_expect_eq(r.orders, ranks == 2 ? 1 : ranks, "%zu ranks: %zu orders", ranks,
                         r.orders);
            for (size_t b = 0; b < ranks; b++) {
                struct sum_tree chain;
                make_chain(&chain, ranks, b);
                for (size_t o = ranks_begin(outputs, ranks, b);
                     o < ranks_begin(outputs, ranks, b + 1); o++) {
                    const struct reveal_order_of *is = &r.order[r.of_output[o]];
                    cr_expect(is->verdict == REVEAL_TREE && is->held &&
                                  sum_tree_equal(&is->tree, &chain),
                              "%zu ranks, %s/%s, element %zu", ranks, format_facts[pair[f][0]].name,
                              format_facts[pair[f][1]].name, o);
                }
                sum_tree_free(&chain);
            }
            cr_expect(r.held.arrays > 0 && r.held.differing == 0, "%s", r.words);
            reveal_outputs_free(&r);
        }
}

/* Those of one block declare the order of every element. */
Test(reveal_outputs, all_elements_have_the_declared_order_where_there_is_one_block)
{
    size_t tried = 0;
    for (size_t k = 0; k < method_count; k++) {
        const struct method *m = method_registry[k];
        if (!operation_asks(m->operation, SETTING_RANKS) || !m->order ||
            m->promise < PROMISE_GPU_TO_GPU)
            continue;
        for (size_t ranks = 2; ranks <= 9; ranks++) {
            struct reveal_outputs r;
            struct order order;
            struct sum_tree declared;
            struct problem p = {0};
            reveal(&r, m, FP32, FP32, ranks, 5);
            method_order(&order, m, DEVICE_CPU, ranks, (struct shape){0}, false, NULL);
            cr_assert_eq(sum_tree_of(&declared, &order, 0, 0, ranks, &p), STATUS_OK);
            cr_expect(r.orders == 1 && r.order[0].verdict == REVEAL_TREE &&
                          sum_tree_equal(&r.order[0].tree, &declared),
                      "%s of %zu ranks: %zu orders", m->name, ranks, r.orders);
            order_free(&order);
            sum_tree_free(&declared);
            reveal_outputs_free(&r);
            tried++;
        }
    }
    cr_assert(tried >= 8 * 8, "%zu", tried);
}

/* --- planted ones --- */

enum { OTHERWISE = 13, OUTPUTS = 40 };
static enum { AT_ONE, FLAWED, RACING, MOVED, DROPS } plant;
static uint64_t calls;
static enum flaw flaw;

static enum status cpu(const struct task *t, struct problem *p)
{
    const size_t outputs = t->of->bins, ranks = t->of->in.n / outputs;
    (void)p;
    calls++;
    for (size_t o = 0; o < outputs; o++) {
        double x[REVEAL_TERMS_MOST], sum;
        bool other = o == OTHERWISE && (plant == AT_ONE || (plant == RACING && calls % 5 == 0) ||
                                        (plant == MOVED && calls <= 16));
        for (size_t r = 0; r < ranks; r++)
            x[other ? ranks - 1 - r : r] =
                format_round(t->accumulator, array_get(&t->of->in, r * outputs + o));
        if (plant == FLAWED)
            sum = flawed_sum(flaw, t->accumulator, x, ranks);
        else
            sum = x[0];
        for (size_t r = 1; r < ranks && plant != FLAWED; r++)
            if (plant != DROPS || o != OTHERWISE || r != 2)
                sum = format_add(t->accumulator, sum, x[r]);
        array_encode(&t->out, o, 1, &sum);
    }
    return STATUS_OK;
}

static const struct method planted = {.name = "planted",
                                      .summary = "",
                                      .operation = &operation_allreduce,
                                      .pairs = {FORMAT_PAIRS_ALL},
                                      .bound = THEOREM_NONE,
                                      .cpu = cpu};

Test(reveal_outputs, one_element_that_is_added_otherwise_is_found)
{
    struct reveal_outputs r, ring;
    struct reveal_outputs_beside beside;
    plant = AT_ONE;
    reveal(&r, &planted, FP32, FP32, 6, OUTPUTS);
    cr_assert_eq(r.orders, 2);
    cr_expect(r.order[0].outputs == OUTPUTS - 1 && r.order[1].first == OTHERWISE &&
              r.order[1].outputs == 1);
    reveal(&ring, &allreduce_rank_order, FP32, FP32, 6, OUTPUTS);
    reveal_outputs_compare(&beside, &r, &ring);
    cr_expect(beside.different == 1 && beside.first == OTHERWISE && beside.equal == OUTPUTS - 1);
    reveal_outputs_free(&r);
    reveal_outputs_free(&ring);
}

/* Of one element of many. */
Test(reveal_outputs, a_term_left_out_is_no_sum)
{
    struct reveal_outputs r;
    struct problem p = {0};
    plant = DROPS;
    reveal(&r, &planted, FP32, FP32, 6, OUTPUTS);
    cr_expect_eq(r.verdict, REVEAL_NO_SUM);
    cr_expect_eq(reveal_outputs_status(&r, &p), STATUS_FAILED);
    cr_expect(strstr(p.text, "element 13"), "%s", p.text);
    reveal_outputs_free(&r);
}

Test(reveal_outputs, an_order_that_moves_is_none)
{
    struct reveal_outputs r;
    struct problem p = {0};
    plant = RACING;
    reveal(&r, &planted, FP32, FP32, 6, OUTPUTS);
    cr_expect_eq(reveal_outputs_status(&r, &p), STATUS_FAILED);
    cr_expect(strstr(p.text, "element 13"), "%s", p.text);
    for (size_t o = 0; o < OUTPUTS; o++) {
        enum reveal_verdict v = r.order[r.of_output[o]].verdict;
        cr_expect((v == REVEAL_TREE) == (o != OTHERWISE), "element %zu: %d", o, (int)v);
    }
    reveal_outputs_free(&r);
}

/* While units and all pairs of six ranks were asked once, and not again. */
Test(reveal_outputs, an_order_that_moved_once_is_none)
{
    struct reveal_outputs r;
    plant = MOVED;
    calls = 0;
    reveal(&r, &planted, FP32, FP32, 6, OUTPUTS);
    for (size_t o = 0; o < OUTPUTS; o++) {
        enum reveal_verdict v = r.order[r.of_output[o]].verdict;
        cr_expect(v == (o == OTHERWISE ? REVEAL_CHANGES : REVEAL_TREE), "element %zu: %d", o,
                  (int)v);
    }
    reveal_outputs_free(&r);
}

/* No flaw shows a tree of additions of two. */
Test(reveal_outputs, what_depends_on_the_data_shows_no_tree)
{
    static const size_t some[] = {5, 8, 17};
    plant = FLAWED;
    for (flaw = FLAW_NONE; flaw < FLAWS; flaw++)
        for (size_t k = 0; k < 3; k++)
            for (size_t f = 0; f < 3; f++) {
                struct reveal_outputs r;
                struct problem p = {0};
                bool exact = (flaw == FLAW_FP64 || flaw == FLAW_BLOCKS) && pair[f][1] == FP64;
                if (exact)
                    continue;
                reveal(&r, &planted, pair[f][0], pair[f][1], some[k], 7);
                if (flaw == FLAW_FIXED) /* its units vanish */
                    cr_expect_eq(r.verdict, REVEAL_NO_SUM, "%d, %s", (int)r.verdict, r.words);
                else
                    cr_assert_eq(r.verdict, REVEAL_TREE);
                for (size_t i = 0; i < r.orders && r.verdict == REVEAL_TREE; i++) {
                    const struct reveal_order_of *o = &r.order[i];
                    bool tree = o->verdict == REVEAL_TREE;
                    cr_expect_eq(tree, flaw == FLAW_NONE, "flaw %d, %zu ranks, %s: verdict %d, %s",
                                 (int)flaw, some[k], format_facts[pair[f][1]].name, (int)o->verdict,
                                 r.words);
                    cr_expect(flaw == FLAW_NONE || flaw >= FLAW_ORDERS ||
                                  reveal_outputs_status(&r, &p) == STATUS_FAILED,
                              "flaw %d", (int)flaw);
                }
                reveal_outputs_free(&r);
            }
}

/* Exact sums have no order, and bins add at once. */
Test(reveal_outputs, what_adds_exactly_shows_no_order)
{
    struct reveal_outputs r;
    reveal(&r, &allreduce_exact, FP32, FP32, 5, 9);
    cr_expect(r.orders == 1 && r.order[0].verdict == REVEAL_EXACT, "%s", r.words);
    reveal_outputs_free(&r);
    reveal(&r, &allreduce_binned, FP32, FP32, 5, 9);
    cr_expect(r.orders == 1 && r.order[0].verdict == REVEAL_TREE && !r.order[0].held &&
                  r.order[0].tree.additions == 1,
              "%s", r.words);
    reveal_outputs_free(&r);
}

/* Of four terms: the pairs 0 1, 0 2, 0 3, 1 2, 1 3, 2 3. */
Test(reveal_outputs, sets_of_pairs_that_no_tree_has)
{
    static const struct {
        uint64_t set[6];
        enum reveal_verdict verdict;
    } some[] = {
        {{0x3, 0x7, 0xf, 0x7, 0xf, 0xf}, REVEAL_TREE},
        {{0xf, 0xf, 0xf, 0xf, 0xf, 0xf}, REVEAL_TREE},
        {{0x3, 0x5, 0x9, 0x6, 0xa, 0xc}, REVEAL_EXACT},
        {{0x3, 0x7, 0xf, 0xf, 0xf, 0xf}, REVEAL_CONTRADICTION}, /* 1 2 meet in 0 1 2 too */
        {{0x3, 0x7, 0xf, 0x6, 0xf, 0xf}, REVEAL_CONTRADICTION}, /* 1 is in two that cross */
        {{0x3, 0x7, 0x7, 0x7, 0x7, 0x7}, REVEAL_CONTRADICTION}, /* 3 is in none */
        {{0x3, 0x7, 0xf, 0x7, 0xf, 0}, REVEAL_CONTRADICTION},
    };
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        struct sum_tree t;
        enum reveal_verdict verdict;
        struct problem p = {0};
        cr_assert_eq(reveal_tree_of_sets(&t, &verdict, some[k].set, 4, &p), STATUS_OK);
        cr_expect_eq(verdict, some[k].verdict, "case %zu: %d", k, (int)verdict);
        sum_tree_free(&t);
    }
}
