/* Tables for people fit a terminal of 120 columns, whatever they show. */
#include "experiments/bench/report.h"
#include "experiments/program/verbs.h"
#include "tests/support/study.h"

enum { COLUMNS = 120 };

/* What standard output was sent to `path` for. */
static void expect_narrow(const char *path, const char *what)
{
    char line[4096];
    size_t lines = 0;
    fflush(stdout);
    FILE *file = fopen(path, "r");
    cr_assert(file);
    for (; fgets(line, sizeof line, file); lines++)
        cr_expect(strcspn(line, "\n") <= COLUMNS, "%s: %zu columns: %s", what, strcspn(line, "\n"),
                  line);
    cr_expect(lines > 2, "%s: %zu lines", what, lines);
    fclose(file);
}

static void expect_verb_narrow(int argc, const char *const *argv)
{
    struct arguments a;
    struct problem p = {0};
    const char *printed = in_folder("printed");
    cr_assert(freopen(printed, "w", stdout));
    cr_assert_eq(arguments_parse(&a, argc, (char **)argv, &p), STATUS_OK, "%s", p.text);
    cr_expect_eq(a.verb->run(&a, &p), STATUS_OK, "%s", p.text);
    expect_narrow(printed, argv[2]);
}

/* The folder as the working directory: the path of the results is part of a line. */
Test(readable, studies, .init = make_folder, .fini = remove_folder)
{
    static const char *const experiment[] = {"accuracy", "variance"};
    cr_assert_eq(chdir(folder), 0);
    for (size_t i = 0; i < 2; i++) {
        const char *words[] = {
            "ulpscope", "run",    experiment[i], "--device", "cpu", "--n",   "100000", "--method",
            "",         "--runs", "3",           "--input",  "",    "--out", "",       "--dry-run"};
        words[8] = "sum/two_kernel,sum/warp_atomic,sum/interleaved,sum/block_atomic";
        words[12] = "uniform,cancellation,kahan_killer";
        words[14] = experiment[i];
        expect_verb_narrow(15, words);
        words[8] = "sum/serial,sum/pairwise,sum/interleaved,sum/sequential,sum/shuffle,"
                   "sum/coarsened,sum/two_kernel,sum/host_finish,sum/last_block,sum/tiled";
        expect_verb_narrow(16, (const char *const *)words);
    }
}

Test(readable, lists, .init = make_folder, .fini = remove_folder)
{
    static const char *const what[] = {"methods", "inputs", "formats"};
    for (size_t i = 0; i < 3; i++)
        expect_verb_narrow(3, (const char *const[]){"ulpscope", "list", what[i]});
}

/* A table of sums is one of sums alone. */
Test(readable, bench_heads, .init = make_folder, .fini = remove_folder)
{
    static const char *const name[] = {"sum/tiled", "norm/tiled"};
    static const char *const head[] = {"cpu, uniform: sums\n", "cpu, uniform: reductions\n"};
    struct bench_input in = {.name = "uniform", .array = {.format = FP32, .n = 1000}};
    in.device = (struct device){DEVICE_CPU, 0};
    for (size_t k = 0; k < 2; k++) {
        struct bench_report report;
        struct problem p = {0};
        const char *printed = in_folder("printed");
        cr_assert(freopen(printed, "w", stdout));
        cr_assert(bench_report_open(&report, false, NULL, &p) == STATUS_OK, "%s", p.text);
        for (size_t i = 0; i <= k; i++) {
            struct bench_row r = {.method = method_named(name[i]),
                                  .accumulator = FP32,
                                  .setting.output = FP32,
                                  .time = {2000, 1000, 3, 1, 0, 0}};
            cr_assert(bench_report_add(&report, &in, &r, &p) == STATUS_OK, "%s", p.text);
        }
        cr_expect(bench_report_close(&report, &p) == STATUS_OK, "%s", p.text);
        fflush(stdout);
        struct bytes text = get_file(printed);
        add_bytes(&text, "", 1);
        cr_expect_eq(strncmp((char *)text.data, head[k], strlen(head[k])), 0, "%s", text.data);
        clear_bytes(&text);
    }
}

/* As a GPU fills it; the notes have the lines behind the tables. */
Test(readable, bench, .init = make_folder, .fini = remove_folder)
{
    struct bench_report report;
    struct problem p = {0};
    struct bench_input in = {.name = "uniform", .array = {.format = BF16, .n = 268435455}};
    in.device = (struct device){DEVICE_CUDA, 0};
    struct bench_row row[] = {
        {.method = method_named("sum/block_atomic"), .shape = {1024, 8192}},
        {.method = method_named("scan/hillis_steele"), .setting.segment = 1000},
        {.kind = BENCH_COPY},
        {.method = method_named("scan/hillis_steele"), .setting.exclusive = true}};
    const char *printed = in_folder("printed");
    cr_assert(freopen(printed, "w", stdout));
    cr_assert(bench_report_open(&report, false, NULL, &p) == STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < 2 * sizeof row / sizeof *row; i++) {
        struct bench_row r = row[i / 2];
        r.accumulator = r.setting.output = FP32;
        r.round = 1;
        if (r.shape.threads == 0)
            r.shape.threads = 1024;
        r.time = (struct timing){123456789, 98765432, 3, 1, 0, 0};
        *(i < 2 ? &r.raw_ns : &r.copy_ns) = 5000000;
        r.vendor_ns = 4000000;
        in.in_cache = i % 2;
        in.array.n = in.in_cache ? 12345678 : 268435455;
        snprintf(r.note, sizeof r.note, "3 repeats: a run takes long");
        if (i % 2) {
            r.time.repetitions = 0;
            snprintf(r.note, sizeof r.note,
                     "skipped: a run would take about 1.2e+02 s, the limit "
                     "is 2 s");
        }
        cr_assert(bench_report_add(&report, &in, &r, &p) == STATUS_OK, "%s", p.text);
    }
    cr_expect(bench_report_close(&report, &p) == STATUS_OK, "%s", p.text);
    expect_narrow(printed, "bench");
    /* A copy is in the tables of both kinds of scan, and not among the sums. */
    struct bytes text = get_file(printed);
    add_bytes(&text, "", 1);
    size_t copies = 0;
    for (const char *at = (char *)text.data; (at = strstr(at, "\ncopy  ")); at++)
        copies++;
    cr_expect_eq(copies, 4, "%s", (char *)text.data);
    cr_expect_eq(strncmp((char *)text.data, "cuda:0, uniform: sums\n", 22), 0);
    cr_expect(strstr((char *)text.data, "\n\ncuda:0, uniform: inclusive scans\n") &&
              strstr((char *)text.data, "\n\ncuda:0, uniform: exclusive scans\n"));
    cr_expect(strstr((char *)text.data, "n = 12345678: skipped: a run would take"));
    clear_bytes(&text);
}
