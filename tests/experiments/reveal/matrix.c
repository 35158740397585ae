/* Reveal of a matrix product: every row of the table is recovered from the model's outputs alone,
 * and black boxes that no row is like are not taken for one. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "experiments/reveal/matrix.h"
#include "reference/format/array.h"

static enum status model(void *context, size_t m, size_t n, size_t k, const void *a, const void *b,
                         const void *c, void *d, struct problem *p)
{
    (void)p;
    mma_product(context, m, n, k, a, b, c, d);
    return STATUS_OK;
}

typedef enum status product(void *context, size_t m, size_t n, size_t k, const void *a,
                            const void *b, const void *c, void *d, struct problem *p);

static struct reveal_matrix revealed(product *f, void *context, enum mma_element element,
                                     enum format result, size_t k)
{
    struct reveal_matrix_subject s = {.element = element,
                                      .result = result,
                                      .m = 1,
                                      .n = 1,
                                      .k = k,
                                      .product = f,
                                      .context = context};
    struct reveal_matrix r;
    struct problem p = {0};
    cr_assert(reveal_matrix(&r, &s, 1, &p) == STATUS_OK, "%s", p.text);
    return r;
}

static struct reveal_matrix of_rule(const struct mma_rule *rule, size_t k)
{
    struct mma_rule copy = *rule;
    return revealed(model, &copy, rule->element, rule->result, k);
}

Test(reveal_matrix, recovers_every_row)
{
    size_t rows = 0;
    for (size_t i = 0; i < mma_instruction_count; i++) {
        const struct mma_rule *due = &mma_instructions[i].rule;
        bool there = false;
        for (size_t j = 0; j < i; j++)
            there |= memcmp(&mma_instructions[j].rule, due, sizeof *due) == 0;
        if (there)
            continue;
        struct reveal_matrix r = of_rule(due, 96);
        char name[MMA_NAME];
        mma_name(name, &mma_instructions[i]);
        cr_expect(r.verdict == REVEAL_MATRIX_RULE, "%s: verdict %d: %s", name, r.verdict, r.words);
        cr_expect(r.ordered && r.block && r.rule.block == due->block &&
                      r.rule.order == due->order && r.rule.c == due->c,
                  "%s: K = %d, order %d, C %d", name, r.rule.block, r.rule.order, r.rule.c);
        cr_expect(r.held == 500 && r.differing == 0, "%s: %llu of %llu", name,
                  (unsigned long long)r.differing, (unsigned long long)r.held);
        cr_expect(r.rule.fraction == due->fraction, "%s: F = %d", name, r.rule.fraction);
        if (due->fraction != MMA_EXACT) {
            cr_expect(r.fraction && r.alignment && r.kept && r.rounding, "%s", name);
            cr_expect(r.rule.alignment == MMA_TRUNCATE && r.rule.kept == due->kept &&
                          r.rule.rounding == due->rounding,
                      "%s: kept %d, rounding %d", name, r.rule.kept, r.rule.rounding);
        }
        reveal_matrix_free(&r);
        rows++;
    }
    cr_expect(rows >= 20, "%zu", rows);
    /* One block alone does not say where it ends. */
    struct reveal_matrix r = of_rule(&mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule, 16);
    cr_expect(r.verdict == REVEAL_MATRIX_RULE && r.rule.block == 16 && !r.block);
    reveal_matrix_free(&r);
    /* Several of one instruction do. */
    struct mma_rule last_first = mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule;
    last_first.k = 64;
    last_first.block = 8;
    last_first.order = MMA_BACKWARDS;
    r = of_rule(&last_first, 64);
    cr_expect(r.verdict == REVEAL_MATRIX_RULE && r.rule.block == 8 && r.block);
    reveal_matrix_free(&r);
}

