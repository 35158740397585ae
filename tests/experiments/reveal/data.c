/* A tree that masks show is held to other data: sums whose order depends on the data, and sums that
 * do not add in pairs, are told from fixed orders and from each other. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reveal/hold.h"
#include "experiments/reveal/method.h"
#include "tests/support/flawed_sums.h"

static struct method flawed[FLAWS];

static bool in_fp64(enum flaw flaw)
{
    return flaw == FLAW_FP64 || flaw == FLAW_BLOCKS;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    enum flaw flaw = (enum flaw)(t->method - flawed);
    enum format f = t->accumulator;
    double *x = calloc(t->of->in.n + 1, sizeof *x);
    array_decode(&t->of->in, 0, t->of->in.n, x);
    for (size_t i = 0; i < t->of->in.n; i++)
        x[i] = in_fp64(flaw) ? x[i] : format_round(f, x[i]);
    double sum = flawed_sum(flaw, f, x, t->of->in.n);
    array_encode(&t->out, 0, 1, &sum);
    free(x);
    return STATUS_OK;
}

static void make(void)
{
    for (size_t i = 0; i < FLAWS; i++)
        flawed[i] = (struct method){.name = "flawed",
                                    .summary = "",
                                    .operation = &operation_sum,
                                    .pairs = {FORMAT_PAIRS_ALL},
                                    .bound = THEOREM_NONE,
                                    .cpu = cpu};
}

static void reveal(struct reveal *r, enum flaw flaw, enum format s, enum format f, size_t n,
                   uint64_t seed)
{
    struct problem p = {0};
    struct reveal_case c = {
        .spec = {.method = &flawed[flaw], .storage = s, .accumulator = f, .output = f, .n = n},
        .prefix = n - 1};
    cr_assert_eq(reveal_method(r, &c, seed, &p), STATUS_OK, "%s", p.text);
}

/* No flaw shows a tree, but for what adds up two or three elements in one order or another. */
Test(reveal_data, no_tree_is_shown_of_what_depends_on_the_data, .init = make)
{
    static const size_t lengths[] = {5, 8, 17, 64, 100};
    size_t data = 0, otherwise = 0;
    for (enum flaw flaw = 0; flaw < FLAWS; flaw++)
        for (size_t k = 0; k < 5; k++)
            for (int pair = 0; pair < ACCUMULATORS * ACCUMULATORS; pair++) {
                enum format s = pair / ACCUMULATORS, f = pair % ACCUMULATORS;
                struct reveal r;
                bool close = flaw == FLAW_NARROW || flaw == FLAW_EQUAL;
                if ((in_fp64(flaw) && f == FP64) || (close && s != f))
                    continue; /* exact in every order */
                if (close && lengths[k] < 17)
                    continue; /* so few are often rounded alike */
                reveal(&r, flaw, s, f, lengths[k], k);
                bool order = flaw < FLAW_ORDERS, blind = s == FP16 && f == FP64;
                data += r.verdict == REVEAL_DATA;
                otherwise += r.verdict == REVEAL_OTHERWISE;
                if (flaw == FLAW_NONE)
                    cr_expect(blind || (r.verdict == REVEAL_TREE && r.held.differing == 0 &&
                                        r.held.arrays >= REVEAL_ARRAYS),
                              "%s/%s, n = %zu: verdict %d, held %d %d %d %s", format_facts[s].name,
                              format_facts[f].name, lengths[k], (int)r.verdict, (int)r.held.arrays,
                              (int)r.held.differing, (int)r.held.permuted, r.words);
                else if (order)
                    cr_expect(blind ? r.verdict == REVEAL_OUT_OF_REACH : r.verdict == REVEAL_DATA,
                              "flaw %d, %s/%s, n = %zu: verdict %d, held %d %d %d %s", (int)flaw,
                              format_facts[s].name, format_facts[f].name, lengths[k],
                              (int)r.verdict, (int)r.held.arrays, (int)r.held.differing,
                              (int)r.held.permuted, r.words);
                else /* an fp16 mask swallows nothing in fp64: its blocks add at once */
                    cr_expect((flaw == FLAW_BLOCKS && f == FP16 && r.held.permuted) ||
                                  (r.verdict != REVEAL_TREE && r.verdict != REVEAL_DATA),
                              "flaw %d, %s/%s, n = %zu: verdict %d, held %d %d %d %s", (int)flaw,
                              format_facts[s].name, format_facts[f].name, lengths[k],
                              (int)r.verdict, (int)r.held.arrays, (int)r.held.differing,
                              (int)r.held.permuted, r.words);
                reveal_free(&r);
            }
    cr_expect(data > 200 && otherwise > 50, "%zu, %zu", data, otherwise);
}

/* A wider accumulator is not taken for compensation, whose sums it often equals, nor the reverse;
 * of five elements both may give all bits, and both are named. */
