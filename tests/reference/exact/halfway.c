/* The arrays of halfway.h tell of a certificate that does not count what it loses: of one such,
 * modelled here, as a GPU's (kernels/sum/exact.cu) would be that took its own errors for exact. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "reference/exact/exact.h"
#include "tests/support/halfway.h"

static double rounded_sum(const struct array *in, enum format f)
{
    struct exact e;
    exact_init(&e);
    exact_add_array(&e, in, 0, in->n);
    return exact_round(&e, f);
}

/* Adds up elements first, first + 1, ... in fp32, their errors in fp64, where some may be lost. */
struct batch {
    float run;
    double error;
};

static void add_vector(struct batch *b, const struct array *in, size_t first)
{
    enum { VECTOR = 4 };
    for (size_t i = first; i < first + VECTOR && i < in->n; i++) {
        float x = (float)array_get(in, i), sum = b->run + x, of_x = sum - b->run;
        b->error += (double)((b->run - (sum - of_x)) + (x - of_x));
        b->run = sum;
    }
}

/* Batches of 4 vectors of 4 elements, each so many elements behind the one before. */
static double careless_sum(const struct array *in, enum format f)
{
    enum { STEP = 1024, LOADS = 4 };
    struct exact e;
    exact_init(&e);
    for (size_t chunk = 0; chunk < in->n; chunk += STEP * LOADS)
        for (size_t lane = chunk; lane < chunk + STEP; lane += 4) {
            struct batch b = {-0.0f, 0};
            for (size_t load = 0; load < LOADS; load++)
                add_vector(&b, in, lane + load * STEP);
            exact_add(&e, (double)b.run);
            exact_add(&e, b.error);
        }
    return exact_round(&e, f);
}

Test(halfway, tells_of_a_careless_sum)
{
    enum { N = 70000 };
    struct array in = {FP32, N, malloc(N * sizeof(float))};
    cr_assert(in.data);
    for (enum format f = FP16; f <= FP32; f++)
        for (int below = 54; below <= 100; below += 23)
            for (uint64_t seed = 0; seed < 4; seed++) {
                cr_assert(halfway_fill(&in, f, below, true, seed), "%s, 2^-%d, seed %d",
                          format_facts[f].name, below, (int)seed);
                cr_expect_neq(careless_sum(&in, f), rounded_sum(&in, f), "%s, 2^-%d, seed %d",
                              format_facts[f].name, below, (int)seed);
            }
    free(in.data);
}

/* In every format the small element decides: without it the sum rounds otherwise. */
Test(halfway, the_small_one_decides)
{
    enum { N = 5000 };
    for (enum format s = 0; s < ACCUMULATORS; s++) {
        struct array in = {s, N, malloc(array_bytes(s, N))},
                     less = {s, N, malloc(array_bytes(s, N))};
        size_t held = 0;
        cr_assert(in.data && less.data);
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (int below = 1; below <= (s == FP16 ? 4 : 100); below += 3) {
                if (!halfway_fill(&in, f, below, true, 7) || !halfway_fill(&less, f, 0, true, 7) ||
                    isinf(rounded_sum(&in, f)))
                    continue;
                cr_expect_neq(rounded_sum(&in, f), rounded_sum(&less, f), "%s in %s, 2^-%d",
                              format_facts[s].name, format_facts[f].name, below);
                cr_assert(halfway_fill(&in, f, below, false, 7));
                cr_expect_eq(rounded_sum(&in, f), rounded_sum(&less, f), "%s in %s, 2^-%d",
                             format_facts[s].name, format_facts[f].name, below);
                held++;
            }
        cr_expect(held > 0, "no case of %s", format_facts[s].name);
        free(in.data);
        free(less.data);
    }
}