/* Rules that no chip has are told as they are. */
Test(reveal_matrix, mutants_are_told_apart)
{
    const struct mma_rule h100 = mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule;
    struct mma_rule other[6];
    for (size_t i = 0; i < 6; i++)
        other[i] = h100;
    other[0].fraction = 26;
    other[1].block = 8;
    other[1].order = MMA_BACKWARDS;
    other[2].c = MMA_C_LAST;
    other[3].rounding = MMA_NEAREST;
    other[4].alignment = MMA_ROUND_TERMS;
    other[5].zeros = true;
    for (size_t i = 0; i < 6; i++) {
        struct reveal_matrix r = of_rule(&other[i], 64);
        cr_expect(r.verdict == REVEAL_MATRIX_RULE, "%zu: %d %s", i, r.verdict, r.words);
        cr_expect(r.rule.fraction == other[i].fraction && r.rule.block == other[i].block &&
                      r.rule.order == other[i].order && r.rule.c == other[i].c &&
                      r.rule.rounding == other[i].rounding &&
                      r.rule.alignment == other[i].alignment && r.rule.zeros == other[i].zeros,
                  "%zu", i);
        reveal_matrix_free(&r);
    }
    struct mma_rule sticky = h100;
    sticky.alignment = MMA_STICKY;
    struct reveal_matrix r = of_rule(&sticky, 64);
    cr_expect(r.verdict != REVEAL_MATRIX_RULE, "%s", r.words);
    reveal_matrix_free(&r);
}

/* Terms are cut to F bits, sums keep more of them: what a block cuts off the sum before it is not
 * taken for the rounding of results. */
Test(reveal_matrix, results_keep_more_than_terms)
{
    static const size_t many[] = {3, 20, 32, 33, 40, 64, 96, 1100};
    for (int fraction = 13; fraction <= 20; fraction += 7)
        for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
            struct mma_rule rule = mma_find("h100", MMA_WGMMA, MMA_FP16, FP32)->rule;
            rule.k = rule.block = 32;
            rule.fraction = fraction;
            rule.kept = 23;
            rule.rounding = i % 2 ? MMA_NEAREST : MMA_TOWARD_ZERO;
            struct reveal_matrix r = of_rule(&rule, many[i]);
            cr_expect(r.verdict == REVEAL_MATRIX_RULE && r.differing == 0, "F %d, k %zu: %d %s",
                      fraction, many[i], r.verdict, r.words);
            cr_expect(r.rule.kept == 23 && (!r.rounding || r.rule.rounding == rule.rounding),
                      "F %d, k %zu: kept %d", fraction, many[i], r.rule.kept);
            reveal_matrix_free(&r);
        }
}

/* The bits that terms reach below those of results are 1 to 5: rounding shows in each. */
Test(reveal_matrix, rounding_is_told_of_terms_of_few_and_many_bits)
{
    static const int many[] = {4, 5, 8, 16, 32};
    for (int fraction = 21; fraction <= 27; fraction++)
        for (size_t i = 0; i < sizeof many / sizeof *many; i++)
            for (int way = 0; way < 4; way++) {
                struct mma_rule rule = mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule;
                rule.k = rule.block = many[i];
                rule.fraction = fraction;
                rule.alignment = way % 2 ? MMA_ROUND_TERMS : MMA_TRUNCATE;
                rule.rounding = way / 2 ? MMA_NEAREST : MMA_TOWARD_ZERO;
                struct reveal_matrix r = of_rule(&rule, 64);
                cr_expect(r.verdict == REVEAL_MATRIX_RULE && r.differing == 0,
                          "F %d, K %d, way %d: verdict %d, %zu differ: %s", fraction, many[i], way,
                          r.verdict, r.differing, r.words);
                cr_expect(!r.rounding || r.rule.rounding == rule.rounding,
                          "F %d, K %d, way %d: rounding %d", fraction, many[i], way,
                          r.rule.rounding);
                reveal_matrix_free(&r);
            }
}

/* Cut to a bit more than fp32 has, and rounded to nearest: sums of three are those of two
 * additions, which is no order that depends on the data. */
