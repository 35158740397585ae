/* bench: its figures are consistent, and what is not measured says why. */
#include <math.h>
#include <time.h>

#include "experiments/bench_plan.h"
#include "experiments/bench_report.h"
#include "experiments/clock.h"
#include "experiments/experiment.h"
#include "tests/bench.h"
#include "tests/study.h"

static const struct device cpu = {DEVICE_CPU, 0};

/* Sums are held against a raw read and scans against a copy with as many threads. */
Test(bench, every_method_is_measured)
{
    struct bench_input in = open_input(cpu, FP16, 1000);
    struct bench_row planned[TAKEN_MOST];
    size_t supported = 0, count = 0;
    cr_assert(method_count < TAKEN_MOST);
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (!operation_plain(m->operation))
            continue;
        planned[count] = (struct bench_row){
            .method = m, .accumulator = FP32, .output = FP32, .product = m->product};
        planned[count++].shape = method_shape(m, DEVICE_CPU, 1000, (struct shape){0, 0});
    }
    measure_rows(&in, planned, count);
    for (size_t i = 0, k = 0; i < taken.count; i++) {
        const struct bench_row *row = &taken.row[i];
        const struct method *m = row->method;
        if (!m)
            continue;
        cr_assert(m == planned[k++].method, "%s is out of order", m->name);
        bool runs = method_supports(m, DEVICE_CPU, FP16, FP32), scan = m->operation->array;
        supported += runs;
        cr_expect((row->time.repetitions == TIMING_REPEATS) == runs, "%s: %zu repetitions: %s",
                  m->name, row->time.repetitions, row->note);
        cr_expect((strcmp(row->note, "unsupported") == 0) == !runs, "%s: '%s'", m->name, row->note);
        cr_expect(!runs || (row->time.least_ns > 0 && row->time.median_ns >= row->time.least_ns),
                  "%s", m->name);
        const struct bench_row *y = taken_yardstick(1,
                                                    scan                        ? BENCH_COPY
                                                    : m->operation->inputs == 2 ? BENCH_READ_BOTH
                                                                                : BENCH_READ,
                                                    bench_threads(m, row->shape));
        cr_expect(!runs || (y && (scan ? row->copy_ns : row->raw_ns) == y->time.median_ns),
                  "%s has another yardstick", m->name);
        cr_expect((scan ? row->raw_ns : row->copy_ns) == 0, "%s has two yardsticks", m->name);
    }
    cr_expect(supported > 10 && taken.rounds == 1, "%zu methods, %zu rounds", supported,
              taken.rounds);
    bench_input_close(&in);
}

/* Launch shapes of a GPU, which CPU twins read, are of a warp and more; no such number is taken for
 * CPU threads. */
Test(bench, yardsticks_have_cpu_threads)
{
    size_t threaded = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        struct shape shape = method_shape(m, DEVICE_CPU, 1000, (struct shape){0, 0});
        cr_expect(bench_threads(m, shape) < 32, "%s: %u threads", m->name, bench_threads(m, shape));
        shape = method_shape(m, DEVICE_CPU, 1000, (struct shape){3, 0});
        threaded += bench_threads(m, shape) == 3;
        cr_expect(!m->atomic || !m->cpu || bench_threads(m, shape) == 3, "%s: %u threads of 3",
                  m->name, bench_threads(m, shape));
    }
    cr_expect(threaded > 10, "%zu methods run on threads", threaded);
}

static enum status slow(const struct task *t, struct problem *p)
{
    (void)p;
    uint64_t begin = clock_ns();
    while (clock_ns() - begin < 40000 * t->in.n / 1000)
        ;
    return STATUS_OK;
}

static const struct bench_row *taken_method(void)
{
    for (size_t i = 0; i < taken.count; i++)
        if (taken.row[i].method)
            return &taken.row[i];
    cr_assert(false, "no row of a method");
    return NULL;
}

