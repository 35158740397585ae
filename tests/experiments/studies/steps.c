/* Weights of `run steps`: what is predicted is what steps do, and rounding is unbiased. */
#include <criterion/criterion.h>

#include <math.h>

#include "experiments/inputs/philox.h"
#include "experiments/studies/steps_weight.h"
#include "kernels/method/method.h"
#include "reference/exact/exact.h"
#include "tests/support/rational.h"
#include "tests/support/samples.h"
#include "tests/support/study.h"
#include "tests/support/terminal.h"

/* A number of f of either sign, its exponent up to `span` below 1. */
static double number(enum format f, uint64_t *seed, int span)
{
    double x =
        ldexp(1 + random_unit(sample_next(seed)), -(int)(sample_next(seed) % (unsigned)span));
    return format_round(f, sample_next(seed) % 2 ? x : -x);
}

/* The first step from which on no step has an effect, by going through all of them. */
static struct steps_end walked(enum format f, double w, double u, uint64_t n)
{
    uint64_t changed = 0;
    for (uint64_t t = 1; t <= n; t++) {
        double next = format_add(f, w, u);
        changed = next != w ? t : changed;
        w = next;
    }
    return (struct steps_end){changed < n ? changed + 1 : 0, isinf(w)};
}

Test(steps, stand_still_where_predicted)
{
    enum { N = 20000 };
    uint64_t seed = 3, late = 0, never = 0, overflow = 0;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int k = 0; k < 150; k++) {
            double u = number(f, &seed, 12);
            double w =
                k % 3 == 0 ? 0 : format_round(f, number(f, &seed, 4) * (k % 3 == 1 ? 1 : 64));
            if (k % 5 == 0) /* ties */
                u = format_ulp(f, w) * (double)(1 + sample_next(&seed) % 7) / 2;
            if (k % 7 == 0) /* towards the end of the range */
                u = format_round(f, u * format_facts[f].largest / 1024);
            if (k % 11 == 0) /* so that many stand where it ends */
                w = u < 0 ? -format_facts[f].largest : format_facts[f].largest;
            struct steps_end due = walked(f, w, u, N), got = steps_end_of(f, w, u, N);
            cr_assert(got.still == due.still && got.overflow == due.overflow,
                      "%s: %a + %a: predicted %llu %d, walked %llu %d", format_facts[f].name, w, u,
                      (unsigned long long)got.still, got.overflow, (unsigned long long)due.still,
                      due.overflow);
            late += due.still > 100;
            never += due.still == 0;
            overflow += due.overflow;
        }
    cr_assert(late > 20 && never > 20 && overflow > 10, "%d late, %d never, %d overflow", (int)late,
              (int)never, (int)overflow);
}

/* bf16: 1 is even and keeps what is half its spacing; ones stop at 256, 2^11, 2^24. */
Test(steps, known_places)
{
    cr_expect_eq(steps_end_of(BF16, 0, 1, 1000).still, 257);
    cr_expect_eq(steps_end_of(FP16, 0, 1, 3000).still, 2049);
    cr_expect_eq(steps_end_of(FP32, 0, 1, UINT64_C(1) << 30).still, (1 << 24) + 1);
    cr_expect_eq(steps_end_of(BF16, 1, 0x1p-8, 10).still, 1);
    cr_expect_eq(steps_end_of(FP64, 0, 1, UINT64_C(1) << 60).still, (UINT64_C(1) << 53) + 1);
    cr_expect_eq(steps_end_of(FP32, 0, 1, 1000).still, 0);
    cr_expect_eq(steps_end_of(BF16, 1, 0, 10).still, 1);
    cr_expect_eq(steps_end_of(BF16, 0, -0.0, 10).still, 1);
}

static void expect_end(enum format f, double u, uint64_t n, uint64_t still)
{
    struct steps_end end = steps_end_of(f, 0, u, n);
    cr_expect(end.overflow && end.still == still, "%g, n = %d: %d %d", u, (int)n, end.overflow,
              (int)end.still);
}

