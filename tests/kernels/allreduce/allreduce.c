/* All-reduces: each algorithm's order by hand, where blocks begin, that every result is a sum of
 * all ranks within its theorem, and that exact and binned ones heed neither order nor number of
 * ranks. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/operations/operation.h"
#include "reference/measure/measure.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

enum { RANKS = 40, LENGTH = 21 };

static const char *const names[] = {"allreduce/rank_order",
                                    "allreduce/linear",
                                    "allreduce/ring",
                                    "allreduce/rabenseifner",
                                    "allreduce/recursive_doubling",
                                    "allreduce/double_tree",
                                    "allreduce/exact",
                                    "allreduce/binned"};
enum { NAMES = sizeof names / sizeof *names };

struct one {
    double in[RANKS * LENGTH], out[LENGTH];
    struct array x, y;
};

static void run(struct one *c, const struct method *m, enum format s, enum format f, size_t ranks,
                size_t length)
{
    struct problem p = {0};
    c->x = (struct array){s, ranks * length, c->in};
    c->y = (struct array){f, length, c->out};
    struct operands of = {.in = c->x, .bins = length, .stride = length};
    struct task t = {.of = &of, .out = c->y, .accumulator = f, .method = m, .device = -1};
    char why[OPERANDS_TEXT] = "";
    cr_assert(length == 0 || operation_fits(m->operation, &of, why), "%s", why);
    cr_assert_eq(m->cpu(&t, &p), STATUS_OK, "%s: %s", m->name, p.text);
}

/* The order of element `at` of a message of `length`, found from outside: with numbers that are no
 * two alike, what the tree written in `tree` gives. A digit or letter is a rank's; two values and a
 * + in postfix. */
static double walk(const struct one *c, const char *tree, size_t length, size_t at, enum format f)
{
    double stack[RANKS];
    size_t used = 0;
    for (; *tree; tree++)
        if (*tree == '+') {
            used--;
            stack[used - 1] = format_add(f, stack[used - 1], stack[used]);
        } else {
            size_t rank = (size_t)(*tree <= '9' ? *tree - '0' : *tree - 'a' + 10);
            stack[used++] = format_round(f, array_get(&c->x, rank * length + at));
        }
    cr_assert_eq(used, 1);
    return stack[0];
}

static void expect_tree(const char *name, size_t ranks, size_t length, size_t at, const char *tree)
{
    static struct one c;
    const struct method *m = method_named(name);
    size_t differ = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        enum format f = (enum format)(seed % 3); /* fp16, bf16, fp32 */
        c.x = (struct array){FP64, ranks * length, c.in};
        uint64_t state = seed;
        for (size_t i = 0; i < ranks * length; i++)
            c.in[i] = ldexp((double)(int64_t)sample_next(&state), -60 - (int)(i * 7 % 5));
        run(&c, m, FP64, f, ranks, length);
        double due = walk(&c, tree, length, at, f), got = array_get(&c.y, at);
        double from_0 = format_round(f, c.in[at]);
        for (size_t r = 1; r < ranks; r++)
            from_0 = format_add(f, from_0, format_round(f, c.in[r * length + at]));
        differ += from_0 != due;
        cr_assert(memcmp(&due, &got, sizeof due) == 0,
                  "%s, %zu ranks, element %zu: %a, expected %a", name, ranks, at, got, due);
    }
    /* Else these numbers tell no order from another. */
    cr_assert(strncmp(tree, "01+2+3", 6) == 0 || ranks < 3 || differ > 10, "%s: %zu differ", name,
              differ);
}

Test(allreduce, adds_in_the_order_that_each_algorithm_says)
{
    expect_tree("allreduce/rank_order", 5, 3, 2, "01+2+3+4+");
    expect_tree("allreduce/linear", 5, 3, 1, "43+2+1+0+");
    expect_tree("allreduce/recursive_doubling", 4, 3, 1, "01+23++");
    expect_tree("allreduce/recursive_doubling", 8, 2, 1, "01+23++45+67+++");
    expect_tree("allreduce/recursive_doubling", 6, 2, 0, "01+23++45++");
    expect_tree("allreduce/recursive_doubling", 5, 2, 0, "01+2+34++");
    expect_tree("allreduce/recursive_doubling", 7, 2, 1, "01+23++45+6++");
    expect_tree("allreduce/rabenseifner", 7, 2, 1, "01+23++45+6++");
    /* Ten elements in four blocks: 3, 3, 2, 2. */
    expect_tree("allreduce/ring", 4, 10, 2, "01+2+3+");
    expect_tree("allreduce/ring", 4, 10, 3, "12+3+0+");
    expect_tree("allreduce/ring", 4, 10, 6, "23+0+1+");
    expect_tree("allreduce/ring", 4, 10, 8, "30+1+2+");
    /* Of 8 places 0 is above 4, that above 2 and 6, those above 1, 3, 5, 7. */
    expect_tree("allreduce/double_tree", 8, 3, 1, "0421+3++65+7+++");
    expect_tree("allreduce/double_tree", 8, 3, 2, "7356+4++12+0+++");
    /* 0 - 2 - 1, and 0 is 1, 1 is 2, 2 is 0. */
    expect_tree("allreduce/double_tree", 3, 2, 0, "021++");
    expect_tree("allreduce/double_tree", 3, 2, 1, "102++");
}