static enum status otherwise_if_large(void *context, size_t m, size_t n, size_t k, const void *a,
                                      const void *b, const void *c, void *d, struct problem *p)
{
    struct mma_rule r = *(struct mma_rule *)context;
    const struct array x = {FP16, k, (void *)(uintptr_t)a};
    if (array_get(&x, 0) != ldexp(1, ilogb(array_get(&x, 0))) && array_get(&x, 4) != 0)
        r.fraction--;
    return model(&r, m, n, k, a, b, c, d, p);
}

Test(reveal_matrix, cut_terms_are_no_pairs)
{
    struct mma_rule rule = mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule;
    rule.rounding = MMA_NEAREST;
    for (size_t k = 16; k <= 64; k += 24) {
        struct reveal_matrix r = revealed(otherwise_if_large, &rule, MMA_FP16, FP32, k);
        cr_expect(r.verdict == REVEAL_MATRIX_OTHERWISE, "%zu: %d %s", k, r.verdict, r.words);
        reveal_matrix_free(&r);
    }
}

/* All products and C at once, cut to 2^-20 of the largest power of two. */
static enum status at_once(void *context, size_t m, size_t n, size_t k, const void *a,
                           const void *b, const void *c, void *d, struct problem *p)
{
    const struct array x = {FP16, k, (void *)(uintptr_t)a}, y = {FP16, k, (void *)(uintptr_t)b};
    const struct array z = {FP32, 1, (void *)(uintptr_t)c}, to = {FP32, 1, d};
    double largest = fabs(array_get(&z, 0)), sum = 0;
    (void)context, (void)m, (void)n, (void)p;
    for (size_t i = 0; i < k; i++)
        largest = fmax(largest, fabs(array_get(&x, i) * array_get(&y, i)));
    const double unit = largest > 0 ? ldexp(1, ilogb(largest) - 20) : 1;
    for (size_t i = 0; i < k; i++)
        sum += trunc(array_get(&x, i) * array_get(&y, i) / unit);
    sum = (sum + trunc(array_get(&z, 0) / unit)) * unit;
    array_encode(&to, 0, 1, &sum);
    return STATUS_OK;
}

Test(reveal_matrix, more_at_once_than_a_rule_has)
{
    static const size_t many[] = {65, 127, 128};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        struct reveal_matrix r = revealed(at_once, NULL, MMA_FP16, FP32, many[i]);
        cr_expect(r.verdict == REVEAL_MATRIX_NOT_TOLD && r.held == 0, "%zu: %d %s", many[i],
                  r.verdict, r.words);
        cr_expect(strstr(r.words, "fused sums of more than 64 products") &&
                      !strstr(r.words, "no chain"),
                  "%zu: %s", many[i], r.words);
        reveal_matrix_free(&r);
    }
}

/* `parts` partial sums of consecutive k, added to the first, to nearest. */
struct split {
    struct mma_rule rule;
    size_t parts;
};

static enum status split_k(void *context, size_t m, size_t n, size_t k, const void *a,
                           const void *b, const void *c, void *d, struct problem *p)
{
    const struct split *s = context;
    const size_t bytes = (size_t)mma_elements[s->rule.element].bits / 8, share = k / s->parts;
    double sum = 0;
    (void)m, (void)n, (void)p;
    for (size_t i = 0; i < s->parts; i++) {
        size_t at = i * share * bytes;
        uint32_t from = 0;
        memcpy(&from, c, i ? 0 : sizeof from);
        double part = format_decode(
            FP32, mma_dot(&s->rule, share, (const char *)a + at, (const char *)b + at, from));
        sum = i ? format_add(FP32, sum, part) : part;
    }
    uint32_t bits = (uint32_t)format_encode(FP32, sum);
    memcpy(d, &bits, sizeof bits);
    return STATUS_OK;
}

Test(reveal_matrix, split_k_is_a_tree_of_parts)
{
    for (size_t parts = 2; parts <= 4; parts *= 2) {
        struct split s = {mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule, parts};
        struct reveal_matrix r = revealed(split_k, &s, MMA_FP16, FP32, 128);
        cr_expect(r.verdict == REVEAL_MATRIX_ADDS && !r.ordered && r.held == 500, "%d %s",
                  r.verdict, r.words);
        cr_expect(r.partial == parts, "%zu, not %zu", r.partial, parts);
        cr_expect(r.fraction && r.rule.fraction == 25 && r.rule.kept == 23);
        reveal_matrix_free(&r);
    }
}

