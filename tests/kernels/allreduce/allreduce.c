/* All-reduces: each algorithm's order by hand, where blocks begin. And all sums over ranks that are
 * in the registry: every result is a sum of all ranks within its theorem, and exact and binned ones
 * heed neither order nor number of ranks. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/operations/operation.h"
#include "reference/measure/measure.h"
#include "tests/support/oracle.h"
#include "tests/support/rank_sums.h"
#include "tests/support/samples.h"

/* The next in the registry, from number *k on; NULL: there is none. */
static const struct method *next(size_t *k)
{
    while (*k < method_count && !method_registry[*k]->operation->ranks)
        ++*k;
    return *k < method_count ? method_registry[(*k)++] : NULL;
}

Test(allreduce, adds_in_the_order_that_each_algorithm_says)
{
    expect_ranks_tree("allreduce/rank_order", 5, 3, 2, "01+2+3+4+");
    expect_ranks_tree("allreduce/linear", 5, 3, 1, "43+2+1+0+");
    expect_ranks_tree("allreduce/recursive_doubling", 4, 3, 1, "01+23++");
    expect_ranks_tree("allreduce/recursive_doubling", 8, 2, 1, "01+23++45+67+++");
    expect_ranks_tree("allreduce/recursive_doubling", 6, 2, 0, "01+23++45++");
    expect_ranks_tree("allreduce/recursive_doubling", 5, 2, 0, "01+2+34++");
    expect_ranks_tree("allreduce/recursive_doubling", 7, 2, 1, "01+23++45+6++");
    expect_ranks_tree("allreduce/rabenseifner", 7, 2, 1, "01+23++45+6++");
    /* Ten elements in four blocks: 3, 3, 2, 2. */
    expect_ranks_tree("allreduce/ring", 4, 10, 2, "01+2+3+");
    expect_ranks_tree("allreduce/ring", 4, 10, 3, "12+3+0+");
    expect_ranks_tree("allreduce/ring", 4, 10, 6, "23+0+1+");
    expect_ranks_tree("allreduce/ring", 4, 10, 8, "30+1+2+");
    /* Ten in four: 3, 3, 3, 1; five in four: 2, 2, 1 and none. */
    expect_ranks_tree("allreduce/ring_to_owner", 4, 10, 2, "12+3+0+");
    expect_ranks_tree("allreduce/ring_to_owner", 4, 10, 3, "23+0+1+");
    expect_ranks_tree("allreduce/ring_to_owner", 4, 10, 8, "30+1+2+");
    expect_ranks_tree("allreduce/ring_to_owner", 4, 10, 9, "01+2+3+");
    expect_ranks_tree("allreduce/ring_to_owner", 4, 5, 1, "12+3+0+");
    expect_ranks_tree("allreduce/ring_to_owner", 4, 5, 4, "30+1+2+");
    /* Chunks of 16 bytes, four elements of fp32 and two of fp64. */
    expect_ranks_tree("allreduce/nccl_ring_ll", 4, 10, 0, "12+3+0+");
    expect_ranks_tree("allreduce/nccl_ring_simple", 4, 3, 1, "12+3+0+");
    expect_ranks_tree("allreduce/nccl_ring_ll128", 3, 1, 0, "12+0+");
    expect_ranks_tree("allreduce/binomial", 5, 2, 0, "01+23++4+");
    expect_ranks_tree("allreduce/binomial", 6, 2, 1, "01+23++45++");
    expect_ranks_tree("allreduce/binomial", 7, 2, 1, "01+23++45+6++");
    expect_ranks_tree("allreduce/binary_tree", 4, 2, 0, "013++2+");
    expect_ranks_tree("allreduce/binary_tree", 7, 2, 1, "013+4++25+6++");
    expect_ranks_tree("allreduce/binary_tree", 2, 2, 1, "01+");
    /* 0; 1 2; 3 .. 6; 7 .. : 3 has 7 and 11 below it, 4 has 8. */
    expect_ranks_tree("allreduce/level_tree", 6, 2, 1, "013+5++24++");
    expect_ranks_tree("allreduce/level_tree", 9, 2, 0, "0137++5++248++6++");
    expect_ranks_tree("allreduce/quaternary_tree", 5, 2, 0, "01+2+3+4+");
    expect_ranks_tree("allreduce/quaternary_tree", 8, 2, 1, "015+6+7++2+3+4+");
    /* Of 8 places 0 is above 4, that above 2 and 6, those above 1, 3, 5, 7. */
    expect_ranks_tree("allreduce/double_tree", 8, 3, 1, "0421+3++65+7+++");
    expect_ranks_tree("allreduce/double_tree", 8, 3, 2, "7356+4++12+0+++");
    /* 0 - 2 - 1, and 0 is 1, 1 is 2, 2 is 0. */
    expect_ranks_tree("allreduce/double_tree", 3, 2, 0, "021++");
    expect_ranks_tree("allreduce/double_tree", 3, 2, 1, "102++");
}

Test(allreduce, every_block_adds_every_rank_once)
{
    struct rank_sums *c = calloc(1, sizeof *c);
    const struct method *m;
    for (size_t k = 0; (m = next(&k));)
        for (size_t ranks = 1; ranks <= SUMMED_RANKS; ranks++) {
            for (size_t r = 0; r < ranks; r++)
                for (size_t i = 0; i < SUMMED_LENGTH; i++)
                    c->in[r * SUMMED_LENGTH + i] = ldexp(1, (int)r);
            rank_sums_run(c, m, FP64, FP64, ranks, SUMMED_LENGTH);
            for (size_t i = 0; i < SUMMED_LENGTH; i++)
                cr_assert(c->out[i] == ldexp(1, (int)ranks) - 1, "%s, %zu ranks, element %zu: %a",
                          m->name, ranks, i, c->out[i]);
        }
    free(c);
}