Test(reveal_data, says_how_it_adds, .init = make)
{
    static const size_t lengths[] = {5, 17, 64};
    static const struct {
        enum flaw flaw;
        const char *words;
    } due[] = {{FLAW_NEUMAIER, "along this tree, and beside it what the additions lose"},
               {FLAW_KAHAN, "along this tree as Kahan sums: what an addition lost is added to the "
                            "next element"},
               {FLAW_KAHAN_END, "along this tree as Kahan sums: what an addition lost is added to "
                                "the next element, and at the end"},
               {FLAW_KAHAN_LANES, "along this tree as Kahan sums: what an addition lost is added "
                                  "to the next element"},
               {FLAW_FP64, "in fp64 or a wider format along this tree"}};
    for (size_t k = 0; k < 3; k++)
        for (enum format f = BF16; f <= FP32; f++)
            for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
                struct reveal r;
                reveal(&r, due[i].flaw, f, f, lengths[k], k);
                const char *found = strstr(r.words, due[i].words);
                cr_expect(r.verdict == REVEAL_OTHERWISE && r.held.fits && found &&
                              (k == 0 || (found == r.words && !strstr(r.words, "; or "))),
                          "%s, %zu: %d, %s", format_facts[f].name, lengths[k], (int)r.verdict,
                          r.words);
                reveal_free(&r);
            }
}

/* In the accumulator, but for the last two additions, which are in fp64. */
static enum status add_last_in_fp64(const struct task *t, struct problem *p)
{
    (void)p;
    size_t n = t->of->in.n;
    double *x = calloc(n, sizeof *x);
    array_decode(&t->of->in, 0, n, x);
    double sum = flaw_plain(t->accumulator, x, n - 2) + x[n - 2] + x[n - 1];
    array_encode(&t->out, 0, 1, &sum);
    free(x);
    return STATUS_OK;
}

/* Of hundreds of elements few arrays of three have the last ones: each place is asked for before an
 * order is said to depend on the data. */
Test(reveal_data, a_wider_accumulator_of_few_elements)
{
    static const size_t lengths[] = {9, 33, 100, 1000, 3000};
    struct method m = {.name = "flawed",
                       .summary = "",
                       .operation = &operation_sum,
                       .pairs = {FORMAT_PAIRS_ALL},
                       .bound = THEOREM_NONE,
                       .cpu = add_last_in_fp64};
    for (size_t k = 0; k < 5; k++)
        for (enum format f = BF16; f <= FP32; f++)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                struct reveal r;
                struct problem p = {0};
                struct reveal_case c = {.spec = {.method = &m,
                                                 .storage = f,
                                                 .accumulator = f,
                                                 .output = f,
                                                 .n = lengths[k]},
                                        .prefix = lengths[k] - 1};
                cr_assert_eq(reveal_method(&r, &c, seed, &p), STATUS_OK, "%s", p.text);
                cr_expect_eq(r.verdict, REVEAL_OTHERWISE, "%s, %zu: verdict %d, %s",
                             format_facts[f].name, lengths[k], (int)r.verdict, r.words);
                reveal_free(&r);
            }
}

/* A shared object and a program, in text and in JSON, with status 1. */
static char printed[1 << 16];

static int verb(const char *subject, const char *more)
{
    char command[2000];
    snprintf(command, sizeof command, "%s reveal '%s' --device cpu --storage fp64 --n 20 %s 2>&1",
             ULPSCOPE_PROGRAM, subject, more);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe);
    printed[fread(printed, 1, sizeof printed - 1, pipe)] = 0;
    return pclose(pipe) / 256;
}

static void hold(const char *subject, int status, const char *text, const char *json)
{
    int got = verb(subject, "");
    cr_expect(got == status && strstr(printed, text), "%s: status %d, expected '%s' in\n%s",
              subject, got, text, printed);
    got = verb(subject, "--json");
    cr_expect(got == status && strstr(printed, json), "%s: status %d, expected '%s' in\n%s",
              subject, got, json, printed);
}

Test(reveal_data, says_so_of_objects_and_programs)
{
    hold(FLAWED_OBJECT ":sum", 0,
         "\nheld to 118 arrays of other data: all gave the bits of this tree, ",
         "\"held\":{\"arrays\":118,\"differing\":0,\"by\":\"bits\",\"under_load\":");
    hold(FLAWED_OBJECT ":apart", 1,
         "\nthe order depends on the data: ", "\"verdict\":\"depends_on_data\"");
    hold(FLAWED_OBJECT ":sorted", 1,
         ": the order depends on the data: ", "\"verdict\":\"depends_on_data\"");
    hold(FLAWED_OBJECT ":neumaier", 1,
         "\nnot by additions in fp64 alone: along this tree, and beside it what the additions lose",
         "\"verdict\":\"not_in_pairs\"");
    hold("exec:" FLAWED_PROGRAM, 0, "\nheld to 118 arrays", "\"differing\":0");
    hold("dot/serial", 0, "\nproducts: all 20 asked for are rounded before they are added\n",
         "\"products\":{\"asked\":20,\"rounded\":20,\"unrounded\":0}");
    hold("sum/serial", 0, "\ndeclared order: equal", "\"products\":null");
    hold("exec:" FLAWED_PROGRAM " apart", 1,
         "\nthe order depends on the data: ", "\"verdict\":\"depends_on_data\"");
}

