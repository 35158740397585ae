/* Prefix sums against MPFR at every index: both doubles, all bits. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "tests/support/generated.h"
#include "tests/support/prefixes.h"
#include "tests/support/samples.h"

static struct array array_new(enum format f, size_t n)
{
    struct array a = {f, n, malloc(array_bytes(f, n) + 1)};
    cr_assert(a.data, "no memory");
    return a;
}

/* Room for the pairs of n prefixes, filled with NaN. */
static struct prefix_pairs pairs_new(size_t n)
{
    double *all = malloc((4 * n + 1) * sizeof *all);
    cr_assert(all, "no memory");
    for (size_t i = 0; i < 4 * n; i++)
        all[i] = NAN;
    return (struct prefix_pairs){all, all + n, all + 2 * n, all + 3 * n};
}

static void expect_pairs(const struct array *a, const uint8_t *heads, size_t begin,
                         struct prefix_pairs *p, const uint8_t *exact, const char *what)
{
    size_t wrong = pairs_wrong(a, heads, begin, a->n, p, exact), k = wrong - begin;
    cr_assert(wrong == a->n,
              "%s, %s, n = %zu from %zu: prefix %zu is not %a + %a, of magnitudes %a + %a%s", what,
              format_facts[a->format].name, a->n, begin, wrong, p->hi[k], p->lo[k], p->abs_hi[k],
              p->abs_lo[k], exact && exact[k] ? " exactly" : "");
    free(p->hi);
}

/* The whole array, on some number of threads. */
static void expect_whole(const struct array *a, const uint8_t *heads, unsigned threads,
                         const char *what)
{
    struct prefix_pairs p = pairs_new(a->n);
    struct problem problem = {0};
    cr_assert(prefix_all(a, heads, threads, &p, &problem) == STATUS_OK, "%s", problem.text);
    expect_pairs(a, heads, 0, &p, NULL, what);
}

/* From element `begin` on, in calls of random sizes up to `most`. */
static void expect_stream(const struct array *a, const uint8_t *heads, size_t begin, size_t most,
                          uint64_t *seed, const char *what)
{
    struct prefix_pairs p = pairs_new(a->n - begin);
    uint8_t *exact = calloc(a->n - begin + 1, 1);
    struct exact before;
    struct prefix stream;
    exact_init(&before);
    for (size_t i = 0; i < begin; i++) {
        if (heads && heads[i])
            exact_init(&before);
        exact_add(&before, array_get(a, i));
    }
    prefix_begin(&stream, &before);
    for (size_t i = begin, count; i < a->n; i += count) {
        count = 1 + sample_next(seed) % most;
        count = count < a->n - i ? count : a->n - i;
        struct prefix_pairs to = prefix_pairs_from(&p, i - begin);
        memset(exact + (i - begin), prefix_next(&stream, a, heads, i, count, &to), count);
    }
    expect_pairs(a, heads, begin, &p, exact, what);
    free(exact);
}

Test(prefix, every_sample_at_every_small_size)
{
    uint64_t seed = 301;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int kind = 0; kind < SAMPLES; kind++)
            for (size_t n = 0; n < 24; n++) {
                struct array a = array_new(f, n);
                sample_fill(&a, kind, f, sample_next(&seed));
                expect_whole(&a, NULL, 1, sample_name[kind]);
                expect_stream(&a, NULL, n / 3, 3, &seed, sample_name[kind]);
                free(a.data);
            }
}

/* Sizes around a cascade's block, a call's most, and a share's least. */
Test(prefix, every_sample_at_block_edges)
{
    static const size_t sizes[] = {511,  512,           513,       1023,          1024,
                                   1025, LINE_MOST - 1, LINE_MOST, LINE_MOST + 1, 40001};
    uint64_t seed = 302;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int kind = 0; kind < SAMPLES; kind++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                struct array a = array_new(f, sizes[i]);
                sample_fill(&a, kind, f, sample_next(&seed));
                if (kind == SAMPLE_BITS) /* NaN would end it */
                    for (size_t k = 0; k < a.n; k++)
                        if (!isfinite(array_get(&a, k)))
                            array_set_bits(&a, k, 0);
                expect_whole(&a, NULL, 1 + (unsigned)(i % 3), sample_name[kind]);
                expect_stream(&a, NULL, sample_next(&seed) % a.n, 2000, &seed, sample_name[kind]);
                free(a.data);
            }
}