Test(allreduce, every_block_adds_every_rank_once)
{
    struct one *c = calloc(1, sizeof *c);
    for (size_t k = 0; k < NAMES; k++)
        for (size_t ranks = 1; ranks <= RANKS; ranks++) {
            for (size_t r = 0; r < ranks; r++)
                for (size_t i = 0; i < LENGTH; i++)
                    c->in[r * LENGTH + i] = ldexp(1, (int)r);
            run(c, method_named(names[k]), FP64, FP64, ranks, LENGTH);
            for (size_t i = 0; i < LENGTH; i++)
                cr_assert(c->out[i] == ldexp(1, (int)ranks) - 1, "%s, %zu ranks, element %zu: %a",
                          names[k], ranks, i, c->out[i]);
        }
    free(c);
}

Test(allreduce, keeps_its_theorem_and_its_exact_value)
{
    struct one *c = calloc(1, sizeof *c);
    uint64_t seed = 7;
    size_t held = 0;
    for (size_t k = 0; k < NAMES; k++)
        for (size_t ranks = 1; ranks <= RANKS; ranks += 3)
            for (enum format s = 0; s < ACCUMULATORS; s++)
                for (enum format f = 0; f < ACCUMULATORS; f++) {
                    const struct method *m = method_named(names[k]);
                    struct array x = {s, ranks * LENGTH, c->in};
                    sample_fill(&x, (enum sample)(held % SAMPLES), f, sample_next(&seed));
                    run(c, m, s, f, ranks, LENGTH);
                    for (size_t i = 0; i < LENGTH; i++) {
                        double column[RANKS];
                        struct reference r;
                        struct measure d;
                        for (size_t q = 0; q < ranks; q++)
                            column[q] = array_get(&c->x, q * LENGTH + i);
                        struct array a = {FP64, ranks, column};
                        struct theorem theorem = {.kind = m->bound, .folds = m->folds};
                        if (m->bin_height)
                            theorem.height = m->bin_height(NULL, ranks, ranks * LENGTH, LENGTH);
                        cr_assert_eq(reference_compute(&r, &a, REFERENCE_MPFR, NULL), STATUS_OK);
                        measure(&d, &r, s, f, array_get(&c->y, i), &theorem);
                        reference_free(&r);
                        cr_assert(!d.broken, "%s, %zu ranks, %s/%s, element %zu", names[k], ranks,
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
    struct one *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    enum { FEW = 9 };
    size_t ring_differs = 0;
    for (uint64_t seed = 1; seed < 300; seed++)
        for (size_t k = 0; k < NAMES; k++) {
            const struct method *m = method_named(names[k]);
            enum format f = (enum format)(seed % ACCUMULATORS);
            struct array x = {FP64, FEW * LENGTH, a->in};
            uint64_t state = seed;
            for (size_t i = 0; i < x.n; i++)
                a->in[i] = ldexp((double)(int64_t)sample_next(&state), -60);
            for (size_t i = 0; i < RANKS * LENGTH; i++)
                b->in[i] = -0.0;
            for (size_t r = 0; r < FEW; r++)
                memcpy(b->in + (r * 4 + seed % 5) % RANKS * LENGTH,
                       a->in + (r + seed) % FEW * LENGTH, LENGTH * sizeof(double));
            run(a, m, FP64, f, FEW, LENGTH);
            run(b, m, FP64, f, RANKS, LENGTH);
            for (size_t i = 0; i < LENGTH; i++) {
                bool same = array_bits(&a->y, i) == array_bits(&b->y, i);
                ring_differs += !same && strcmp(names[k], "allreduce/ring") == 0;
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

/* What `check` calls the first element elsewhere is that element elsewhere, and has other bits in a
 * ring alone. */
Test(allreduce, places_the_first_element_elsewhere)
{
    static struct one a;
    double in[RANKS * 1000];
    struct setting s = {.ranks = 5, .bins = LENGTH};
    struct surrounding at;
    size_t u = 0;
    for (size_t i = 0; i < 5 * LENGTH; i++)
        a.in[i] = (double)i;
    struct array from = {FP64, 5 * LENGTH, a.in};
    for (; setting_surround(&at, &operation_allreduce, &s, u); u++) {
        struct array to = {FP64, at.n, in};
        for (size_t i = 0; i < at.n; i++)
            in[i] = -1;
        cr_assert(at.n == 5 * at.setting.bins && at.output < at.setting.bins);
        setting_embed(&operation_allreduce, &to, &at, &from, &s);
        for (size_t i = 0; i < at.n; i++)
            cr_assert(in[i] == (i % at.setting.bins == at.output
                                    ? (double)(i / at.setting.bins * LENGTH)
                                    : -1),
                      "%s: %zu", at.are, i);
    }
    cr_assert_eq(u, 13);
}
