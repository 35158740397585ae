/* Reveal of products of more terms than are told apart one by one: what goes on over all of k is
 * found from the first of them, and what does not is found out. */
#include <criterion/criterion.h>
#include <string.h>

#include "experiments/reveal/matrix_chains.h"
#include "reference/format/array.h"

enum { DEEP = 4096 };

/* A black box: chains of `every` products by a rule (0: one chain), whose sums are added to fp32;
 * from product `from` on by another rule. */
struct box {
    struct mma_rule rule, other;
    size_t every, from;
    enum { ONTO_C, C_BEHIND, C_IN_FIRST } c;
    unsigned calls, restless;
};

static double chain_of(const struct box *b, const char *x, const char *y, size_t begin, size_t end,
                       double c)
{
    const size_t bytes = (size_t)mma_elements[b->rule.element].bits / 8;
    const enum format f = b->rule.result;
    uint64_t bits = format_encode(f, c);
    const size_t middle = b->from < begin ? begin : b->from < end ? b->from : end;
    bits = mma_dot(&b->rule, middle - begin, x + begin * bytes, y + begin * bytes, bits);
    bits = mma_dot(&b->other, end - middle, x + middle * bytes, y + middle * bytes, bits);
    return format_decode(f, bits);
}

static enum status product(void *context, size_t m, size_t n, size_t k, const void *a,
                           const void *b, const void *c, void *d, struct problem *p)
{
    struct box *box = context;
    const enum format f = box->rule.result;
    const size_t length = box->every ? box->every : k;
    const struct array from = {f, 1, (void *)(uintptr_t)c}, to = {f, 1, d};
    double sum = array_get(&from, 0), all = 0;
    cr_assert(m == 1 && n == 1);
    (void)p;
    if (box->restless && ++box->calls > box->restless && box->calls % 3 == 0)
        box->other = box->rule, box->other.block /= 2;
    for (size_t begin = 0; begin < k; begin += length) {
        const size_t end = begin + length < k ? begin + length : k;
        const bool with = begin == 0 && box->c == C_IN_FIRST;
        const double one = chain_of(box, a, b, begin, end, with ? sum : 0);
        all = begin == 0 ? (box->c == ONTO_C ? format_add(f, sum, one) : one)
                         : format_add(f, all, one);
    }
    all = box->c == C_BEHIND ? format_add(f, all, sum) : all;
    array_set_bits(&to, 0, format_encode(f, all));
    return STATUS_OK;
}

static struct reveal_matrix revealed(struct box *box, size_t k)
{
    const struct reveal_matrix_subject s = {.element = box->rule.element,
                                            .result = box->rule.result,
                                            .m = 1,
                                            .n = 1,
                                            .k = k,
                                            .product = product,
                                            .context = box};
    struct reveal_matrix r;
    struct problem p = {0};
    cr_assert(reveal_matrix(&r, &s, 1, &p) == STATUS_OK, "%s", p.text);
    return r;
}

static struct box box_of(const char *chip, enum mma_unit unit, enum mma_element element,
                         enum format result)
{
    const struct mma_rule rule = mma_find(chip, unit, element, result)->rule;
    return (struct box){.rule = rule, .other = rule, .from = SIZE_MAX, .c = C_IN_FIRST};
}

Test(reveal_matrix_deep, rules_over_all_of_k)
{
    static const struct {
        const char *chip;
        enum mma_unit unit;
        enum mma_element element;
        enum format result;
        size_t k;
    } row[] = {{"h100", MMA_SYNC, MMA_FP16, FP32, DEEP},  {"h100", MMA_SYNC, MMA_E4M3, FP32, DEEP},
               {"h100", MMA_WGMMA, MMA_E4M3, FP32, DEEP}, {"h100", MMA_WGMMA, MMA_TF32, FP32, DEEP},
               {"h100", MMA_WGMMA, MMA_FP16, FP16, DEEP}, {"ada", MMA_SYNC, MMA_BF16, FP32, 1025},
               {"v100", MMA_SYNC, MMA_FP16, FP32, 3001}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct box box = box_of(row[i].chip, row[i].unit, row[i].element, row[i].result);
        struct reveal_matrix r = revealed(&box, row[i].k);
        cr_expect(r.verdict == REVEAL_MATRIX_RULE && r.ordered, "%zu: %d %s", i, r.verdict,
                  r.words);
        cr_expect(r.rule.block == box.rule.block && r.rule.order == box.rule.order &&
                      r.rule.c == box.rule.c && r.rule.fraction == box.rule.fraction &&
                      r.rule.kept == box.rule.kept && r.rule.rounding == box.rule.rounding,
                  "%zu: K = %d, F = %d", i, r.rule.block, r.rule.fraction);
        cr_expect(r.first == REVEAL_MATRIX_FIRST && r.sampled == 256 && r.held == 500 &&
                      r.differing == 0 && r.tree.leaves == row[i].k + 1,
                  "%zu: %zu, %llu, %llu", i, r.first, (unsigned long long)r.sampled,
                  (unsigned long long)r.held);
        reveal_matrix_free(&r);
    }
}

