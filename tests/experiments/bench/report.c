/* bench: what its file and its JSON say of rows that are measured. */
#include "experiments/bench/report.h"
#include "tests/support/bench.h"
#include "tests/support/study.h"

static const struct device cpu = {DEVICE_CPU, 0};

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

/* Where bench's file has a column. */
static size_t place_of(const char *name)
{
    size_t i = 0;
    while (strcmp(bench_column(i)->name, name) != 0)
        i++;
    return i;
}

/* What the CSV file says of rows that are known. 1000 elements of fp64 in 2 us: 4 GB/s. The scan
 * reads 8 bytes and a flag and writes 4 an element, 13000 in 4 us: 3.25 GB/s; the copy 16000 bytes
 * in 1 us. */
Test(bench_report, figures_follow_from_times, .init = make_folder, .fini = remove_folder)
{
    const char *path = in_folder("bench.csv");
    struct bench_report report;
    struct problem p = {0};
    struct bench_input in = open_input(cpu, FP64, 1000);
    struct bench_row row[] = {
        {.method = method_named("sum/sequential"),
         .accumulator = FP32,
         .setting.output = FP32,
         .shape = {64, 0},
         .round = 1,
         .time = {2000, 1500, 15, 100, 1750, 2250},
         .raw_ns = 500,
         .vendor_ns = 4000,
         .memory = {true, 4096}},
        {.method = method_named("scan/segmented"),
         .accumulator = FP32,
         .setting.output = FP32,
         .setting.exclusive = true,
         .setting.segment = 50,
         .round = 2,
         .time = {4000, 3500, 15, 100, 0, 0},
         .copy_ns = 1000},
        {.kind = BENCH_COPY,
         .accumulator = FORMATS,
         .setting.output = FORMATS,
         .shape = {2, 0},
         .round = 2,
         .time = {1000, 500, 15, 100, 0, 0}},
        {.method = method_named("scan/tiled"), .round = 3, .copy_ns = 1000, .note = "skipped: why"},
    };
    static const char *const expected[] = {
        ("cpu,sum/sequential,fp64,fp32,uniform,1000,64,,2,1.5,4,0.25,2,15,100,,,,,,1,,,4096,,,,0.5,"
         "fp32,fp32,1.75,2.25"),
        ("cpu,scan/segmented,fp64,fp32,uniform,1000,,,4,3.5,3.25,,,15,100,,,exclusive,fp32,50,2,"
         "1000,0.203125,,,,,0.25,fp32,fp32,,"),
        "cpu,copy,fp64,,uniform,1000,2,,1,0.5,16,,,15,100,,,,,,2,,,,,,,,,,,",
        ("cpu,scan/tiled,fp64,fp16,uniform,1000,,,,,,,,,,,skipped: why,inclusive,fp16,,3,1000,,,,,,"
         ",fp16,fp16,,"),
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
Test(bench_report, matrices_are_told_apart, .init = make_folder, .fini = remove_folder)
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
                                    .setting.output = FP32,
                                    .setting.layout = due[i].layout,
                                    .setting.bins = due[i].rows,
                                    .setting.keep = due[i].keep};
        row[i].shape = method_shape(row[i].method, DEVICE_CPU, 1000, (struct shape){1, 0});
    }
    measure_rows(&in, row, DUE);
    cr_assert(bench_report_open(&report, false, path, &p) == STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < taken.count; i++)
        cr_assert(bench_report_add(&report, &in, &taken.row[i], &p) == STATUS_OK, "%s", p.text);
    cr_assert(freopen(in_folder("printed"), "w", stdout));
    cr_expect(bench_report_close(&report, &p) == STATUS_OK, "%s", p.text);
    cr_assert(fflush(stdout) == 0);
    struct rows rows = rows_of(folder, "bench", bench_column, BENCH_COLUMNS);
    struct bytes printed = get_file(in_folder("printed"));
    add_bytes(&printed, "", 1);
    for (size_t i = 0, k = 0; i < rows.count; i++) {
        bool yardstick = !*field_of(&rows, i, TIMES_ACCUMULATOR);
        cr_assert(yardstick || k < DUE);
        cr_expect_str_eq(field_of(&rows, i, TIMES_NOTE), yardstick ? "" : due[k].note);
        cr_expect_str_eq(field_of(&rows, i, place_of("keys")), yardstick ? "" : due[k].keys);
        cr_expect_str_eq(field_of(&rows, i, place_of("bins")), yardstick ? "" : due[k].bins);
        cr_expect(yardstick || strstr((char *)printed.data, due[k].note), "no %s in: %s",
                  due[k].note, (char *)printed.data);
        k += !yardstick;
    }
    clear_bytes(&printed);
    rows_free(&rows);
    bench_input_close(&in);
}

