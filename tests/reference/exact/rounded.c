/* Sums rounded once, by every variant that this machine has, against MPFR. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "reference/exact/rounded.h"
#include "reference/exact/rounded_fast.h"
#include "tests/support/generated.h"
#include "tests/support/samples.h"

static struct array array_new(enum format f, size_t n)
{
    struct array a = {f, n, malloc(array_bytes(f, n) + 1)};
    cr_assert(a.data, "no memory");
    return a;
}

/* In every format, by every variant, on one thread and on some. */
static void expect_rounded(const struct array *a, const char *what)
{
    mpfr_t sum;
    mpfr_init2(sum, 53);
    oracle_sum(sum, a, false);
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        double due = oracle_round(f, sum), got = rounded_sum(a, f, 1);
        cr_assert(same_double(got, due), "%s, %s to %s, n = %zu: %a, MPFR says %a", what,
                  format_facts[a->format].name, format_facts[f].name, a->n, got, due);
        for (size_t v = 0; v < rounded_variants; v++) {
            if (!rounded_variant[v].available())
                continue;
            unsigned threads = 1 + (unsigned)(a->n + v) % 3;
            got = rounded_sum_by(&rounded_variant[v], a, f, threads);
            cr_assert(same_double(got, due), "%s, %s to %s, n = %zu, %s, %u threads: %a, MPFR: %a",
                      what, format_facts[a->format].name, format_facts[f].name, a->n,
                      rounded_variant[v].name, threads, got, due);
        }
    }
    mpfr_clear(sum);
}

/* Sizes around a row of lanes and several. */
Test(rounded, every_sample_at_every_small_size)
{
    uint64_t seed = 501;
    for (enum format f = 0; f < FORMATS; f++)
        for (int kind = 0; kind < SAMPLES; kind++)
            for (size_t n = 0; n <= 3 * ROUNDED_LANES + 1; n++) {
                struct array a = array_new(f, n);
                sample_fill(&a, kind, n % 2 ? f : FP32, sample_next(&seed));
                expect_rounded(&a, sample_name[kind]);
                free(a.data);
            }
}

/* Sizes around what one call takes. */
Test(rounded, every_sample_at_the_edges_of_shares)
{
    static const size_t sizes[] = {511, 513, 5000, ROUNDED_MOST - 1, ROUNDED_MOST + 1};
    uint64_t seed = 502;
    for (enum format f = 0; f < FORMATS; f++)
        for (int kind = 0; kind < SAMPLES; kind++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                struct array a = array_new(f, sizes[i]);
                sample_fill(&a, kind, f, sample_next(&seed));
                expect_rounded(&a, sample_name[kind]);
                free(a.data);
            }
}

Test(rounded, every_input_family)
{
    static const size_t sizes[] = {1, 2, 33, 1000, 20000};
    uint64_t seed = 503;
    for (size_t k = 0; k < input_family_count; k++)
        for (enum format f = 0; f < FORMATS; f++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                struct problem p = {0};
                struct input in;
                struct array a = array_new(f, sizes[i]);
                cr_assert(input_parse(&in, input_families[k]->name, &p) == STATUS_OK);
                in.arrangement = i % 2 ? ARRANGED_SHUFFLED : ARRANGED_AS_GENERATED;
                if (input_generate(&in, &a, seed, 0, &p) == STATUS_OK)
                    expect_rounded(&a, in.family->name);
                else /* sizes that a family cannot give */
                    cr_assert(p.status == STATUS_USAGE && sizes[i] < 1000, "%s", p.text);
                free(a.data);
            }
}

/* One element that is no plain number, or the smallest, or one that overflows on the way, anywhere
 * among others. */
Test(rounded, one_odd_element_anywhere)
{
    uint64_t seed = 504;
    for (enum format f = 0; f < FORMATS; f++)
        for (int round = 0; round < 400; round++) {
            const double odd[] = {INFINITY,
                                  -INFINITY,
                                  NAN,
                                  -0.0,
                                  0.0,
                                  format_facts[f].smallest,
                                  -format_facts[f].largest};
            struct array a = array_new(f, 1 + sample_next(&seed) % 700);
            sample_fill(&a, round % 3 ? SAMPLE_NEAR : SAMPLE_ZERO, f, sample_next(&seed));
            array_encode(&a, sample_next(&seed) % a.n, 1, &odd[round % 7]);
            if (round % 11 == 0)
                array_encode(&a, sample_next(&seed) % a.n, 1, &odd[1]);
            expect_rounded(&a, "one odd element");
            free(a.data);
        }
}

/* Sums that leave the range of the elements' format, and of doubles, on the way and come back. */
Test(rounded, overflow_on_the_way)
{
    uint64_t seed = 505;
    for (enum format f = 0; f < FORMATS; f++)
        for (int round = 0; round < 100; round++) {
            const double most = format_facts[f].largest, ulp = format_ulp(f, most);
            struct array a = array_new(f, 4 + 2 * (sample_next(&seed) % 200));
            for (size_t i = 0; i < a.n; i++) {
                size_t half = a.n / 2;
                double x = round % 2 ? (i < half ? most : -most) : i % 4 < 2 ? most : -most;
                x = i == a.n - 1 ? (round % 3 ? ulp / 2 : 1) : x;
                x = i == a.n - 2 && round % 5 == 0 ? format_facts[f].smallest : x;
                array_encode(&a, i, 1, &x);
            }
            expect_rounded(&a, "overflow on the way");
            free(a.data);
        }
}