Test(allreduce, keeps_its_theorem_and_its_exact_value)
{
    struct rank_sums *c = calloc(1, sizeof *c);
    uint64_t seed = 7;
    size_t held = 0;
    const struct method *m;
    for (size_t k = 0; (m = next(&k));)
        for (size_t ranks = 1; ranks <= SUMMED_RANKS; ranks += 3)
            for (enum format s = 0; s < ACCUMULATORS; s++)
                for (enum format f = 0; f < ACCUMULATORS; f++) {
                    struct array x = {s, ranks * SUMMED_LENGTH, c->in};
                    sample_fill(&x, (enum sample)(held % SAMPLES), f, sample_next(&seed));
                    rank_sums_run(c, m, s, f, ranks, SUMMED_LENGTH);
                    for (size_t i = 0; i < SUMMED_LENGTH; i++) {
                        double column[SUMMED_RANKS];
                        struct reference r;
                        struct measure d;
                        for (size_t q = 0; q < ranks; q++)
                            column[q] = array_get(&c->x, q * SUMMED_LENGTH + i);
                        struct array a = {FP64, ranks, column};
                        struct theorem theorem = {.kind = m->bound, .folds = m->folds};
                        if (m->bin_height)
                            theorem.height =
                                m->bin_height(NULL, ranks, ranks * SUMMED_LENGTH, SUMMED_LENGTH);
                        cr_assert_eq(reference_compute(&r, &a, REFERENCE_MPFR, NULL), STATUS_OK);
                        measure(&d, &r, s, f, array_get(&c->y, i), &theorem);
                        reference_free(&r);
                        cr_assert(!d.broken, "%s, %zu ranks, %s/%s, element %zu", m->name, ranks,
                                  format_facts[s].name, format_facts[f].name, i);
                    }
                    held++;
                }
    cr_assert(held > 1000);
    free(c);
}

/* Ranks turned, and among others that have -0. */
Test(allreduce, exact_and_binned_heed_neither_order_nor_number_of_ranks)
{
    struct rank_sums *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    enum { FEW = 9 };
    size_t ring_differs = 0;
    const struct method *m;
    for (uint64_t seed = 1; seed < 300; seed++)
        for (size_t k = 0; (m = next(&k));) {
            enum format f = (enum format)(seed % ACCUMULATORS);
            struct array x = {FP64, FEW * SUMMED_LENGTH, a->in};
            uint64_t state = seed;
            for (size_t i = 0; i < x.n; i++)
                a->in[i] = ldexp((double)(int64_t)sample_next(&state), -60);
            for (size_t i = 0; i < SUMMED_RANKS * SUMMED_LENGTH; i++)
                b->in[i] = -0.0;
            for (size_t r = 0; r < FEW; r++)
                memcpy(b->in + (r * 4 + seed % 5) % SUMMED_RANKS * SUMMED_LENGTH,
                       a->in + (r + seed) % FEW * SUMMED_LENGTH, SUMMED_LENGTH * sizeof(double));
            rank_sums_run(a, m, FP64, f, FEW, SUMMED_LENGTH);
            rank_sums_run(b, m, FP64, f, SUMMED_RANKS, SUMMED_LENGTH);
            for (size_t i = 0; i < SUMMED_LENGTH; i++) {
                bool same = array_bits(&a->y, i) == array_bits(&b->y, i);
                ring_differs += !same && strcmp(m->name, "allreduce/ring") == 0;
                cr_assert(same || m->promise < PROMISE_ORDER_INVARIANT, "%s, element %zu", m->name,
                          i);
            }
        }
    cr_assert(ring_differs > 100, "%zu", ring_differs);
    free(a);
    free(b);
}

Test(allreduce, refuses_ranks_that_do_not_divide)
{
    double x[7] = {0};
    char why[OPERANDS_TEXT] = "";
    struct operands of = {.in = {FP64, 7, x}, .bins = 2};
    cr_expect(!operation_fits(&operation_allreduce, &of, why) && *why);
    of.bins = 0;
    cr_expect(!operation_fits(&operation_allreduce, &of, why));
    of.bins = 7;
    cr_expect(operation_fits(&operation_allreduce, &of, why));
}

/* What `check` calls the first element elsewhere is that element elsewhere, or everywhere, and has
 * other bits in a ring alone. */
Test(allreduce, places_the_first_element_elsewhere)
{
    static struct rank_sums a;
    double in[SUMMED_RANKS * 1000];
    struct setting s = {.ranks = 5, .bins = SUMMED_LENGTH};
    struct surrounding at;
    size_t u = 0;
    for (size_t i = 0; i < 5 * SUMMED_LENGTH; i++)
        a.in[i] = (double)i;
    struct array from = {FP64, 5 * SUMMED_LENGTH, a.in};
    for (; setting_surround(&at, &operation_allreduce, &s, u); u++) {
        struct array to = {FP64, at.n, in};
        for (size_t i = 0; i < at.n; i++)
            in[i] = -1;
        cr_assert(at.n == 5 * at.setting.bins && at.output < at.setting.bins);
        setting_embed(&operation_allreduce, &to, &at, &from, &s);
        for (size_t i = 0; i < at.n; i++)
            cr_assert(in[i] == (at.alike || i % at.setting.bins == at.output
                                    ? (double)(i / at.setting.bins * SUMMED_LENGTH)
                                    : -1),
                      "%s: %zu", at.are, i);
    }
    cr_assert_eq(u, 14);
    cr_assert(at.alike);
}
