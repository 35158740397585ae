/* Sums that carry their errors, in the tree of sum/tiled: what they recover and what they do not,
 * by known cases, and fast paths against the specification. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "kernels/blocks/pieces.h"
#include "tests/support/holds.h"
#include "tests/support/samples.h"
#include "experiments/reveal/walk_node.h"

static double sum_by(const char *name, const struct array *in, enum format f)
{
    const struct method *m = method_named(name);
    uint64_t bits = 0;
    struct shape shape = method_shape(m, DEVICE_CPU, in->n, (struct shape){0, 0});
    cr_assert(run_method_once(m, in, f, shape, &bits) == STATUS_OK);
    return format_decode(f, bits);
}

/* Each variant of the fast path, on each kind of sample, against the specification. */
Test(pieces, fast_tiles_are_plain_tiles)
{
    enum { TILES = 3 };
    static const struct piece_rule *const rule[] = {&kahan_rule,      &neumaier_rule, &sum2_rule,
                                                    &sumk_rule,       &sumk4_rule,    &sumk5_rule,
                                                    &double_word_rule};
    static double data[TILES * TILE];
    struct piece plain[TILES], fast[TILES];
    size_t tried = 0;
    for (size_t v = 0; v < piece_variants; v++)
        for (size_t draw = 0; piece_variant[v].available() && draw < 7 * 4 * 4 * SAMPLES; draw++) {
            const struct piece_rule *r = rule[draw % 7];
            enum format s = draw / 7 % 4, f = draw / 28 % 4;
            size_t kind = draw / 112;
            struct array in = {s, TILES * TILE, data};
            sample_fill(&in, kind, f, draw);
            for (size_t i = 0; kind == SAMPLE_BITS && i < in.n; i++) /* else all sums are NaN */
                if (i % (2 * TILE) > 3 && array_get(&in, i) - array_get(&in, i) != 0)
                    array_set_bits(&in, i, i);
            pieces_plain(r, &in, f, 1, TILES - 1, plain);
            piece_variant[v].tiles(r, &in, f, 1, TILES - 1, fast);
            for (size_t i = 0; i < TILES - 1; i++)
                for (unsigned k = 0; k < r->words; k++)
                    cr_assert_eq(
                        format_encode(f, plain[i].word[k]), format_encode(f, fast[i].word[k]),
                        "%s, rule %zu, %s to %s, sample %s, seed %zu, tile %zu, word %u: "
                        "%a, plain %a",
                        piece_variant[v].name, draw % 7, format_facts[s].name, format_facts[f].name,
                        sample_name[kind], draw, i + 1, k, fast[i].word[k], plain[i].word[k]);
            tried++;
        }
    cr_assert(tried > 0);
}

/* Neumaier's branch finds what TwoSum finds. */
Test(pieces, neumaier_has_the_bits_of_sum2)
{
    static const size_t lengths[] = {1, 2, 3, 100, 257, 1000, TILE, TILE + 1, 3 * TILE + 700};
    static double data[3 * TILE + 700];
    for (size_t draw = 0; draw < 9 * 4 * 4 * SAMPLES; draw++) {
        struct array in = {draw / 9 % 4, lengths[draw % 9], data};
        enum format f = draw / 36 % 4;
        size_t kind = draw / 144;
        sample_fill(&in, kind, f, draw);
        double a = sum_by("sum/neumaier", &in, f), b = sum_by("sum/sum2", &in, f);
        cr_assert_eq(format_encode(f, a), format_encode(f, b),
                     "%s to %s, n = %zu, sample %s, seed %zu: %a, sum2 %a",
                     format_facts[in.format].name, format_facts[f].name, in.n, sample_name[kind],
                     draw, a, b);
    }
}

/* A column of a tile: elements are added to it one after the other. */
static double sum_column(const char *name, const double *x, size_t count, enum format f)
{
    static double data[TILE];
    struct array in = {FP64, TILE, data};
    cr_assert(count <= TILE_ROWS);
    memset(data, 0, sizeof data);
    for (size_t i = 0; i < count; i++)
        data[i * TILE_COLUMNS + 3] = x[i];
    return sum_by(name, &in, f);
}

static void expect_sum(const char *name, const double *x, size_t count, double want)
{
    double got = sum_column(name, x, count, FP64);
    cr_expect(got == want, "%s: %a, expected %a", name, got, want);
}

/* 1 + 1e100 + 1 - 1e100: Kahan's step takes what it lost from 1e100 to be nothing. */
Test(pieces, kahans_step_loses_what_is_smaller_than_the_element)
{
    const double x[] = {1, 1e100, 1, -1e100};
    expect_sum("sum/tiled", x, 4, 0);
    expect_sum("sum/blocked", x, 4, 0);
    expect_sum("sum/kahan", x, 4, 0);
    expect_sum("sum/neumaier", x, 4, 2);
    expect_sum("sum/sum2", x, 4, 2);
    expect_sum("sum/sumk", x, 4, 2);
    expect_sum("sum/double_word", x, 4, 2);
    struct array joined = {FP64, 4, (void *)x}; /* by joins alone, which find all errors */
    cr_expect(sum_by("sum/kahan", &joined, FP64) == 2);
}

/* 1 and powers of two, 2^60 apart, then the same powers negative. Each takes a word of its own: as
 * many words as rungs, and the sum is 1; one less, and the 1 is lost. Halving adds up even and odd
 * columns first, and only then one to the other. */
