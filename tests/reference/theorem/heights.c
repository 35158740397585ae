/* The heights that bounds are made of are those of the trees that methods really add in: of bins,
 * whatever their keys, as their bits reveal them. (Those of sums, prefixes and segments are held to
 * declared orders by holds_order.c and holds_scan_order.c.) */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "experiments/reveal/reveal.h"
#include "experiments/sweep/shared.h"
#include "kernels/method/method.h"
#include "kernels/scatter/ordered.h"
#include "reference/measure/measure.h"
#include "tests/support/samples.h"

enum { MOST = 3100, TERMS = 45, BINS = 5000 };

/* The elements of one bin among others, which are zeros in other bins. */
struct bin {
    const struct method *method;
    size_t n, bins, terms, element[TERMS];
    float in[MOST], out[BINS], own[TERMS];
    uint32_t key[MOST];
};

static enum status evaluate(void *context, double *result, struct problem *p)
{
    struct bin *b = context;
    struct task task = {
        .of = &(struct operands){.in = {FP32, b->n, b->in}, .keys = b->key, .bins = b->bins},
        .out = {FP32, b->bins, b->out},
        .accumulator = FP32,
        .shape = method_shape(b->method, DEVICE_CPU, b->n, (struct shape){0}),
        .method = b->method};
    for (size_t k = 0; k < b->terms; k++)
        b->in[b->element[k]] = b->own[k];
    enum status status = b->method->cpu(&task, p);
    *result = b->out[0];
    return status;
}

static size_t revealed_height(struct bin *b)
{
    struct reveal r;
    struct sum_tree_nodes nodes;
    size_t height = 0;
    struct reveal_subject s = {.in = {FP32, b->terms, b->own},
                               .leaves = b->terms,
                               .accumulator = FP32,
                               .output = FP32,
                               .evaluate = evaluate,
                               .context = b};
    cr_assert_eq(reveal_order(&r, &s, 1, NULL), STATUS_OK);
    cr_assert_eq(r.verdict, REVEAL_TREE, "%s", r.words);
    cr_assert_eq(sum_tree_nodes_make(&nodes, &r.tree, NULL), STATUS_OK);
    for (size_t i = 0; i < b->terms; i++)
        height = nodes.depth[i] > height ? nodes.depth[i] : height;
    free(nodes.parent);
    reveal_free(&r);
    return height;
}

/* `share` of 256 elements go to bin 0, in runs or not. */
static void fill(struct bin *b, size_t n, size_t bins, unsigned share, size_t run, uint64_t seed)
{
    b->n = n;
    b->bins = bins;
    b->terms = 0;
    memset(b->in, 0, sizeof b->in);
    for (size_t i = 0; i < n; i++) {
        uint64_t state = seed * 1000003 + i / run, word = sample_next(&state);
        bool own = word % 256 < share && b->terms < TERMS;
        b->key[i] = own || bins == 1 ? 0 : (uint32_t)(1 + word / 256 % (bins - 1));
        if (own)
            b->element[b->terms++] = i;
    }
}

Test(heights, of_bins_are_those_of_their_trees)
{
    static struct bin b;
    static const size_t length[] = {40, 64, 300, 1024, 3000, MOST}, bins[] = {2, 7, 4096, BINS};
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++) {
        b.method = method_registry[i];
        if (b.method->operation != &operation_scatter || !b.method->bin_height)
            continue;
        for (size_t k = 0; k < 6 * 4 * 4; k += k % 2 ? 1 : 1 + (k > 48)) {
            static const unsigned share[] = {256, 60, 9, 2};
            fill(&b, length[k % 6], bins[k / 6 % 4], share[k / 24], 1 + k % 3 * 15, k);
            if (b.terms == 0)
                continue;
            size_t due = revealed_height(&b);
            size_t height = b.method->bin_height(b.element, b.terms, b.n, b.bins);
            cr_expect(height == due, "%s, n = %zu, %zu bins, %zu terms: %zu, by its bits %zu",
                      b.method->name, b.n, b.bins, b.terms, height, due);
            held++;
        }
    }
    cr_expect(held > 90, "%zu", held);
}

Test(heights, of_rows_are_those_of_their_lengths)
{
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++)
        for (size_t n = 1; n < 3000; n += 1 + n / 9) {
            const struct method *m = method_registry[i];
            if (m->operation != &operation_rows || !m->bin_height)
                continue;
            cr_expect(m->bin_height(NULL, n, 7 * n, 7) == m->height(n, (struct shape){0}), "%s",
                      m->name);
            held++;
        }
    cr_expect(held > 50);
}

/* An output of no fewer digits lacks some of the accumulator's only where it is subnormal. */
Test(heights, rounding_to_an_output_of_more_digits_costs_nothing)
{
    static const double at[] = {1, 0x1p-14, 0x1.8p-17, 0x1p-17, 0x1p-20, 0x1p-24};
    for (size_t i = 0; i < 6; i++) {
        struct reference r;
        struct measure m, wide;
        double x = at[i];
        struct theorem t = {.kind = THEOREM_TREE, .height = 3};
        cr_assert(reference_compute(&r, &(struct array){FP64, 1, &x}, REFERENCE_FAST, NULL) ==
                  STATUS_OK);
        measure_output(&m, &r, BF16, BF16, FP16, x, &t);
        measure(&wide, &r, BF16, BF16, x, &t);
        double more = x > 0x1p-17 ? 0 : 0x1p-25;
        cr_expect(m.bound.value == wide.bound.value + more, "%a: %a, %a", x, m.bound.value,
                  wide.bound.value);
        reference_free(&r);
    }
    /* and where each number of the accumulator in the range rounds to itself, it is right */
    for (uint64_t bits = 0; bits < 0x7f80; bits++) {
        double x = format_decode(BF16, bits), y = format_round(FP16, x);
        if (fabs(y) > measure_output_exact(FP16, BF16) && isfinite(y))
            cr_assert(x == y, "%a", x);
    }
    cr_expect(isinf(measure_output_exact(BF16, FP16)));
}