/* Chains of any length, shorter and longer than what is told apart, and C in each place. */
Test(reveal_matrix_deep, chains_over_all_of_k)
{
    static const size_t every[] = {32, 64, 100, 128, 500, 1000, 2048};
    for (size_t i = 0; i < sizeof every / sizeof *every; i++)
        for (int c = 0; c < 3; c++) {
            struct box box = box_of("h100", MMA_WGMMA, MMA_E4M3, FP32);
            struct matrix_chains chains;
            if (every[i] != 128 && every[i] != 500 && i % 3 != (size_t)c)
                continue;
            box.every = every[i];
            box.c = c;
            struct reveal_matrix r = revealed(&box, DEEP);
            cr_assert(r.tree.additions > 0, "every %zu, C %d: %d %s", every[i], c, r.verdict,
                      r.words);
            cr_expect((r.verdict == REVEAL_MATRIX_ADDS || r.verdict == REVEAL_MATRIX_RULE) &&
                          r.differing == 0 && r.held == 500,
                      "every %zu, C %d: %d %s", every[i], c, r.verdict, r.words);
            cr_expect(r.rule.fraction == 13 && r.rule.kept == 13, "%d", r.rule.fraction);
            cr_assert(matrix_chains_of(&chains, &r.tree, DEEP, NULL) == STATUS_OK);
            cr_expect(chains.count == (DEEP + every[i] - 1) / every[i] &&
                          chains.join == MATRIX_JOIN_ORDER,
                      "every %zu, C %d: %zu chains", every[i], c, chains.count);
            cr_expect(chains.c == (c == C_BEHIND     ? MATRIX_C_LAST
                                   : c == C_IN_FIRST ? MATRIX_C_WITH_PRODUCTS
                                                     : MATRIX_C_BETWEEN),
                      "every %zu, C %d: %d", every[i], c, chains.c);
            reveal_matrix_free(&r);
        }
}

/* What begins as a rule and goes on as another, from some product on, is not taken for it: neither
 * half of k nor the last sixteen products. */
Test(reveal_matrix_deep, a_change_on_the_way_is_found_out)
{
    static const size_t from[] = {1024, 2048, 3000, DEEP - 16};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        for (int way = 0; way < 3; way++) {
            struct box box = box_of("h100", MMA_SYNC, MMA_FP16, FP32);
            box.from = from[i];
            if (from[i] != 2048 && i % 3 != (size_t)way)
                continue;
            if (way == 0) {
                box.other.block = 8;
            } else if (way == 1) {
                box.other.block = 8;
                box.other.order = MMA_BACKWARDS;
            } else { /* the same order, with other arithmetic */
                box.other.fraction = 23;
            }
            struct reveal_matrix r = revealed(&box, DEEP);
            cr_expect(r.verdict == REVEAL_MATRIX_IRREGULAR || r.verdict == REVEAL_MATRIX_OTHERWISE,
                      "from %zu, %d: %d %s", from[i], way, r.verdict, r.words);
            cr_expect(r.words[0], "from %zu, %d", from[i], way);
            reveal_matrix_free(&r);
        }
}

/* From a question of those over all of k on, the answers change. */
Test(reveal_matrix_deep, what_changes_is_told)
{
    struct box box = box_of("h100", MMA_SYNC, MMA_FP16, FP32);
    box.from = 2048;
    struct reveal_matrix r = revealed(&box, DEEP);
    cr_assert(r.verdict == REVEAL_MATRIX_RULE, "%s", r.words);
    const unsigned before = (unsigned)(r.calls - r.held - r.sampled);
    reveal_matrix_free(&r);
    box.restless = before;
    r = revealed(&box, DEEP);
    cr_expect(r.verdict != REVEAL_MATRIX_RULE && r.verdict != REVEAL_MATRIX_ADDS, "%d", r.verdict);
    reveal_matrix_free(&r);
}