Test(prefix, every_input_family)
{
    static const size_t sizes[] = {1, 2, 1000, 30000};
    uint64_t seed = 303;
    for (size_t k = 0; k < input_family_count; k++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (size_t i = 0; i < 4; i++)
                for (size_t arranged = 0; arranged < 2; arranged++) {
                    struct problem p = {0};
                    struct input in;
                    if (sizes[i] > 1000 && arranged != (k + f) % 2)
                        continue; /* long ones: as generated, or shuffled */
                    struct array a = array_new(f, sizes[i]);
                    cr_assert(input_parse(&in, input_families[k]->name, &p) == STATUS_OK);
                    in.arrangement = arranged ? ARRANGED_SHUFFLED : ARRANGED_AS_GENERATED;
                    if (input_generate(&in, &a, seed, 0, &p) == STATUS_OK)
                        expect_whole(&a, NULL, 1 + (unsigned)i, in.family->name);
                    else /* sizes that a family cannot give */
                        cr_assert(p.status == STATUS_USAGE && sizes[i] < 1000, "%s", p.text);
                    free(a.data);
                }
}

/* `levels` values of exponents far apart, then their opposites, again and again: prefixes of many
 * words that cancel to nothing. last_first: the opposites in reverse. */
static void fill_nested(const struct array *a, int levels, bool last_first, bool rising,
                        uint64_t *seed)
{
    const struct format_facts *facts = &format_facts[a->format];
    double held[64];
    for (size_t i = 0; i < a->n; i++) {
        int at = (int)(i % (size_t)(2 * levels)), least = facts->emin - facts->precision + 1;
        int place = rising ? at : levels - 1 - at;
        double m = 1 + (double)(sample_next(seed) >> 12) * 0x1p-52, x;
        if (at < levels) {
            m = ldexp(m, least + (facts->emax - 1 - least) * place / levels + 1);
            x = held[at] = format_round(a->format, sample_next(seed) % 2 ? m : -m);
        } else {
            x = -held[last_first ? 2 * levels - 1 - at : at - levels];
        }
        array_encode(a, i, 1, &x);
    }
}

Test(prefix, prefixes_that_cancel)
{
    static const int levels[] = {1, 2, 3, 4, 7, 20, 41};
    uint64_t seed = 304;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t k = 0; k < sizeof levels / sizeof *levels; k++)
            for (int way = 0; way < 4; way++) {
                struct array a = array_new(f, 20000);
                fill_nested(&a, levels[k], way & 1, way & 2, &seed);
                if ((k + f + (size_t)way / 2) % 2)
                    expect_whole(&a, NULL, 1 + (unsigned)way, "nested");
                else
                    expect_stream(&a, NULL, sample_next(&seed) % 1000, 5000, &seed, "nested");
                free(a.data);
            }
}

/* Ordinary data, but for one place that a cascade cannot do. */
Test(prefix, one_hard_place)
{
    uint64_t seed = 305;
    for (int round = 0; round < 40; round++) {
        struct array a = array_new(FP64, LINE_MOST + 5000), hard = {FP64, 82, NULL};
        sample_fill(&a, SAMPLE_NEAR, FP64, sample_next(&seed));
        size_t at = sample_next(&seed) % (a.n - hard.n);
        hard.data = (double *)a.data + at;
        fill_nested(&hard, 41, round & 1, round & 2, &seed);
        expect_whole(&a, NULL, 1, "one hard place");
        free(a.data);
    }
}

