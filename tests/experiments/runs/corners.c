/* Corners that planted faults showed nobody to look at. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "experiments/bench/subject.h"
#include "experiments/conformance/judge.h"
#include "kernels/gpu/raw_read.h"
#include "kernels/blocks/tiled.h"
#include "reference/possible/any_order.h"
#include "reference/measure/scan.h"

/* A NaN in the first thread's share, an infinity in the last one's, whatever the threads. */
Test(corners, a_nan_outlasts_an_infinity_of_a_later_thread)
{
    enum { N = 4 * TILE };
    static float x[N];
    const struct method *m = method_named("norm/scaled");
    for (int turn = 0; turn < 2; turn++)
        for (unsigned threads = 1; threads <= 4; threads++) {
            float out = 0;
            memset(x, 0, sizeof x);
            x[turn ? N - 1 : 0] = NAN;
            x[turn ? 0 : N - 1] = INFINITY;
            struct task t = {.of = &(struct operands){.in = {FP32, N, x}},
                             .out = {FP32, 1, &out},
                             .accumulator = FP32,
                             .shape = {threads, 0},
                             .method = m,
                             .device = -1};
            cr_assert(m->cpu(&t, NULL) == STATUS_OK);
            cr_expect(isnan(out), "%u threads: %g", threads, (double)out);
        }
}

/* Elements of the lowest bin are no zeros. */
Test(corners, the_smallest_negative_numbers_are_told_from_zeros)
{
    enum { N = 600 };
    double x[N];
    for (size_t n = 1; n <= N; n += 37) {
        struct exact many, one;
        exact_init(&many);
        exact_init(&one);
        for (size_t i = 0; i < n; i++)
            x[i] = -0x1p-1074;
        exact_add_array(&many, &(struct array){FP64, n, x}, 0, n);
        for (size_t i = 0; i < n; i++)
            exact_add_array(&one, &(struct array){FP64, 1, x + i}, 0, 1);
        cr_expect(many.plain && one.plain && exact_round(&many, FP64) == -(double)n * 0x1p-1074,
                  "%zu", n);
        for (size_t i = 0; i < n; i++)
            x[i] = -0.0;
        exact_init(&many);
        exact_add_array(&many, &(struct array){FP64, n, x}, 0, n);
        cr_expect(!many.plain, "%zu zeros", n);
    }
}

/* A result is rounded to a zero of a sign only where it may have that sign. */
Test(corners, what_is_positive_does_not_round_to_a_negative_zero)
{
    for (int sign = 0; sign < 2; sign++)
        for (int small = 0; small < 2; small++) {
            double size = small ? 0x1p-30 : 1;
            struct possible p = {
                .least = sign ? -2 * size : size, .most = sign ? -size : 2 * size, .grid = 0x1p-60};
            possible_round(&p, FP16);
            cr_expect(possible_holds(&p, sign ? -0.0 : 0.0) == (small == 1));
            cr_expect(!possible_holds(&p, sign ? 0.0 : -0.0), "sign %d, %g", sign, size);
        }
}

static enum outcome outcome_of(const double *x, size_t n, double last)
{
    static float out[4];
    struct scan scan = {.in = {FP64, n, (void *)x}};
    struct scan_output o = {.out = {FP32, n, out}, .accumulator = FP32, .bound = THEOREM_ANY_ORDER};
    struct scan_measure m;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        out[i] = (float)(sum += x[i]);
    out[n - 1] = (float)last;
    cr_assert(measure_scan(&m, &o, 1, &scan, 1, NULL) == STATUS_OK);
    return m.outcome;
}

/* Half an ulp beyond the largest number rounds to infinity; what is below does not. */
Test(corners, prefixes_at_the_end_of_the_range)
{
    const double largest = format_facts[FP32].largest;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double at[] = {sign * largest, sign * 0x1p103},
                     under[] = {sign * largest, sign * (0x1p103 - 0x1p60), sign * -0x1p-40},
                     just[] = {sign * largest, sign * 0x1p103, sign * -0x1p-40},
                     beyond[] = {sign * largest, sign * 0x1p103, sign * 0x1p-40};
        cr_expect(outcome_of(at, 2, sign * INFINITY) == OUTCOME_OK);
        cr_expect(outcome_of(beyond, 3, sign * INFINITY) == OUTCOME_OK);
        cr_expect(outcome_of(under, 3, sign * INFINITY) == OUTCOME_OVERFLOW);
        cr_expect(outcome_of(just, 3, sign * INFINITY) == OUTCOME_OVERFLOW);
        cr_expect(outcome_of(at, 2, -sign * INFINITY) == OUTCOME_OVERFLOW, "the other infinity");
    }
    cr_expect(outcome_of((const double[]){1, INFINITY}, 2, -INFINITY) == OUTCOME_OVERFLOW);
    cr_expect(outcome_of((const double[]){1, INFINITY}, 2, INFINITY) == OUTCOME_OK);
}