/* The exact sum, rounded once. */
static enum status exact(void *context, size_t m, size_t n, size_t k, const void *a, const void *b,
                         const void *c, void *d, struct problem *p)
{
    const struct array x = {FP16, k, (void *)(uintptr_t)a}, y = {FP16, k, (void *)(uintptr_t)b};
    const struct array z = {FP32, 1, (void *)(uintptr_t)c}, to = {FP32, 1, d};
    __int128 sum =
        (__int128)ldexp(array_get(&z, 0), 48); /* products of fp16 are multiples of 2^-48 */
    (void)context, (void)m, (void)n, (void)p;
    for (size_t i = 0; i < k; i++)
        sum += (__int128)ldexp(array_get(&x, i) * array_get(&y, i), 48);
    double value = ldexp((double)sum, -48);
    array_encode(&to, 0, 1, &value);
    return STATUS_OK;
}

/* Another order each time. */
static enum status restless(void *context, size_t m, size_t n, size_t k, const void *a,
                            const void *b, const void *c, void *d, struct problem *p)
{
    unsigned *calls = context;
    struct mma_rule r = mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule;
    if (++*calls > 300 && *calls % 3 == 0) {
        r.block = 8;
        r.order = MMA_BACKWARDS;
    }
    return model(&r, m, n, k, a, b, c, d, p);
}

/* The last column is computed otherwise. */
static enum status uneven(void *context, size_t m, size_t n, size_t k, const void *a, const void *b,
                          const void *c, void *d, struct problem *p)
{
    struct mma_rule r = *(struct mma_rule *)context;
    enum status status = model(&r, m, n, k, a, b, c, d, p);
    r.block = 4;
    const struct array from = {r.result, m * n, (void *)(uintptr_t)c}, to = {r.result, m * n, d};
    array_set_bits(&to, m * n - 1, mma_dot(&r, k, a, b, array_bits(&from, 0)));
    return status;
}

Test(reveal_matrix, others_are_not_taken_for_a_rule)
{
    struct mma_rule h100 = mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule;
    unsigned calls = 0;
    struct reveal_matrix r = revealed(restless, &calls, MMA_FP16, FP32, 32);
    cr_expect(r.verdict == REVEAL_MATRIX_CHANGES || r.verdict == REVEAL_MATRIX_NO_TREE, "%d",
              r.verdict);
    reveal_matrix_free(&r);
    r = revealed(exact, NULL, MMA_FP16, FP32, 32);
    cr_expect(r.verdict == REVEAL_MATRIX_EXACT, "%d %s", r.verdict, r.words);
    reveal_matrix_free(&r);
    struct reveal_matrix_subject s = {.element = MMA_FP16,
                                      .result = FP32,
                                      .m = 3,
                                      .n = 2,
                                      .k = 32,
                                      .product = uneven,
                                      .context = &h100};
    cr_assert(reveal_matrix(&r, &s, 1, NULL) == STATUS_OK);
    cr_expect(r.verdict == REVEAL_MATRIX_PLACES && strstr(r.words, "D[2][1]"), "%d %s", r.verdict,
              r.words);
    reveal_matrix_free(&r);
    s.product = model;
    cr_assert(reveal_matrix(&r, &s, 1, NULL) == STATUS_OK);
    cr_expect(r.verdict == REVEAL_MATRIX_RULE, "%d %s", r.verdict, r.words);
    reveal_matrix_free(&r);
}

/* A wrong bit of a product in a hundred: the tree is right, the rule does not hold. */
static enum status rare(void *context, size_t m, size_t n, size_t k, const void *a, const void *b,
                        const void *c, void *d, struct problem *p)
{
    enum status status = model(context, m, n, k, a, b, c, d, p);
    uint32_t bits;
    memcpy(&bits, d, sizeof bits);
    bits ^= bits % 127 == 5;
    memcpy(d, &bits, sizeof bits);
    return status;
}

