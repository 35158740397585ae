/* Reduce-scatters: each algorithm's order by hand, in every block where it changes with the block;
 * and against the all-reduces that begin with the same exchanges. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "experiments/operations/operation.h"
#include "tests/support/oracle.h"
#include "tests/support/rank_sums.h"
#include "tests/support/samples.h"

Test(reduce_scatter, adds_in_the_order_that_each_algorithm_says)
{
    expect_ranks_tree("reduce_scatter/rank_order", 5, 3, 2, "01+2+3+4+");
    expect_ranks_tree("reduce_scatter/linear", 5, 3, 1, "43+2+1+0+");
    expect_ranks_tree("reduce_scatter/recursive_halving", 4, 3, 1, "02+13++");
    expect_ranks_tree("reduce_scatter/recursive_halving", 8, 8, 5, "04+26++15+37+++");
    /* 0 and 1, 2 and 3 are folded: (0 1), (2 3), 4, 5. */
    expect_ranks_tree("reduce_scatter/recursive_halving", 6, 7, 6, "01+4+23+5++");
    expect_ranks_tree("reduce_scatter/recursive_halving", 5, 2, 0, "01+3+24++");
    expect_ranks_tree("reduce_scatter/recursive_doubling", 4, 3, 1, "01+23++");
    expect_ranks_tree("reduce_scatter/recursive_doubling", 5, 5, 4, "01+23++4+");
    expect_ranks_tree("reduce_scatter/recursive_doubling", 6, 2, 0, "01+23++45++");
    expect_ranks_tree("reduce_scatter/recursive_doubling", 7, 2, 1, "01+23++45+6++");
    expect_ranks_tree("reduce_scatter/level_tree", 6, 7, 4, "013+5++24++");
    expect_ranks_tree("reduce_scatter/butterfly", 5, 2, 0, "01+2+34++");
    expect_ranks_tree("reduce_scatter/butterfly", 8, 2, 1, "01+23++45+67+++");
}

/* Ten elements in four blocks: 3, 3, 2, 2. */
Test(reduce_scatter, a_block_is_its_owners)
{
    static const struct {
        size_t at;
        const char *ring, *pairwise;
    } due[] = {
        {0, "12+3+0+", "03+2+1+"}, {2, "12+3+0+", "03+2+1+"}, {3, "23+0+1+", "10+3+2+"},
        {5, "23+0+1+", "10+3+2+"}, {6, "30+1+2+", "21+0+3+"}, {7, "30+1+2+", "21+0+3+"},
        {8, "01+2+3+", "32+1+0+"}, {9, "01+2+3+", "32+1+0+"},
    };
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        expect_ranks_tree("reduce_scatter/ring", 4, 10, due[i].at, due[i].ring);
        expect_ranks_tree("reduce_scatter/pairwise", 4, 10, due[i].at, due[i].pairwise);
    }
    /* Of fewer elements than ranks the last ranks have none. */
    expect_ranks_tree("reduce_scatter/ring", 5, 3, 2, "34+0+1+2+");
    expect_ranks_tree("reduce_scatter/pairwise", 5, 3, 0, "04+3+2+1+");
}

/* As many elements are a rank's as its block is long, the first ones by one longer. */
Test(reduce_scatter, an_element_has_one_owner)
{
    for (size_t ranks = 1; ranks <= 9; ranks++)
        for (size_t length = 1; length <= 30; length++) {
            struct setting s = {.ranks = ranks, .bins = length};
            size_t owned[9] = {0}, before = 0;
            for (size_t i = 0; i < length; i++) {
                size_t owner = setting_owner(&operation_reduce_scatter, &s, i);
                cr_assert(owner < ranks && owner >= before, "%zu ranks, element %zu of %zu: %zu",
                          ranks, i, length, owner);
                before = owner;
                owned[owner]++;
            }
            for (size_t r = 0; r < ranks; r++)
                cr_expect(owned[r] == (length + ranks - 1 - r) / ranks,
                          "rank %zu of %zu has %zu of %zu", r, ranks, owned[r], length);
        }
    cr_expect_eq(setting_owner(&operation_allreduce, &(struct setting){.ranks = 2, .bins = 2}, 1),
                 OWNED_BY_NONE);
}

static void fill(struct rank_sums *c, uint64_t seed, size_t ranks, size_t back)
{
    uint64_t state = seed;
    for (size_t r = 0; r < ranks; r++)
        for (size_t i = 0; i < SUMMED_LENGTH; i++)
            c->in[(r + ranks - back) % ranks * SUMMED_LENGTH + i] =
                ldexp((double)(int64_t)sample_next(&state), -60);
}

/* In how many cases has it the bits of an all-reduce whose ranks are turned back by some? */
static size_t equal_to(const char *name, const char *allreduce, size_t back)
{
    static struct rank_sums a, b;
    size_t equal = 0;
    for (uint64_t seed = 1; seed <= 40; seed++)
        for (size_t ranks = 3; ranks <= 12; ranks++) {
            enum format f = (enum format)(seed % ACCUMULATORS);
            fill(&a, seed, ranks, 0);
            fill(&b, seed, ranks, back);
            rank_sums_run(&a, method_named(name), FP64, f, ranks, SUMMED_LENGTH);
            rank_sums_run(&b, method_named(allreduce), FP64, f, ranks, SUMMED_LENGTH);
            bool same = true;
            for (size_t i = 0; i < SUMMED_LENGTH; i++)
                same &= array_bits(&a.y, i) == array_bits(&b.y, i);
            equal += same;
        }
    return equal;
}

/* An all-reduce by a ring is a reduce-scatter, whose block b ends at rank b - 1, and an all-gather.
 * Rabenseifner's exchanges halves from near to far, not from far to near. */
Test(reduce_scatter, is_the_first_part_of_some_all_reduces)
{
    enum { CASES = 40 * 10 };
    cr_expect_eq(equal_to("reduce_scatter/ring", "allreduce/ring", 1), CASES);
    cr_expect(equal_to("reduce_scatter/ring", "allreduce/ring", 0) < CASES / 4);
    cr_expect_eq(equal_to("reduce_scatter/butterfly", "allreduce/rabenseifner", 0), CASES);
    cr_expect_eq(equal_to("reduce_scatter/rank_order", "allreduce/rank_order", 0), CASES);
    cr_expect_eq(equal_to("reduce_scatter/linear", "allreduce/linear", 0), CASES);
    cr_expect(equal_to("reduce_scatter/linear", "allreduce/rank_order", 0) < CASES / 4);
    cr_expect_eq(equal_to("reduce_scatter/exact", "allreduce/exact", 1), CASES);
    cr_expect_eq(equal_to("reduce_scatter/binned", "allreduce/binned", 2), CASES);
    cr_expect(equal_to("reduce_scatter/recursive_halving", "allreduce/rabenseifner", 0) <
              CASES / 4);
}
