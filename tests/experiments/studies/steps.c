/* Weights of `run steps`: what is predicted is what steps do, and rounding is unbiased. */
#include <criterion/criterion.h>

#include <math.h>

#include "experiments/inputs/philox.h"
#include "experiments/studies/steps_weight.h"
#include "kernels/method/method.h"
#include "reference/exact/exact.h"
#include "tests/support/rational.h"
#include "tests/support/samples.h"

/* A number of f of either sign, its exponent up to `span` below 1. */
static double number(enum format f, uint64_t *seed, int span)
{
    double x =
        ldexp(1 + random_unit(sample_next(seed)), -(int)(sample_next(seed) % (unsigned)span));
    return format_round(f, sample_next(seed) % 2 ? x : -x);
}

/* The first step after which the weight never moves, by going through all of them. */
static uint64_t walked(enum format f, double w, double u, uint64_t n)
{
    uint64_t changed = 0;
    for (uint64_t t = 1; t <= n; t++) {
        double next = format_add(f, w, u);
        changed = next != w ? t : changed;
        w = next;
    }
    return u != 0 && changed < n ? changed + 1 : 0;
}

Test(steps, stand_still_where_predicted)
{
    enum { N = 20000 };
    uint64_t seed = 3, late = 0, never = 0;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int k = 0; k < 150; k++) {
            double u = number(f, &seed, 12);
            double w =
                k % 3 == 0 ? 0 : format_round(f, number(f, &seed, 4) * (k % 3 == 1 ? 1 : 64));
            if (k % 5 == 0) /* ties */
                u = format_ulp(f, w) * (double)(1 + sample_next(&seed) % 7) / 2;
            uint64_t due = walked(f, w, u, N), got = steps_stall(f, w, u, N);
            cr_assert_eq(got, due, "%s: %a + %a: predicted %llu, walked %llu", format_facts[f].name,
                         w, u, (unsigned long long)got, (unsigned long long)due);
            late += due > 100;
            never += due == 0;
        }
    cr_assert(late > 20 && never > 20, "%d late, %d never", (int)late, (int)never);
}

/* bf16: 1 is even and keeps what is half its spacing; ones stop at 256, 2^11, 2^24. */
Test(steps, known_places)
{
    cr_expect_eq(steps_stall(BF16, 0, 1, 1000), 257);
    cr_expect_eq(steps_stall(FP16, 0, 1, 3000), 2049);
    cr_expect_eq(steps_stall(FP32, 0, 1, UINT64_C(1) << 30), (1 << 24) + 1);
    cr_expect_eq(steps_stall(BF16, 1, 0x1p-8, 10), 1);
    cr_expect_eq(steps_stall(FP64, 0, 1, UINT64_C(1) << 60), (UINT64_C(1) << 53) + 1);
    cr_expect_eq(steps_stall(FP32, 0, 1, 1000), 0);
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