/* Columns are only ever appended: what reads a file reads the recorded ones too. */
Test(bench_report, recorded_columns_stay, .init = make_folder, .fini = remove_folder)
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
        "bins,elements_per_ns,added_in,result_format,time_us_low,time_us_high";
    cr_expect_str_eq(now + strlen(now) - strlen(last), last);
    const char *then = line_of(ULPSCOPE_SOURCE "/reports/recorded/h200-bench/bench.csv", 0);
    cr_expect(strncmp(now, then, strlen(then)) == 0, "%s, recorded: %s", now, then);
}

/* A rate above that of the raw read is explained: by the cache where the data lie there. */
Test(bench_report, says_why_a_rate_is_above_the_raw_read)
{
    struct bench_input in = open_input(cpu, FP32, 1000);
    static const char *const due[] = {
        "of_raw above 1: the data fit in the cache, ",
        "of_raw above 1: the method reads faster than the raw read's "};
    for (int step = 0; step < 3; step++) {
        struct bench_table table = {0};
        struct text text = {0};
        struct bench_row row = {.method = method_named("sum/tiled"),
                                .accumulator = FP32,
                                .setting.output = FP32,
                                .round = 1,
                                .time = {1000, 900, 15, 1, 900, 1100},
                                .raw_ns = step < 2 ? 1100 : 1000};
        in.in_cache = step == 0;
        bench_table_add(&table, &in, &row);
        bench_table_draw(&text, &table);
        for (int i = 0; i < 2; i++)
            cr_expect((strstr(text_string(&text), due[i]) != NULL) == (i == step), "%d: %s", step,
                      text_string(&text));
        bench_table_free(&table);
        text_free(&text);
    }
    bench_input_close(&in);
}

/* Whose 95% intervals overlap cannot be told apart from the fastest; of other formats or rounds
 * none is compared. */
Test(bench_report, says_who_cannot_be_told_apart, .init = make_folder, .fini = remove_folder)
{
    struct problem p = {0};
    struct bench_input in = open_input(cpu, FP32, 1000);
    static const struct {
        const char *method;
        enum format accumulator;
        size_t round;
        double median, low, high;
    } of[] = {{"sum/tiled", FP32, 1, 1000, 900, 1100},   {"sum/serial", FP32, 1, 1150, 1101, 1200},
              {"sum/kahan", FP32, 1, 1200, 1100, 1300},  {"sum/exact", FP64, 1, 1010, 900, 1200},
              {"sum/serial", FP64, 1, 2000, 1300, 3000}, {"sum/atomic", FP32, 2, 1000, 900, 1200}};
    enum { ROWS = sizeof of / sizeof *of };
    for (int narrower = 0; narrower < 2; narrower++) {
        struct bench_table table = {0};
        struct text text = {0};
        for (size_t i = 0; i < ROWS; i++) {
            struct bench_row row = {.method = method_named(of[i].method),
                                    .accumulator = of[i].accumulator,
                                    .setting.output = of[i].accumulator,
                                    .round = of[i].round};
            double low = narrower ? of[i].median - 1 : of[i].low;
            double high = narrower ? of[i].median + 1 : of[i].high;
            row.time = (struct timing){of[i].median, of[i].low, 15, 1, low, high};
            bench_table_add(&table, &in, &row);
        }
        bench_table_draw(&text, &table);
        const char *said = text_string(&text);
        static const char *const due[2][2] = {
            {"\nfp32/fp32, n = 1000: the fastest is sum/tiled; cannot be told apart from it: "
             "sum/kahan\n",
             "\nfp32/fp64, n = 1000: the fastest is sum/exact\n"},
            {"\nfp32/fp32, n = 1000: the fastest is sum/tiled\n",
             "\nfp32/fp64, n = 1000: the fastest is sum/exact\n"}};
        for (int i = 0; i < 2; i++)
            cr_expect(strstr(said, due[narrower][i]), "no '%s' in: %s", due[narrower][i], said);
        cr_expect(!strstr(said, "fastest is sum/atomic"), "%s", said);
        cr_expect(strstr(said, narrower ? "+-0.1%" : "+-10%"), "%s", said);
        bench_table_free(&table);
        text_free(&text);
    }
    bench_input_close(&in);
    (void)p;
}
