/* bench: what takes keys. */
#include <math.h>

#include "experiments/bench/table.h"
#include "experiments/system/clock.h"
#include "tests/support/bench.h"

static const struct device cpu = {DEVICE_CPU, 0};

/* What takes keys is timed on an input that has some, beside a copy; they are read, too. */
Test(bench_keys, keys_are_read)
{
    enum { N = 1000, BINS = 7 };
    struct bench_input in = open_input(cpu, FP16, N);
    struct bench_row row = {.method = method_named("scatter/sort"),
                            .accumulator = FP32,
                            .setting.output = FP32,
                            .shape = {1, 0}};
    struct keys keys;
    struct problem p = {0};
    cr_assert(keys_parse(&keys, "uniform", &p) == STATUS_OK);
    in.keys = row.setting.keys = &keys;
    in.bins = row.setting.bins = BINS;
    row.setting.key_seed = 1;
    measure_rows(&in, &row, 1);
    const struct bench_row *got = taken_method(), *copy = taken_yardstick(1, BENCH_COPY, 1);
    cr_assert(got->time.repetitions == TIMING_REPEATS && copy, "%s", got->note);
    cr_expect(got->copy_ns == copy->time.median_ns && got->raw_ns == 0);
    double bytes = N * (2 + 4) + BINS * 4;
    cr_expect(bench_bytes(&in, got) == bytes && bench_bytes(&in, copy) == 2 * 2 * N);
    cr_expect(
        fabs(bench_of_copy(&in, got) * got->time.median_ns / copy->time.median_ns * 4000 / bytes -
             1) < 1e-14);
    cr_expect_str_eq(got->note, "", "keys and bins have columns of their own");
    bench_input_close(&in);
    keys_free(&keys);
}

static enum status over_bins(const struct task *t, struct problem *p)
{
    (void)p;
    uint64_t begin = clock_ns();
    while (clock_ns() - begin < 40 * t->of->bins)
        ;
    return STATUS_OK;
}

/* 42 ms for its bins, of however few elements: not 64 times that for 64 times as many. */
Test(bench_keys, bins_do_not_grow_with_elements)
{
    struct bench_input in = open_input(cpu, FP16, 1 << 20);
    struct method m = *method_named("scatter/sort");
    struct bench_row row = {.method = &m, .accumulator = FP32, .setting.output = FP32};
    struct keys keys;
    struct problem p = {0};
    m.cpu = over_bins;
    cr_assert(keys_parse(&keys, "one", &p) == STATUS_OK);
    in.keys = row.setting.keys = &keys;
    in.bins = row.setting.bins = 1 << 20;
    row.setting.key_seed = 1;
    measure_rows(&in, &row, 1);
    const struct bench_row *got = taken_method();
    cr_expect(got->time.repetitions > 0 && got->time.median_ns >= 4.1e7, "%s", got->note);
    bench_input_close(&in);
    keys_free(&keys);
}

/* C has the format that D is rounded to: a GPU reads it as such. */
Test(bench_keys, c_of_a_product_is_stored_as_d_is)
{
    struct bench_input in = open_input(cpu, FP16, 3 * 16);
    struct bench_row row = {.method = method_named("gemm/tiled"),
                            .accumulator = FP32,
                            .setting.shape = {.m = 4, .n = 4, .k = 4},
                            .setting.bins = 16};
    struct operands of;
    struct problem p = {0};
    for (enum format f = FP16; f <= FP32; f = f == FP16 ? FP32 : FP32 + 1) {
        row.setting.output = f;
        cr_assert(bench_input_operands(&in, &row, false, &of, &p) == STATUS_OK, "%s", p.text);
        cr_expect(of.c.format == f && of.c.n == 16, "%s", format_facts[f].name);
    }
    bench_input_close(&in);
}