/* 66 * 1000 is beyond fp16, 2 * -60000 also. Overflow at the very last step is found as well. */
Test(steps, overflow_where_predicted)
{
    expect_end(FP16, 1000, 100, 67);
    expect_end(FP16, 1000, 66, 0);
    expect_end(FP16, -60000, 3, 3);
    expect_end(FP16, INFINITY, 3, 2);
    cr_expect(!steps_end_of(FP16, 0, 1000, 65).overflow);
}

static void expect_study(const char *arguments, const char *row, const char *also)
{
    char line[512];
    snprintf(line, sizeof line, "%s --out s --force", arguments);
    cr_expect_eq(run_program("run steps", line), 0);
    expect_said("out", row);
    expect_said("out", also);
}

Test(steps, tell_overflow_from_standing_still, .init = make_folder, .fini = remove_folder)
{
    expect_study("--input ones:value=1000 --n 100 --weight 0 --accumulator fp16 --storage fp16 "
                 "--seed 1..2",
                 "\nplain          inf      inf      0.26  overflow at 66  overflow at 66\n",
                 "1 of 1 plain weights with equal updates do as predicted, 1 overflows\n");
    expect_said("out", "\ntwo_words      nan      nan         0       nan at 66");
    expect_said("s/steps.csv", ",67,67,overflow\n");
    expect_study("--input ones:value=-60000 --n 2 --weight 0 --accumulator fp16 --storage fp16",
                 "  overflow at 2  overflow at 2\n", "do as predicted, 1 overflows\n");
    expect_said("s/steps.csv", ",,0,overflow\n");
}

Test(steps, updates_of_0_have_no_effect, .init = make_folder, .fini = remove_folder)
{
    expect_study("--input ones:value=0 --n 100 --weight 1 --accumulator bf16 --storage bf16",
                 "           1          1\n", "do as predicted, 1 stands still\n");
    expect_said("s/steps.csv", ",1,1,ok\n");
    expect_study("--input ones:value=1e-5 --n 100 --weight 1 --accumulator fp16 --storage e4m3",
                 "\nstochastic       1        0         0           1",
                 "\nevery update is 0 once rounded to e4m3/fp16: no step has an effect\n");
}

/* Exact weights are written as all other exact values are: 0x1 and a fraction. */
Test(steps, exact_weights_in_hexadecimal, .init = make_folder, .fini = remove_folder)
{
    expect_study("--input ones:value=0.001 --n 7 --weight 0 --accumulator bf16 --storage bf16",
                 "\nplain", "from 0: exact 0.006996155\n");
    expect_said("s/steps.csv", ",0.00699615478515625,0x1.ca8p-8,");
    expect_said("s/steps.csv", ",0.00099945068359375,0x1.06p-10,");
}

/* Below 1 numbers lie half as far apart as above it: also where the exact weight, 1 - 2^-60, is so
 * close to 1 that it is 1 as a double. */
Test(steps, errors_in_spacings_at_the_exact_weight, .init = make_folder, .fini = remove_folder)
{
    expect_study("--input ones:value=-0x1p-60 --n 1 --weight 1 --accumulator fp64 --storage fp64",
                 "\nplain", "from 1: exact 1\n");
    expect_said(
        "s/steps.csv",
        "plain,fp64,fp64,ones:value=-8.673617379884035e-19,1,1,1,1,1,,1,0x1.ffffffffffffffep-1,"
        "8.6736173798840355e-19,8.6736173798840355e-19,0.0078125,");
}

/* From an exact weight that is infinite there is no distance; nor is a weight that is so an error.
 */