Test(prefix, long_arrays)
{
    static const char *const inputs[] = {"uniform", "lognormal:sigma=4", "wide", "cond"};
    for (size_t k = 0; k < 4; k++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            struct array a = generated(inputs[k], f, 150000, 3, f == FP64 ? 0x1p300 : 0x1p30);
            expect_whole(&a, NULL, 2, inputs[k]);
            free(a.data);
        }
}

/* A walk over the edge of the range of doubles and back. */
Test(prefix, prefixes_beyond_the_range)
{
    uint64_t seed = 306;
    for (int round = 0; round < 20; round++) {
        struct array a = array_new(FP64, 3000);
        const double most = format_facts[FP64].largest;
        for (size_t i = 0; i < a.n; i++) {
            double tiny = ldexp(i % 2 ? 1 : -1, -(int)(sample_next(&seed) % 1075));
            /* The threshold of overflow, half an ulp above `most`, and around it. */
            const double around[] = {most, 0x1p970, tiny, -0x1p970, -most};
            double x = i / 7 % 2 ? -most : most;
            array_encode(&a, i, 1, round < 10 ? &x : &around[i % 5]);
        }
        expect_whole(&a, NULL, 1 + (unsigned)round % 2, "beyond the range");
        free(a.data);
    }
    /* Two words, each finite, whose sum is not. */
    double x[] = {0x1.fffffffffffffp1023, 0x1p969, 0x1p969, -0x1p969, -0x1p969, -0x1p1000};
    struct array a = {FP64, 6, x};
    expect_whole(&a, NULL, 1, "two words");
}

/* Halfway cases of hi and of lo, exact and with one bit far below that decides. */
Test(prefix, ties_of_either_double)
{
    static const int tails[] = {-107, -108, -160, -161, -200, -1074};
    uint64_t seed = 307;
    for (int round = 0; round < 2000; round++) {
        double x[600] = {0};
        size_t n = 0;
        double even = 1 + (double)(sample_next(&seed) % 4) * 0x1p-52;
        x[n++] = even;
        if (round % 2)
            x[n++] = 0x1p-53; /* halfway from hi to a neighbour */
        x[n++] = ldexp(1 + (double)(sample_next(&seed) % 4) * 0x1p-52, -54 - round % 3);
        x[n++] = ldexp(sample_next(&seed) % 2 ? -1 : 1, -107 - round % 4); /* and of lo */
        if (round % 5)
            x[n++] = ldexp(round % 7 < 3 ? -1 : 1, tails[sample_next(&seed) % 6]);
        if (round % 11 == 0)
            x[n++] = ldexp(1, -500 - (int)(sample_next(&seed) % 500));
        for (size_t i = 0; round % 13 == 0 && i < n; i++)
            x[i] = -x[i];
        struct array a = {FP64, round % 3 ? n : 600, x};
        expect_whole(&a, NULL, 1, "ties");
    }
}

/* Infinities and NaN end the numbers; before them, all is as without. */
Test(prefix, what_is_not_finite)
{
    uint64_t seed = 308;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int round = 0; round < 60; round++) {
            const double odd[] = {INFINITY, -INFINITY, NAN};
            struct array a = array_new(f, 1 + sample_next(&seed) % 2500);
            sample_fill(&a, round % 2 ? SAMPLE_WIDE : SAMPLE_NEAR, f, sample_next(&seed));
            size_t begin = sample_next(&seed) % a.n, end = begin + sample_next(&seed) % 100;
            for (size_t i = begin; i < end && i < a.n; i++) /* a segment of one of them */
                array_encode(&a, i, 1, &odd[round % 3]);
            array_encode(&a, sample_next(&seed) % a.n, 1, &odd[round / 3 % 3]);
            expect_whole(&a, NULL, 1, "not finite");
            expect_stream(&a, NULL, sample_next(&seed) % a.n, 700, &seed, "not finite");
            free(a.data);
        }
}