/* 40 us for 1000 elements: 2.7 s for 2^26, less than 3 ms for the sample. */
Test(bench, a_method_that_takes_too_long_is_skipped)
{
    struct bench_input in = open_input(cpu, FP16, 1 << 20);
    struct method m = *method_named("sum/serial");
    struct bench_row row = {.method = &m, .accumulator = FP32, .output = FP32};
    m.cpu = slow;
    in.array.n = (size_t)1 << 26; /* `slow` does not touch the elements */
    in.sample.n = in.array.n / 1024;
    measure_rows(&in, &row, 1);
    const struct bench_row *got = taken_method();
    cr_expect(got->time.repetitions == 0 && strstr(got->note, "skipped"), "%s", got->note);
    cr_expect(taken.count == 1, "a yardstick was measured for nothing");
    in.array.n = 1 << 20;
    in.sample.n = in.array.n / 1024;
    measure_rows(&in, &row, 1);
    got = taken_method();
    cr_expect(got->time.repetitions > 0 && got->time.median_ns >= 4.1e7,
              "%zu repetitions, %g ns: %s", got->time.repetitions, got->time.median_ns, got->note);
    bench_input_close(&in);
}

static struct {
    size_t calls, late; /* the first `late` ones take 100 times as long as the others */
} delayed;

static enum status delay(const struct task *t, struct problem *p)
{
    struct task longer = *t;
    longer.in.n *= delayed.calls++ < delayed.late ? 100 : 1;
    return slow(&longer, p);
}

/* 41 us for the sample, and 4 ms while the machine is busy: 42 ms, not 4 s. It is not skipped after
 * a few late runs, and is where there are no others. */
Test(bench, a_method_is_not_skipped_for_late_runs)
{
    struct bench_input in = open_input(cpu, FP16, 1 << 20);
    struct method m = *method_named("sum/serial");
    struct bench_row row = {.method = &m, .accumulator = FP32, .output = FP32};
    m.cpu = delay;
    in.sample.n = in.array.n / 1024;
    delayed.late = 4;
    measure_rows(&in, &row, 1);
    const struct bench_row *got = taken_method();
    cr_expect(got->time.repetitions > 0, "%s", got->note);
    delayed.calls = 0;
    delayed.late = SIZE_MAX;
    measure_rows(&in, &row, 1);
    got = taken_method();
    cr_expect(strstr(got->note, "skipped"), "%s", got->note);
    cr_expect(delayed.calls >= 3 && delayed.calls <= 70, "%zu calls", delayed.calls);
    bench_input_close(&in);
}

static struct {
    size_t calls, n[2]; /* runs, and those on the sample and on all, whose shapes were others */
} shaped;

static enum status see_shape(const struct task *t, struct problem *p)
{
    (void)p;
    const struct method *m = method_named("norm/exact");
    struct shape due = method_shape(m, DEVICE_CPU, t->in.n, (struct shape){8, 0});
    shaped.calls++;
    shaped.n[t->in.n == 1 << 16] += t->shape.threads != due.threads;
    return STATUS_OK;
}

/* 32 tiles have 8 threads, the one of the sample has one. */
Test(bench, a_sample_has_a_shape_of_its_own)
{
    struct bench_input in = open_input(cpu, FP32, 1 << 16);
    struct method m = *method_named("norm/exact");
    struct bench_row row = {.method = &m, .accumulator = FP32, .output = FP32};
    row.shape = method_shape(&m, DEVICE_CPU, 1 << 16, (struct shape){8, 0});
    m.cpu = see_shape;
    cr_assert(row.shape.threads == 8 && in.sample.n == 1 << 10);
    measure_rows(&in, &row, 1);
    cr_expect(shaped.calls > TIMING_REPEATS && shaped.n[0] == 0 && shaped.n[1] == 0,
              "of %zu runs %zu and %zu", shaped.calls, shaped.n[0], shaped.n[1]);
    bench_input_close(&in);
}

/* A scan that looks at what it is asked for. */
static struct {
    enum format output;
    bool exclusive;
    size_t segment, calls;
} asked;

static enum status look(const struct task *t, struct problem *p)
{
    asked.calls++;
    cr_assert(t->out.format == asked.output && t->out.n == t->in.n && t->out.data);
    memset(t->out.data, 1, array_bytes(t->out.format, t->out.n)); /* there is room for it all */
    cr_assert(t->accumulator == FP32 && t->exclusive == asked.exclusive);
    cr_assert((t->heads != NULL) == (asked.segment > 0));
    for (size_t i = 0; t->heads && i < t->in.n; i++)
        cr_assert(t->heads[i] == (i % asked.segment == 0), "head %zu", i);
    return problem(p, asked.calls % 7 == 0 ? STATUS_DEVICE : STATUS_OK, "enough");
}