Test(steps, infinite_updates, .init = make_folder, .fini = remove_folder)
{
    expect_study("--input infs:count=1 --n 1 --weight 0 --accumulator fp32 --storage fp16",
                 "\nplain          inf  overflow at 1", "0 of 4 weights exceed the bound\n");
    expect_said("s/steps.csv", ",1,inf,,inf,inf,,,,,,,,overflow\n");
    expect_said("s/steps.csv",
                "two_words,fp16,fp32,infs:count=1,1,0,1,1,nan,0,inf,inf,,,,,,,,nan\n");
}

/* Without a step nothing is told of steps; nor is a weight that its format does not hold. */
Test(steps, refused, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(run_program("run steps", "--input ones --n 0 --storage fp16 --out s"), 2);
    expect_said("err", "run steps: ones: found no elements, expected some to add up\n");
    cr_assert_eq(run_program("gen", "ones --n 0 --storage fp16 --out none.npy"), 0);
    cr_expect_eq(run_program("run steps", "--data none.npy --out s"), 3);
    expect_said("err", "run steps: none.npy: found no elements, expected some to add up\n");
    cr_expect_eq(run_program("run steps", "--input ones --n 3 --storage fp32 --out s "
                                          "--accumulator bf16,fp16 --weight 0,-70000"),
                 2);
    expect_said("err", "option --weight: found '-70000', beyond the largest fp16, 65504\n");
}

/* Of how many multiples of 2^-53 is the upper neighbour the answer? */
static uint64_t upper_of(enum format f, double a, double b, double high)
{
    uint64_t least = 0, most = UINT64_C(1) << 53;
    while (least < most) {
        uint64_t middle = least + (most - least) / 2;
        if (steps_round_stochastic(f, a, b, (double)middle * 0x1p-53) == high)
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

/* The mean of all 2^53 answers, in rational arithmetic. */
Test(steps, stochastic_rounding_is_unbiased)
{
    uint64_t seed = 7, inexact = 0;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int k = 0; k < 300; k++) {
            double a = number(f, &seed, 3), b = number(f, &seed, 40);
            double high = steps_round_stochastic(f, a, b, 0);
            double low = steps_round_stochastic(f, a, b, 1 - 0x1p-53);
            rational sum = plus(from_double(a), from_double(b));
            if (high == low) {
                cr_assert(mpq_cmp(sum, from_double(low)) == 0 || f >= FP32, "%a + %a", a, b);
            } else {
                cr_assert_eq(high, format_next_up(f, low), "%a + %a", a, b);
                rational up =
                    over(from_double((double)upper_of(f, a, b, high)), from_double(0x1p53));
                rational gap = minus(from_double(high), from_double(low));
                rational mean = plus(from_double(low), times(up, gap));
                rational off = size_of(minus(mean, sum));
                cr_assert(mpq_cmp(off, times(gap, from_double(0x1p-52))) <= 0, "%s: %a + %a",
                          format_facts[f].name, a, b);
                inexact++;
            }
            rational_forget();
        }
    cr_assert(inexact > 600, "only %d", (int)inexact);
}

/* |weight - exact| of n updates, and what bounds it. */
static double error_of(struct steps_weight w, uint64_t n, double u, double *sum_abs)
{
    struct exact exact, sizes;
    exact_init(&exact);
    exact_init(&sizes);
    exact_add(&exact, -w.word);
    exact_add(&sizes, fabs(w.word));
    for (uint64_t t = 1; t <= n; t++) {
        double x = t % 3 ? u : -u / 2;
        steps_add(&w, x, t);
        exact_add(&exact, -x);
        exact_add(&sizes, fabs(x));
    }
    exact_add(&exact, w.word);
    if (w.method == STEPS_TWO_WORDS)
        exact_add(&exact, w.rest);
    *sum_abs = exact_round(&sizes, FP64);
    return exact_round(&exact, FP64);
}

Test(steps, stay_within_their_bounds)
{
    enum { N = 3000, SEEDS = 40 };
    static const enum format formats[] = {BF16, FP16, FP32};
    size_t said = 0;
    for (size_t i = 0; i < 3; i++)
        for (enum steps_method m = 0; m < STEPS_METHODS; m++)
            for (int k = 1; k < 12; k++) {
                enum format f = formats[i];
                uint64_t n = m == STEPS_KAHAN && f == BF16 ? 40 : N;
                double mean = 0, sum_abs = 0, u = format_round(f, 0.37 * ldexp(1, -k));
                for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                    struct steps_weight w = {m, f, seed, k % 2, 0};
                    double off = error_of(w, n, u, &sum_abs);
                    double bound = steps_bound(m, f, f, n, sum_abs, 1);
                    cr_assert(fabs(off) <= bound, "%s in %s: %g, bound %g", steps_method_name[m],
                              format_facts[f].name, off, bound);
                    said += isfinite(bound);
                    mean += off / SEEDS;
                }
                if (m == STEPS_STOCHASTIC)
                    cr_assert(fabs(mean) <= steps_bound(m, f, f, n, sum_abs, SEEDS), "%s: %g",
                              format_facts[f].name, mean);
            }
    cr_assert(said > 2000, "only %zu bounds", said);
}