/* The same in the middle of an array, where no point of the curve is. */
Test(corners, the_other_infinity_is_an_overflow_anywhere)
{
    enum { N = 70, AT = 60 };
    for (int infinite = 0; infinite < 2; infinite++)
        for (int wrong = 0; wrong < 2; wrong++) {
            double x[N] = {[AT] = infinite ? INFINITY : 0x1p128,
                           [AT + 1] = infinite ? 0 : -0x1p128};
            float out[N] = {[AT] = wrong ? -INFINITY : INFINITY};
            for (size_t i = AT + 1; i < N && infinite; i++)
                out[i] = INFINITY;
            struct scan scan = {.in = {FP64, N, x}};
            struct scan_output o = {
                .out = {FP32, N, out}, .accumulator = FP32, .bound = THEOREM_ANY_ORDER};
            struct scan_measure m;
            cr_assert(measure_scan(&m, &o, 1, &scan, 1, NULL) == STATUS_OK);
            cr_expect((m.outcome == OUTCOME_OVERFLOW) == wrong, "%d, %d: %d", infinite, wrong,
                      (int)m.outcome);
        }
}

static enum judged judged(const struct method *m, const float *x, const float *out, size_t n,
                          const uint8_t *heads)
{
    struct conformance_subject s = {.method = m,
                                    .device = {DEVICE_CPU, 0},
                                    .storage = FP32,
                                    .accumulator = FP32,
                                    .segment = heads ? 4 : 0};
    struct special_input in = {{FP32, n, (void *)x}, {FP32, n, NULL}};
    size_t outputs = m->operation->array ? n : 1;
    struct array to = {FP32, outputs, (void *)out};
    struct judgement j;
    cr_assert(conformance_judge(&j, &s, &in, heads, &to, NULL) == STATUS_OK);
    return j.is;
}

/* Next to overflow a method that carries errors may err by three bounds of any order, no more. */
Test(corners, next_to_overflow_three_bounds_are_allowed)
{
    const struct method *m = method_named("sum/sum2");
    const float x[] = {0x1p126f, 1, 0x1p-20f};
    const float near = 0x1p126f + 0x1p104f, far = 0x1p126f + 10 * 0x1p103f;
    cr_expect(judged(m, x, &(float){0x1p126f}, 3, NULL) == JUDGED_FINE);
    cr_expect(judged(m, x, &near, 3, NULL) != JUDGED_IMPOSSIBLE);
    cr_expect(judged(m, x, &far, 3, NULL) == JUDGED_IMPOSSIBLE);
}

/* No theorem speaks of a segment next to overflow, also where one behind it is tame. */
Test(corners, segments_behind_one_that_is_near_overflow)
{
    struct method m = *method_named("scan/segmented");
    const uint8_t heads[8] = {1, 0, 0, 0, 1};
    const float x[] = {0x1p126f, 0x1p100f, 1, 1, 1, 1, 1, 1};
    float out[] = {0x1p126f, 0x1p126f + 0x1p103f, 0x1p126f + 0x1p103f, 0x1p126f, 1, 2, 3, 4};
    m.bound = THEOREM_COMPENSATED;
    cr_expect(judged(&m, x, out, 8, heads) != JUDGED_IMPOSSIBLE);
    float tame[] = {1, 2, 3, 4, 1, 2, 3, 4};
    const float ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    cr_expect(judged(&m, ones, tame, 8, heads) == JUDGED_FINE);
}

/* --- benchmarks --- */

static const void *read_from[8];
static size_t reads;

enum status __wrap_raw_read(const struct array *a, unsigned threads, uint64_t *mix,
                            struct problem *p);
enum status __wrap_raw_read(const struct array *a, unsigned threads, uint64_t *mix,
                            struct problem *p)
{
    (void)threads, (void)p;
    *mix = 0;
    read_from[reads++ % 8] = a->data;
    return STATUS_OK;
}

/* The yardstick of dot products reads both arrays in each run. */
Test(corners, the_raw_read_of_both_reads_both)
{
    enum { N = 100 };
    float x[N] = {0}, y[N] = {0};
    double time_ns;
    struct bench_input in = {.device = {DEVICE_CPU, 0}, .array = {FP32, N, x}};
    struct bench_subject s = {.in = &in, .kind = BENCH_READ_BOTH};
    s.task = (struct task){.of = &(struct operands){.in = {FP32, N, x}, .in2 = {FP32, N, y}},
                           .shape = {1, 0}};
    cr_assert(bench_subject_run(&s, 2, &time_ns, NULL) == STATUS_OK);
    cr_assert(reads == 4, "%zu reads", reads);
    cr_expect(read_from[0] == x && read_from[1] == y && read_from[2] == x && read_from[3] == y);
}