/* Each scan gets the task that its row says, and a failure becomes a note. */
Test(bench, scans_do_what_their_rows_say)
{
    struct bench_input in = open_input(cpu, BF16, 3000);
    struct method m = *method_named("scan/segmented");
    m.cpu = look;
    for (size_t segment = 0; segment < 3000; segment = 3 * segment + 100)
        for (int exclusive = 0; exclusive < 2; exclusive++)
            for (int wide = 0; wide < 2; wide++) {
                struct bench_row row = {.method = &m,
                                        .accumulator = FP32,
                                        .output = wide ? FP32 : BF16,
                                        .exclusive = exclusive,
                                        .segment = segment};
                asked.output = row.output;
                asked.exclusive = exclusive;
                asked.segment = segment;
                asked.calls = 0;
                measure_rows(&in, &row, 1);
                const struct bench_row *got = taken_method();
                cr_expect(asked.calls == 7, "%zu calls", asked.calls);
                cr_expect(got->status == STATUS_DEVICE && got->time.repetitions == 0 &&
                              strcmp(got->note, "failed: enough") == 0,
                          "%s", got->note);
            }
    bench_input_close(&in);
}

/* A line of a file, without its break. */
static const char *line_of(const char *path, size_t number)
{
    static char line[2][2048];
    static size_t next;
    char *to = line[next++ % 2];
    FILE *file = fopen(path, "r");
    cr_assert(file, "%s", path);
    for (size_t i = 0; i <= number; i++)
        cr_assert(fgets(to, sizeof *line, file), "%s: no line %zu", path, number);
    fclose(file);
    to[strcspn(to, "\n")] = 0;
    return to;
}

/* What the CSV file says of rows that are known. 1000 elements of fp64 in 2 us: 4 GB/s. The scan
 * reads 8 bytes and a flag and writes 4 an element, 13000 in 4 us: 3.25 GB/s; the copy 16000 bytes
 * in 1 us. */
Test(bench, figures_follow_from_times, .init = make_folder, .fini = remove_folder)
{
    const char *path = in_folder("bench.csv");
    struct bench_report report;
    struct problem p = {0};
    struct bench_input in = open_input(cpu, FP64, 1000);
    struct bench_row row[] = {
        {.method = method_named("sum/sequential"),
         .accumulator = FP32,
         .output = FP32,
         .shape = {64, 0},
         .round = 1,
         .time = {2000, 1500, 15, 100},
         .raw_ns = 500,
         .vendor_ns = 4000,
         .memory = {true, 4096}},
        {.method = method_named("scan/segmented"),
         .accumulator = FP32,
         .output = FP32,
         .exclusive = true,
         .segment = 50,
         .round = 2,
         .time = {4000, 3500, 15, 100},
         .copy_ns = 1000},
        {.kind = BENCH_COPY,
         .accumulator = FORMATS,
         .output = FORMATS,
         .shape = {2, 0},
         .round = 2,
         .time = {1000, 500, 15, 100}},
        {.method = method_named("scan/tiled"), .round = 3, .copy_ns = 1000, .note = "skipped: why"},
    };
    static const char *const expected[] = {
        "cpu,sum/sequential,fp64,fp32,uniform,1000,64,,2,1.5,4,0.25,2,15,100,,,,,,1,,,4096,,,,0.5",
        ("cpu,scan/segmented,fp64,fp32,uniform,1000,,,4,3.5,3.25,,,15,100,,,exclusive,fp32,50,2,"
         "1000,0.203125,,,,,0.25"),
        "cpu,copy,fp64,,uniform,1000,2,,1,0.5,16,,,15,100,,,,,,2,,,,,,,",
        "cpu,scan/tiled,fp64,fp16,uniform,1000,,,,,,,,,,,skipped: why,inclusive,fp16,,3,1000,,,,,,",
    };
    in.in_cache = false;
    cr_assert(bench_report_open(&report, true, path, &p) == STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < 4; i++) {
        cr_assert(bench_report_add(&report, &in, &row[i], &p) == STATUS_OK, "%s", p.text);
        /* It is there while bench runs. */
        cr_expect_str_eq(line_of(path, i + 1), expected[i], "%s", line_of(path, i + 1));
    }
    json_t *json = json_array_get(report.rows, 0), *scan = json_array_get(report.rows, 1);
    cr_expect(json_real_value(json_object_get(json, "gb_per_s")) == 4);
    cr_expect(json_is_null(json_object_get(json, "blocks")));
    cr_expect(json_integer_value(json_object_get(json, "memory_bytes")) == 4096);
    cr_expect(json_is_null(json_object_get(scan, "memory_bytes")));
    cr_expect(json_is_false(json_object_get(json, "in_cache")));
    cr_expect(json_is_null(json_object_get(json, "of_copy")));
    cr_expect(json_real_value(json_object_get(scan, "of_copy")) == 0.203125);
    cr_expect_str_eq(json_string_value(json_object_get(scan, "scan")), "exclusive");
    cr_assert(freopen("/dev/null", "w", stdout)); /* where closing it prints */
    cr_expect(bench_report_close(&report, &p) == STATUS_OK, "%s", p.text);
    bench_input_close(&in);
}