Test(pieces, each_word_holds_a_rung)
{
    static const struct {
        const char *name;
        size_t words;
    } subject[] = {{"sum/tiled", 1}, {"sum/blocked", 1},     {"sum/kahan", 2},
                   {"sum/sum2", 2},  {"sum/double_word", 2}, {"sum/neumaier", 2},
                   {"sum/sumk", 3},  {"sum/sumk4", 4},       {"sum/sumk5", 5}};
    for (size_t s = 0; s < sizeof subject / sizeof *subject; s++)
        for (size_t rungs = 1; rungs <= 6; rungs++) {
            double x[TILE_COLUMNS] = {1};
            for (size_t k = 1; k < rungs; k++) {
                x[2 * k] = ldexp(1, 60 * (int)k);
                x[2 * k + 1] = -x[2 * k];
            }
            double got = sum_by(subject[s].name, &(struct array){FP64, TILE_COLUMNS, x}, FP64);
            cr_expect(got == (rungs <= subject[s].words), "%s, %zu rungs: %a", subject[s].name,
                      rungs, got);
        }
}

/* Ones in fp16 and bf16, whose sums stop at 2048 and 256 in a row: plainly, in blocks and widened.
 * A tile's tree keeps them moving; across tiles the blocks' errors do. */
Test(pieces, ones_do_not_stop)
{
    enum { N = 60000 };
    static uint16_t one[N];
    struct array in = {FP16, N, one};
    for (size_t i = 0; i < N; i++)
        one[i] = 0x3c00;
    static const char *const exact[] = {"sum/kahan", "sum/sum2",    "sum/sumk",
                                        "sum/sumk5", "sum/blocked", "sum/widened"};
    for (size_t k = 0; k < sizeof exact / sizeof *exact; k++)
        for (enum format f = FP16; f <= BF16; f++) {
            double got = sum_by(exact[k], &in, f);
            cr_expect(got == format_round(f, N), "%s in %s: %a", exact[k], format_facts[f].name,
                      got);
        }
}

/* Three roundings to bf16 at 256 against one at the end, and an element that is not rounded. */
Test(pieces, widened_rounds_once)
{
    struct array in = {FP32, 4, (float[]){256, 1, 1, 1}};
    cr_expect(sum_by("sum/widened", &in, BF16) == 260); /* 259, between 258 and 260 */
    cr_expect(sum_by("sum/tiled", &in, BF16) == 258);   /* (256 + 1) + (1 + 1) */
    in = (struct array){FP32, 2, (float[]){1 + 0x1p-11f, 0x1p-11f}};
    cr_expect(sum_by("sum/widened", &in, FP16) == 1 + 0x1p-10);
    cr_expect(sum_by("sum/tiled", &in, FP16) == 1);
}

Test(pieces, height_of_a_tile)
{
    cr_expect_eq(method_named("sum/tiled")->height(TILE, (struct shape){0, 0}), TILE_HEIGHT);
}

/* The largest number and half its ulp in two neighbouring words, of which the first word may be
 * neither: the infinity they make is the value. */
Test(pieces, words_that_overflow)
{
    static const struct piece_rule *const rule[] = {&sumk_rule, &sumk4_rule, &sumk5_rule};
    for (size_t r = 0; r < sizeof rule / sizeof *rule; r++)
        for (unsigned k = 1; k < rule[r]->words; k++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    double largest = format_facts[f].largest;
                    struct piece piece = {{1}};
                    piece.word[k - 1] = sign * largest;
                    piece.word[k] = sign * format_ulp(f, largest) / 2;
                    double got = rule[r]->value(rule[r], f, piece);
                    cr_expect(got == sign * INFINITY, "%u words in %s, word %u: %a", rule[r]->words,
                              format_facts[f].name, k, got);
                }
}

/* Words that overlap, cancel, and end in ties: the values of pieces, against those of walks. */
Test(pieces, value_of_words)
{
    static const struct piece_rule *const rule[] = {&sum2_rule, &sumk_rule, &sumk4_rule,
                                                    &sumk5_rule};
    static const char *const name[] = {"sum/sum2", "sum/sumk", "sum/sumk4", "sum/sumk5"};
    uint64_t state = 8;
    for (size_t draw = 0; draw < 40000; draw++) {
        enum format f = draw % ACCUMULATORS;
        size_t r = draw / ACCUMULATORS % 4;
        struct piece piece = {{0}};
        struct walk_node node = {{0}, 0, false};
        int e = 0;
        for (unsigned k = 0; k < rule[r]->words; k++) {
            uint64_t bits = sample_next(&state);
            double x = 1 + (double)(bits >> 12) * 0x1p-52;
            x = format_round(f, ldexp(bits & 1 ? x : 1, e));
            piece.word[k] = node.word[k] = bits & 2 ? x : -x;
            e -= (bits >> 2 & 1 ? format_facts[f].precision : (int)(bits >> 3 & 7));
        }
        double got = rule[r]->value(rule[r], f, piece);
        double want = walk_value(method_named(name[r]), f, &node);
        cr_assert_eq(format_encode(f, got), format_encode(f, want),
                     "%s in %s, draw %zu: %a, by the walk %a", name[r], format_facts[f].name, draw,
                     got, want);
    }
}