Test(reveal_matrix, rare_wrong_bits_break_the_verdict)
{
    struct mma_rule h100 = mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule;
    struct reveal_matrix r = revealed(rare, &h100, MMA_FP16, FP32, 48);
    cr_expect(r.verdict == REVEAL_MATRIX_OTHERWISE && r.differing > 0, "%d %s", r.verdict, r.words);
    reveal_matrix_free(&r);
}

/* Backwards where all products are positive and the largest is below so many times the smallest. */
static double below;

static enum status turns(void *context, size_t m, size_t n, size_t k, const void *a, const void *b,
                         const void *c, void *d, struct problem *p)
{
    struct mma_rule r = *(struct mma_rule *)context;
    const struct array x = {FP16, k, (void *)(uintptr_t)a}, y = {FP16, k, (void *)(uintptr_t)b};
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < k; i++) {
        least = fmin(least, array_get(&x, i) * array_get(&y, i));
        most = fmax(most, array_get(&x, i) * array_get(&y, i));
    }
    bool power = array_get(&x, 0) == ldexp(1, ilogb(array_get(&x, 0)));
    if (least > 0 && most < below * least && !power) {
        r.block = 8;
        r.order = MMA_BACKWARDS;
    }
    return model(&r, m, n, k, a, b, c, d, p);
}

Test(reveal_matrix, an_order_that_depends_on_the_data_breaks_the_verdict)
{
    static const double most[] = {5, INFINITY};
    struct mma_rule h100 = mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule;
    for (size_t i = 0; i < 2; i++) {
        below = most[i];
        struct reveal_matrix r = revealed(turns, &h100, MMA_FP16, FP32, 48);
        cr_expect(r.verdict == REVEAL_MATRIX_OTHERWISE && r.differing > 0, "%g: %d %s", most[i],
                  r.verdict, r.words);
        reveal_matrix_free(&r);
    }
}

static enum status failing(void *context, size_t m, size_t n, size_t k, const void *a,
                           const void *b, const void *c, void *d, struct problem *p)
{
    unsigned *calls = context;
    struct mma_rule h100 = mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule;
    return ++*calls < 20 ? model(&h100, m, n, k, a, b, c, d, p) : problem(p, STATUS_DEVICE, "gone");
}

Test(reveal_matrix, failures_are_passed_on)
{
    unsigned calls = 0;
    struct reveal_matrix r;
    struct reveal_matrix_subject s = {.element = MMA_FP16,
                                      .result = FP32,
                                      .m = 1,
                                      .n = 1,
                                      .k = 32,
                                      .product = failing,
                                      .context = &calls};
    struct problem p = {0};
    cr_expect(reveal_matrix(&r, &s, 1, &p) == STATUS_DEVICE && calls == 20, "%s", p.text);
    reveal_matrix_free(&r);
    s.k = 1;
    cr_expect(reveal_matrix(&r, &s, 1, &p) == STATUS_USAGE);
    reveal_matrix_free(&r);
}

Test(reveal_matrix, says_what_it_found)
{
    struct mma_rule h100 = mma_find("h100", MMA_SYNC, MMA_E4M3, FP32)->rule;
    struct reveal_matrix_subject s = {.element = MMA_E4M3,
                                      .result = FP32,
                                      .m = 1,
                                      .n = 1,
                                      .k = 64,
                                      .product = model,
                                      .context = &h100};
    struct reveal_matrix r;
    char text[8192] = "";
    cr_assert(reveal_matrix(&r, &s, 1, NULL) == STATUS_OK);
    FILE *to = fmemopen(text, sizeof text - 1, "w");
    cr_assert(to);
    reveal_matrix_print(to, &r, &s);
    fclose(to);
    cr_expect(strstr(text, "K: 16 products of a fused sum; blocks first the k with k mod 4 < 2"),
              "%s", text);
    cr_expect(strstr(text, "C: added behind the last block"), "%s", text);
    cr_expect(strstr(text, "at once"), "%s", text);
    reveal_matrix_free(&r);
}