/* Rows of one method that differ in what it is told of its matrix or mask alone can be told apart,
 * also where there is no figure: as in results.csv. */
Test(bench, matrices_are_told_apart, .init = make_folder, .fini = remove_folder)
{
    static const struct layout column = {LAYOUT_COLUMN, 0, "column"},
                               two = {LAYOUT_BATCH, 2, "batch:2"},
                               four = {LAYOUT_BATCH, 4, "batch:4"};
    static const struct {
        const char *method;
        const struct layout *layout;
        size_t rows, keep;
        const char *note, *keys, *bins;
    } due[] = {{"rows/serial", &column, 40, 0, "40 rows, column", "column", "40"},
               {"rows/serial", &two, 40, 0, "40 rows, batch:2", "batch:2", "40"},
               {"rows/serial", &four, 40, 0, "40 rows, batch:4", "batch:4", "40"},
               {"rows/serial", &four, 20, 0, "20 rows, batch:4", "batch:4", "20"},
               {"transpose/naive", NULL, 10, 0, "10 rows", "transposed", "10"},
               {"compact/scan", NULL, 0, 30, "keeps 30%", "keep:30", ""},
               {"sum/serial", NULL, 0, 0, "", "", ""}};
    enum { DUE = sizeof due / sizeof *due };
    struct bench_input in = open_input(cpu, FP32, 1000);
    struct bench_report report;
    struct bench_row row[DUE];
    struct problem p = {0};
    const char *path = in_folder("bench.csv");
    for (size_t i = 0; i < DUE; i++) {
        row[i] = (struct bench_row){.method = method_named(due[i].method),
                                    .accumulator = FP32,
                                    .output = FP32,
                                    .layout = due[i].layout,
                                    .bins = due[i].rows,
                                    .keep = due[i].keep};
        row[i].shape = method_shape(row[i].method, DEVICE_CPU, 1000, (struct shape){1, 0});
    }
    measure_rows(&in, row, DUE);
    cr_assert(bench_report_open(&report, false, path, &p) == STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < taken.count; i++)
        cr_assert(bench_report_add(&report, &in, &taken.row[i], &p) == STATUS_OK, "%s", p.text);
    cr_assert(freopen(in_folder("printed"), "w", stdout));
    cr_expect(bench_report_close(&report, &p) == STATUS_OK, "%s", p.text);
    cr_assert(fflush(stdout) == 0);
    struct rows rows = rows_of(folder, "bench", times_column, BENCH_COLUMNS);
    struct bytes printed = get_file(in_folder("printed"));
    add_bytes(&printed, "", 1);
    for (size_t i = 0, k = 0; i < rows.count; i++) {
        bool yardstick = !*field_of(&rows, i, TIMES_ACCUMULATOR);
        cr_assert(yardstick || k < DUE);
        cr_expect_str_eq(field_of(&rows, i, TIMES_NOTE), yardstick ? "" : due[k].note);
        cr_expect_str_eq(field_of(&rows, i, BENCH_KEYS), yardstick ? "" : due[k].keys);
        cr_expect_str_eq(field_of(&rows, i, BENCH_BINS), yardstick ? "" : due[k].bins);
        cr_expect(yardstick || strstr((char *)printed.data, due[k].note), "no %s in: %s",
                  due[k].note, (char *)printed.data);
        k += !yardstick;
    }
    clear_bytes(&printed);
    rows_free(&rows);
    bench_input_close(&in);
}

static enum status sleeps(const struct task *t, struct problem *p)
{
    (void)t, (void)p;
    nanosleep(&(struct timespec){0, 250000000}, NULL);
    return STATUS_OK;
}

