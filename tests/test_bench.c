/* bench: its figures are consistent, and what is not measured says why. */
#include <criterion/criterion.h>

#include <math.h>

#include "experiments/bench_report.h"
#include "experiments/clock.h"
#include "tests/files.h"

static struct bench_input open_input(enum format storage, size_t n)
{
    struct input in;
    struct bench_input b;
    struct problem p = {0};
    cr_assert(input_parse(&in, "uniform", &p) == STATUS_OK, "%s", p.text);
    enum status status =
        bench_input_open(&b, (struct device){DEVICE_CPU, 0}, &in, 1, storage, n, &p);
    cr_assert(status == STATUS_OK, "%s", p.text);
    return b;
}

Test(bench, every_method_is_measured)
{
    struct bench_input in = open_input(FP16, 1000);
    for (size_t i = 0; i < method_count; i++) {
        struct problem p = {0};
        const struct method *m = method_registry[i];
        struct bench_row row = {.method = m, .accumulator = FP32};
        row.shape = method_shape(m, DEVICE_CPU, 1000, (struct shape){0, 0});
        enum status status = bench_measure(&row, &in, TIMING_REPEATS, &p);
        bool supported = method_supports(m, DEVICE_CPU, FP16, FP32);
        cr_expect(status == STATUS_OK, "%s: %s", m->name, p.text);
        cr_expect((row.time.repetitions == TIMING_REPEATS) == supported, "%s: %zu repetitions",
                  m->name, row.time.repetitions);
        cr_expect((strcmp(row.note, "unsupported") == 0) == !supported, "%s: '%s'", m->name,
                  row.note);
        cr_expect(!supported || (row.time.least_ns > 0 && row.time.median_ns >= row.time.least_ns),
                  "%s", m->name);
    }
    bench_input_close(&in);
}

static enum status slow(const struct task *t, struct problem *p)
{
    (void)p;
    uint64_t begin = clock_ns();
    while (clock_ns() - begin < 40000 * t->in.n / 1000)
        ;
    return STATUS_OK;
}

/* 40 us for 1000 elements: 2.6 s for 2^26, 0.08 s for the sample, once more in a run would be too
 * much. */
Test(bench, a_method_that_takes_too_long_is_skipped)
{
    struct bench_input in = open_input(FP16, 1 << 20);
    struct method m = *method_named("sum/serial");
    struct problem p = {0};
    struct bench_row row = {.method = &m, .accumulator = FP32};
    m.cpu = slow;
    in.array.n = (size_t)1 << 26; /* `slow` does not touch the elements */
    in.sample.n = in.array.n / 1024;
    cr_expect(bench_measure(&row, &in, TIMING_REPEATS, &p) == STATUS_OK, "%s", p.text);
    cr_expect(row.time.repetitions == 0 && strstr(row.note, "skipped"), "%s", row.note);
    in.array.n = 1 << 20;
    in.sample.n = in.array.n / 1024;
    cr_expect(bench_measure(&row, &in, TIMING_REPEATS, &p) == STATUS_OK, "%s", p.text);
    cr_expect(row.time.repetitions > 0 && row.time.median_ns >= 4.1e7, "%zu repetitions, %g ns: %s",
              row.time.repetitions, row.time.median_ns, row.note);
    bench_input_close(&in);
}

/* What the CSV file says of a row that is known. */
Test(bench, figures_follow_from_times, .init = make_folder, .fini = remove_folder)
{
    char path[128], line[1024];
    struct bench_report report;
    struct problem p = {0};
    struct bench_input in = open_input(FP64, 1000);
    struct bench_row row = {.method = method_named("sum/sequential"),
                            .accumulator = FP32,
                            .shape = {64, 0},
                            .time = {2000, 1500, 15, 100},
                            .raw_ns = 500,
                            .vendor_ns = 4000};
    in.in_cache = false;
    snprintf(path, sizeof path, "%s/bench.csv", folder);
    cr_assert(bench_report_open(&report, true, path, &p) == STATUS_OK, "%s", p.text);
    cr_assert(bench_report_add(&report, &in, &row, &p) == STATUS_OK, "%s", p.text);
    FILE *file = fopen(path, "r");
    cr_assert(file && fgets(line, sizeof line, file));
    cr_expect_str_eq(line,
                     "device,method,storage,accumulator,input,n,threads,blocks,time_us,"
                     "time_us_min,gb_per_s,of_raw,of_vendor,repetitions,runs,in_cache,note\n");
    cr_assert(fgets(line, sizeof line, file), "the row is not there while bench runs");
    cr_expect_str_eq(line,
                     "cpu,sum/sequential,fp64,fp32,uniform,1000,64,,2,1.5,4,0.25,2,15,100,,\n",
                     "%s", line);
    fclose(file);
    json_t *json = json_array_get(report.rows, 0);
    cr_expect(json_real_value(json_object_get(json, "gb_per_s")) == 4);
    cr_expect(json_is_null(json_object_get(json, "blocks")));
    cr_expect(json_is_false(json_object_get(json, "in_cache")));
    cr_assert(freopen("/dev/null", "w", stdout)); /* where closing it prints */
    cr_expect(bench_report_close(&report, &p) == STATUS_OK, "%s", p.text);
    bench_input_close(&in);
}