Test(prefix, zeros_with_signs)
{
    uint64_t seed = 309;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t zeros = 0; zeros < 1200; zeros += 1 + zeros / 3) {
            struct array a = array_new(f, 1200);
            for (size_t i = 0; i < a.n; i++)
                array_encode(&a, i, 1, &(double){i < zeros || sample_next(&seed) % 2 ? -0.0 : 0.0});
            expect_whole(&a, NULL, 1, "zeros");
            expect_stream(&a, NULL, sample_next(&seed) % a.n, 100, &seed, "zeros");
            if (zeros < a.n)
                array_encode(&a, zeros, 1, &(double){f % 2 ? -1 : 1});
            if (zeros + 2 < a.n)
                array_encode(&a, zeros + 2, 1, &(double){f % 2 ? 1 : -1});
            expect_whole(&a, NULL, 1, "zeros and +-1");
            free(a.data);
        }
}

/* Threads change no bit, wherever shares are cut; nor does the sum of magnitudes, wanted or not. */
Test(prefix, any_number_of_threads)
{
    static const char *const inputs[] = {"normal", "wide", "infs", "signed_zeros"};
    for (size_t k = 0; k < 4; k++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            struct array a = generated(inputs[k], f, 5 * LINE_MOST + 77, 1, 0);
            struct prefix_pairs one = pairs_new(a.n), many = pairs_new(a.n);
            cr_assert(prefix_all(&a, NULL, 1, &one, NULL) == STATUS_OK);
            for (unsigned threads = 2; threads < 9; threads += 3) {
                struct prefix_pairs to = many;
                if (threads == 5)
                    to.abs_hi = to.abs_lo = NULL;
                cr_assert(prefix_all(&a, NULL, threads, &to, NULL) == STATUS_OK);
                for (size_t i = 0; i < a.n; i++) {
                    cr_assert(double_bits(one.hi[i]) == double_bits(many.hi[i]) &&
                                  double_bits(one.lo[i]) == double_bits(many.lo[i]) &&
                                  double_bits(one.abs_hi[i]) == double_bits(many.abs_hi[i]) &&
                                  double_bits(one.abs_lo[i]) == double_bits(many.abs_lo[i]),
                              "%s, %s: prefix %zu of %u threads", inputs[k], format_facts[f].name,
                              i, threads);
                }
            }
            free(one.hi);
            free(many.hi);
            free(a.data);
        }
}

/* Nothing crosses a head. */
Test(prefix, segments)
{
    uint64_t seed = 310;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int round = 0; round < 24; round++) {
            struct array a = array_new(f, round < 20 ? 1 + sample_next(&seed) % 3000 : 70000);
            sample_fill(&a, round % SAMPLES, f, sample_next(&seed));
            uint8_t *heads = calloc(a.n, 1);
            const uint64_t apart[] = {1, 3, 40, 2000, 60000};
            for (size_t i = 0; i < a.n; i++)
                heads[i] = sample_next(&seed) % apart[round % 5] == 0;
            expect_whole(&a, heads, 1 + (unsigned)(round % 4), sample_name[round % SAMPLES]);
            expect_stream(&a, heads, sample_next(&seed) % a.n, 500, &seed,
                          sample_name[round % SAMPLES]);
            free(heads);
            free(a.data);
        }
}

/* No head, or one in one of four shares: at its first element, or at its last. */
Test(prefix, heads_where_shares_begin)
{
    struct array a = array_new(FP32, 4 * LINE_MOST);
    uint8_t *heads = calloc(a.n, 1);
    sample_fill(&a, SAMPLE_NEAR, FP32, 311);
    expect_whole(&a, heads, 2, "no head");
    heads[LINE_MOST] = 1;
    expect_whole(&a, heads, 2, "a head where a share begins");
    heads[LINE_MOST] = 0;
    heads[2 * LINE_MOST - 1] = 1;
    expect_whole(&a, heads, 2, "a head where a share ends");
    free(heads);
    free(a.data);
}