/* What takes so long that it is repeated less says that and what it was told. */
Test(bench, long_runs_are_told_apart)
{
    static const struct layout four = {LAYOUT_BATCH, 4, "batch:4"};
    struct bench_input in = open_input(cpu, FP32, 1000);
    struct method m = *method_named("rows/serial");
    struct bench_row row = {
        .method = &m, .accumulator = FP32, .output = FP32, .layout = &four, .bins = 40};
    row.shape = method_shape(&m, DEVICE_CPU, 1000, (struct shape){1, 0});
    m.cpu = sleeps;
    measure_rows(&in, &row, 1);
    const char *note = taken_method()->note;
    cr_expect(strncmp(note, "40 rows, batch:4, ", 18) == 0 &&
                  strstr(note, " repeats: a run takes long"),
              "%s", note);
    bench_input_close(&in);
}

/* Columns are only ever appended: what reads a file reads the recorded ones too. */
Test(bench, recorded_columns_stay, .init = make_folder, .fini = remove_folder)
{
    struct bench_report report;
    struct problem p = {0};
    const char *path = in_folder("bench.csv");
    cr_assert(bench_report_open(&report, true, path, &p) == STATUS_OK, "%s", p.text);
    cr_assert(freopen("/dev/null", "w", stdout));
    cr_assert(bench_report_close(&report, &p) == STATUS_OK, "%s", p.text);
    const char *now = line_of(path, 0);
    static const char last[] =
        ",scan,output,segment,round,copy_ns,of_copy,memory_bytes,case_id,keys,"
        "bins,elements_per_ns";
    cr_expect_str_eq(now + strlen(now) - strlen(last), last);
    const char *then = line_of(ULPSCOPE_SOURCE "/reports/recorded/h200-bench/bench.csv", 0);
    cr_expect(strncmp(now, then, strlen(then)) == 0, "%s, recorded: %s", now, then);
}

/* What takes keys is timed on an input that has some, beside a copy; they are read, too. */
Test(bench, keys_are_read)
{
    enum { N = 1000, BINS = 7 };
    struct bench_input in = open_input(cpu, FP16, N);
    struct bench_row row = {.method = method_named("scatter/sort"),
                            .accumulator = FP32,
                            .output = FP32,
                            .shape = {1, 0}};
    struct keys keys;
    struct problem p = {0};
    cr_assert(keys_parse(&keys, "uniform", &p) == STATUS_OK);
    cr_assert(bench_input_keys(&in, &keys, BINS, 1, &p) == STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < N; i++)
        cr_assert(in.key[i] < BINS);
    measure_rows(&in, &row, 1);
    const struct bench_row *got = taken_method(), *copy = taken_yardstick(1, BENCH_COPY, 1);
    cr_assert(got->time.repetitions == TIMING_REPEATS && copy, "%s", got->note);
    cr_expect(got->copy_ns == copy->time.median_ns && got->raw_ns == 0);
    double bytes = N * (2 + 4) + BINS * 4;
    cr_expect(bench_bytes(&in, got) == bytes && bench_bytes(&in, copy) == 2 * 2 * N);
    cr_expect(
        fabs(bench_of_copy(&in, got) * got->time.median_ns / copy->time.median_ns * 4000 / bytes -
             1) < 1e-14);
    cr_expect_str_eq(bench_scan(got), "");
    cr_expect_str_eq(got->note, "", "keys and bins have columns of their own");
    bench_input_close(&in);
    keys_free(&keys);
}

static enum status over_bins(const struct task *t, struct problem *p)
{
    (void)p;
    uint64_t begin = clock_ns();
    while (clock_ns() - begin < 40 * t->bins)
        ;
    return STATUS_OK;
}

/* 42 ms for its bins, of however few elements: not 64 times that for 64 times as many. */
Test(bench, bins_do_not_grow_with_elements)
{
    struct bench_input in = open_input(cpu, FP16, 1 << 20);
    struct method m = *method_named("scatter/sort");
    struct bench_row row = {.method = &m, .accumulator = FP32, .output = FP32};
    struct keys keys;
    struct problem p = {0};
    m.cpu = over_bins;
    cr_assert(keys_parse(&keys, "one", &p) == STATUS_OK);
    cr_assert(bench_input_keys(&in, &keys, 1 << 20, 1, &p) == STATUS_OK, "%s", p.text);
    measure_rows(&in, &row, 1);
    const struct bench_row *got = taken_method();
    cr_expect(got->time.repetitions > 0 && got->time.median_ns >= 4.1e7, "%s", got->note);
    bench_input_close(&in);
    keys_free(&keys);
}