/* Masks leave the second array of a dot product ones: what it does with others is asked, too. */
Test(reveal_data, second_factors)
{
    hold(FLAWED_OBJECT ":dot", 0,
         "\nproducts: all 20 asked for are rounded before they are added\n", "\"differing\":0");
    hold(FLAWED_OBJECT ":dot_of_ones", 1,
         "\nnot a sum of these elements: x[0] = ", "\"verdict\":\"no_sum\"");
    hold(FLAWED_OBJECT ":dot_of_others", 1, "\nthe order depends on the data: an array of ",
         "\"verdict\":\"depends_on_data\"");
}

/* What is permuted: elements added at once. What it says then is said of them. */
Test(reveal_data, elements_added_at_once_are_permuted)
{
    struct reveal r;
    struct problem p = {0};
    struct reveal_case c = {.spec = {.method = method_named("sum/binned"),
                                     .storage = FP32,
                                     .accumulator = FP32,
                                     .output = FP32,
                                     .n = 30},
                            .prefix = 29};
    cr_assert_eq(reveal_method(&r, &c, 1, &p), STATUS_OK, "%s", p.text);
    cr_expect(r.verdict == REVEAL_TREE && r.held.permuted && r.held.arrays == REVEAL_ARRAYS &&
              r.held.differing == 0);
    reveal_free(&r);
}

/* Adds backwards one array in 64, by a hash of its elements; masks are powers of two, and none of
 * these arrays. */
static enum status hashed(void *context, double *result, struct problem *p)
{
    const struct array *in = context;
    (void)p;
    uint64_t hash = 0;
    bool masks = true;
    int exponent;
    *result = 0;
    for (size_t i = 0; i < in->n; i++) {
        hash = (hash ^ array_bits(in, i)) * UINT64_C(0x9e3779b97f4a7c15);
        masks &= array_get(in, i) == 0 || fabs(frexp(array_get(in, i), &exponent)) == 0.5;
    }
    for (size_t i = 0; i < in->n; i++)
        *result += array_get(in, !masks && hash >> 58 == 5 ? in->n - 1 - i : i);
    return STATUS_OK;
}

/* While the device has other work, what is not ours is held to new arrays as well as to the same,
 * so that an order which few data change is found out, and told from one that moves. With this seed
 * none of the first arrays changes it, but one of the next round. */
Test(reveal_data, an_order_that_few_arrays_change_is_found_out)
{
    double x[50] = {0};
    struct problem p = {0};
    struct reveal r;
    struct reveal_subject s = {.in = {FP64, 50, x},
                               .leaves = 50,
                               .accumulator = FP64,
                               .output = FP64,
                               .evaluate = hashed,
                               .context = &s.in,
                               .foreign = true,
                               .device = -1};
    cr_assert(reveal_order(&r, &s, 3, &p) == STATUS_OK, "%s", p.text);
    cr_assert(r.verdict == REVEAL_TREE, "%d, %s", (int)r.verdict, r.words);
    cr_assert(reveal_hold(&r, &s, NULL, 0, NULL, 3, &p) == STATUS_OK, "%s", p.text);
    cr_expect(r.verdict == REVEAL_DATA && r.held.loaded > 0, "%d, %d, %s", (int)r.verdict,
              (int)r.held.loaded, r.words);
    reveal_free(&r);
}

/* Adds from the first element on, later from the last, as what depends on timing may. */
static size_t calls, steady;

static enum status moves(void *context, double *result, struct problem *p)
{
    const struct array *in = context;
    (void)p;
    *result = 0;
    bool moved = calls++ >= steady;
    for (size_t i = 0; i < in->n; i++)
        *result += array_get(in, moved ? in->n - 1 - i : i);
    return STATUS_OK;
}

/* What is not ours is asked again while the device has other work: an array that gave other bits
 * then than before tells that there is no fixed order. */
Test(reveal_data, an_order_that_moves_under_load_is_none)
{
    static const enum reveal_verdict due[] = {REVEAL_TREE, REVEAL_CHANGES, REVEAL_TREE};
    for (size_t k = 0; k < 3; k++) {
        double x[8] = {0};
        struct problem p = {0};
        struct reveal r;
        struct reveal_subject s = {.in = {FP64, 8, x},
                                   .leaves = 8,
                                   .accumulator = FP64,
                                   .output = FP64,
                                   .evaluate = moves,
                                   .context = &s.in,
                                   .foreign = k > 0,
                                   .device = -1};
        calls = 0;
        steady = SIZE_MAX;
        cr_assert(reveal_order(&r, &s, 1, &p) == STATUS_OK, "%s", p.text);
        cr_assert(r.verdict == REVEAL_TREE);
        steady = k < 2 ? calls + REVEAL_ARRAYS + REVEAL_THREES + 3 : SIZE_MAX;
        cr_assert(reveal_hold(&r, &s, NULL, 0, NULL, 1, &p) == STATUS_OK, "%s", p.text);
        cr_expect(r.verdict == due[k], "%zu: %d, %s", k, (int)r.verdict, r.words);
        cr_expect((r.held.loaded > 0) == (k > 0), "%zu: %llu under load", k,
                  (unsigned long long)r.held.loaded);
        reveal_free(&r);
    }
}