/* Two words, and Kahan's, go on where a plain weight stands. */
Test(steps, carrying_weights_move_on)
{
    for (enum steps_method m = 0; m < STEPS_METHODS; m++) {
        struct steps_weight w = {m, BF16, 1, 0, 0};
        for (uint64_t t = 1; t <= 10000; t++)
            steps_add(&w, 1, t);
        double weight = w.word + (m == STEPS_TWO_WORDS ? w.rest : 0);
        cr_expect(m == STEPS_PLAIN ? weight == 256 : fabs(weight - 10000) < 2000, "%s: %g",
                  steps_method_name[m], weight);
        cr_expect(m != STEPS_TWO_WORDS || weight == 10000, "%g", weight);
    }
}

/* Powers of ten to a tenth, rounded up, each once. */
Test(steps, has_rows_of_ten_steps_a_power_of_ten, .init = make_folder, .fini = remove_folder)
{
    static const int due[] = {1,  2,  3,  4,  6,  7,  8,  10,  13, 16,
                              20, 26, 32, 40, 51, 64, 80, 100, 105};
    cr_expect_eq(run_program("run steps", "--input ones --n 105 --seed 1 --storage fp32 "
                                          "--accumulator fp32 --weight 0 --out s"),
                 0);
    char *csv = content("s/steps.csv"), *at = strstr(csv, "\nplain,");
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        char begin[80];
        snprintf(begin, sizeof begin, "\nplain,fp32,fp32,ones,105,0,1,%d,", due[i]);
        cr_expect(at && strncmp(at, begin, strlen(begin)) == 0, "no row of step %d", due[i]);
        at = at ? strchr(at + 1, '\n') : NULL;
    }
    free(csv);
}

/* The start and the updates as one array: a plain weight is the last output of scan/serial. */
Test(steps, plain_has_the_bits_of_a_scan)
{
    enum { N = 500 };
    const struct method *m = method_named("scan/serial");
    double data[N], out[N];
    struct problem p = {0};
    uint64_t seed = 11;
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct operands of = {.in = {f, N, data}};
        struct task t = {
            .of = &of, .out = {f, N, out}, .accumulator = f, .method = m, .device = -1};
        for (size_t i = 0; i < N; i++) {
            double x = number(f, &seed, 20);
            array_encode(&of.in, i, 1, &x);
        }
        cr_assert_eq(m->cpu(&t, &p), STATUS_OK);
        struct steps_weight w = {STEPS_PLAIN, f, 1, array_get(&of.in, 0), 0};
        for (size_t i = 1; i < N; i++) {
            steps_add(&w, array_get(&of.in, i), i);
            cr_assert_eq(w.word, array_get(&t.out, i), "%s, %zu", format_facts[f].name, i);
        }
    }
}