/* Exactly half-way between neighbours of a format, and beside it by the least that there is; split
 * in parts, among elements that cancel. */
Test(rounded, half_way_and_beside)
{
    uint64_t seed = 506;
    for (int round = 0; round < 4000; round++) {
        enum format f = (enum format)(round % FORMATS);
        double x = format_decode(f, sample_next(&seed)), half = format_ulp(f, x) / 2;
        if (!isfinite(x))
            continue;
        struct array a = array_new(FP64, 3 + sample_next(&seed) % 100);
        for (size_t i = 0; i < a.n; i++)
            ((double *)a.data)[i] = i % 2 ? 0x1p-20 * half : -0x1p-20 * half;
        if (a.n % 2) /* the first one has no partner */
            ((double *)a.data)[0] = 0;
        double tail = round / 4 % 3 * 0x1p-1074 - 0x1p-1074,
               parts[] = {x, x < 0 ? -half : half, tail};
        struct array due = {FP64, 3 + a.n, malloc((3 + a.n) * sizeof(double))};
        cr_assert(due.data, "no memory");
        array_encode(&due, 0, 3, parts);
        array_encode(&due, 3, a.n, a.data);
        struct problem p = {0};
        cr_assert(input_arrange(&due, ARRANGED_SHUFFLED, sample_next(&seed), &p) == STATUS_OK);
        expect_rounded(&due, "half-way");
        free(due.data);
        free(a.data);
    }
}

/* More threads than pieces, and fewer: each piece is added once, in the first pass and in the
 * second. Small integers are known after one; of numbers that cancel, and one that is left,
 * elements of more than 16 bits need two. */
Test(rounded, every_piece_is_added_once)
{
    uint64_t seed = 508;
    for (enum format f = 0; f < FORMATS; f++) {
        struct array small = array_new(f, 6 * ROUNDED_MOST + 77), cancel = array_new(f, small.n);
        double due = 0;
        sample_fill(&cancel, SAMPLE_WIDE, f, sample_next(&seed));
        for (size_t i = 0; i < small.n; i++) {
            double x = (double)(i / 64 % 5), opposite = -array_get(&cancel, i);
            array_encode(&small, i, 1, &x);
            array_encode(&cancel, small.n - 1 - i, 1, &opposite);
            due += x;
        }
        array_encode(&cancel, small.n / 2, 1, &(double){3});
        for (unsigned threads = 1; threads < 12; threads++) {
            double got = rounded_sum(&small, FP64, threads);
            cr_assert(got == due, "%s, %u threads: %a, not %a", format_facts[f].name, threads, got,
                      due);
            got = rounded_sum(&cancel, FP64, threads);
            cr_assert(got == 3, "%s, %u threads: %a, not 3", format_facts[f].name, threads, got);
        }
        free(small.data);
        free(cancel.data);
    }
}

/* What adding up the errors can lose, nearly: of each lane's 2^7, followed by halves of its last
 * bit, which go to even. They make up 2^-28; the sum seems to lie a little less than that below a
 * tie, and lies above it. */
Test(rounded, errors_that_are_lost_one_way)
{
    struct array a = array_new(FP64, ROUNDED_MOST);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (size_t i = 0; i < a.n; i++) {
            size_t row = i / ROUNDED_LANES;
            ((double *)a.data)[i] = sign * (row == 0 ? 0x1p60 : row == 1 ? 0x1p7 : 0x1p-46);
        }
        ((double *)a.data)[a.n - 1] = sign * -63 * 0x1p-34;
        cr_assert(rounded_sum(&a, FP64, 1) == sign * (0x1p65 + 0x1p13));
        expect_rounded(&a, "errors lost one way");
    }
    free(a.data);
}

/* Zeros of either sign, and sums that cancel to nothing. */
Test(rounded, signs_of_zero)
{
    uint64_t seed = 507;
    for (enum format f = 0; f < FORMATS; f++)
        for (int round = 0; round < 300; round++) {
            struct array a = array_new(f, 1 + sample_next(&seed) % 300);
            for (size_t i = 0; i < a.n; i++)
                array_encode(&a, i, 1, &(double){-0.0});
            if (round % 3 == 1)
                array_encode(&a, sample_next(&seed) % a.n, 1, &(double){0.0});
            for (size_t i = 0; round % 3 == 2 && i + 1 < a.n; i += 2) {
                array_set_bits(&a, i, sample_next(&seed) & 0x3fff);
                double x = -array_get(&a, i);
                array_encode(&a, i + 1, 1, &x);
            }
            expect_rounded(&a, "zeros");
            free(a.data);
        }
}

/* Any encodings at all, a million and more. */
Test(rounded, any_bits)
{
    uint64_t seed = 508;
    size_t done = 0;
    for (int round = 0; done < 2000000; round++) {
        enum format f = (enum format)(round % FORMATS);
        struct array a = array_new(f, 1 + sample_next(&seed) % 5000);
        bool finite = round / FORMATS % 4; /* else a NaN is nearly always among them */
        for (size_t i = 0; i < a.n; i++) {
            uint64_t bits = sample_next(&seed);
            while (finite && !isfinite(format_decode(f, bits)))
                bits = sample_next(&seed);
            array_set_bits(&a, i, bits);
        }
        for (size_t i = a.n / 2; round % 3 == 0 && i < a.n; i++) { /* cancel most of it */
            double x = -array_get(&a, i - a.n / 2);
            array_encode(&a, i, 1, &x);
        }
        expect_rounded(&a, "any bits");
        done += a.n;
        free(a.data);
    }
}