static size_t planned_rows(const struct bench_plan *plan, const char *method)
{
    size_t rows = 0;
    for (size_t i = 0; i < plan->count; i++)
        rows += strcmp(plan->row[i].method->name, method) == 0;
    return rows;
}

/* Each method with all that it reads, once. */
Test(bench, plan_of_an_input)
{
    static const char *const word[AXES] = {
        [AXIS_METHOD] = "sum/serial,sum/tiled,scan/serial,scan/segmented,cub/scan",
        [AXIS_METHOD_NAMED] = "yes",
        [AXIS_DEVICE] = "cpu",
        [AXIS_STORAGE] = "fp16,fp64",
        [AXIS_ACCUMULATOR] = "fp16,fp32",
        [AXIS_THREADS] = "1,2,8",
        [AXIS_SCAN] = "inclusive,exclusive",
        [AXIS_SEGMENT] = "0,10,20",
        [AXIS_OUTPUT] = "accumulator,storage",
        [AXIS_BLOCKS] = "7,9",
    };
    static const struct experiment any = {
        .name = "any", .axes = {[DEVICE_CPU] = {.formats = "all", .input = "ones", .n = "9"}}};
    struct request request = {0};
    struct axes axes;
    struct bench_plan plan;
    struct problem p = {0};
    for (size_t i = 0; i < AXES; i++)
        if (word[i])
            cr_assert(list_split(&request.axis[i], word[i], &p) == STATUS_OK);
    cr_assert(axes_resolve(&axes, &any, &request, &p) == STATUS_OK, "%s", p.text);
    cr_assert(bench_plan(&plan, &axes, DEVICE_CPU, FP16, 1 << 20, &p) == STATUS_OK);
    /* fp16/fp16 has one output format, fp16/fp32 two: with either kind of scan 6 in all. */
    cr_expect(planned_rows(&plan, "sum/serial") == 2);
    cr_expect(planned_rows(&plan, "sum/tiled") == 2 * 3);
    cr_expect(planned_rows(&plan, "scan/serial") == 6);
    cr_expect(planned_rows(&plan, "scan/segmented") == 6 * 3 * 3);
    cr_expect(planned_rows(&plan, "cub/scan") == 6, "asked for by name it is a row");
    cr_expect(plan.count == 2 + 6 + 6 + 54 + 6, "%zu rows", plan.count);
    for (size_t i = 0; i < plan.count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct bench_row *a = &plan.row[i], *b = &plan.row[k];
            bool same = a->method == b->method && a->accumulator == b->accumulator &&
                        a->output == b->output && a->exclusive == b->exclusive &&
                        a->segment == b->segment && a->shape.threads == b->shape.threads;
            cr_assert(!same, "%s: rows %zu and %zu", a->method->name, k, i);
            /* The vendor's routine comes before the others of its kind. */
            cr_assert(!(bench_is_vendor(a->method) && b->method->operation == &operation_scan &&
                        a->accumulator == b->accumulator && a->output == b->output &&
                        a->exclusive == b->exclusive));
        }
    bench_plan_free(&plan);
    cr_assert(bench_plan_keys(&plan, &axes, DEVICE_CPU, FP16, 1 << 20, &p) == STATUS_OK);
    cr_expect(plan.count == 0, "none takes keys");
    axes.method[0] = method_named("scatter/sort");
    cr_assert(bench_plan_keys(&plan, &axes, DEVICE_CPU, FP16, 1 << 20, &p) == STATUS_OK);
    cr_expect(plan.count == 2 * 3 && planned_rows(&plan, "scatter/sort") == plan.count);
    bench_plan_free(&plan);
    cr_assert(bench_plan(&plan, &axes, DEVICE_CPU, FP16, 1 << 20, &p) == STATUS_OK);
    cr_expect(planned_rows(&plan, "scatter/sort") == 0);
    bench_plan_free(&plan);
    axes.method_named = false;
    cr_assert(bench_plan(&plan, &axes, DEVICE_CPU, FP16, 1 << 20, &p) == STATUS_OK);
    cr_expect(planned_rows(&plan, "cub/scan") == 0, "unsupported, and nobody asked for it");
    bench_plan_free(&plan);
    axes_free(&axes);
    request_free(&request);
}
