/* Shared objects: loaded, described and called in a process of their own. */
#include <math.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include "experiments/subjects/foreign.h"
#include "experiments/subjects/subject.h"
#include "experiments/system/machine.h"
#include "kernels/gpu/gpu.h"
#include "tests/support/program.h"

enum { N = 1000 };

static double x[N + 64] __attribute__((aligned(64))), out[N];

static void begin(void)
{
    for (size_t i = 0; i < N; i++)
        x[i] = 1 / (1.0 + (double)i);
    foreign_server(ULPSCOPE_PROGRAM);
    foreign_timeout(20);
}

static const struct method *subject(const char *name)
{
    char full[400];
    struct problem p = {0};
    const struct method *m;
    snprintf(full, sizeof full, "%s:%s", FLAWED_OBJECT, name);
    cr_assert(subject_named(&m, "test", full, NULL, &p) == STATUS_OK, "%s", p.text);
    return m;
}

static enum status run(const struct method *m, size_t n, struct problem *p)
{
    *p = (struct problem){0};
    struct task t = {.of = &(struct operands){.in = {FP64, n, x}},
                     .out = {FP64, m->operation->outputs(n, 0), out},
                     .accumulator = FP64,
                     .method = m,
                     .device = -1};
    return m->cpu(&t, p);
}

static void expect_sum(const struct method *m, size_t n)
{
    struct problem p;
    double due = n ? x[0] : 0;
    for (size_t i = 1; i < n; i++)
        due += x[i];
    cr_expect(run(m, n, &p) == STATUS_OK, "%s, n = %zu: %s", m->name, n, p.text);
    cr_expect(out[0] == due, "%s, n = %zu: found %a, expected %a", m->name, n, out[0], due);
}

Test(object, says_what_it_is, .init = begin)
{
    const struct method *sum = subject("sum"), *scan = subject("scan"), *told = subject("told");
    cr_expect(sum == subject("sum") && sum->foreign && sum->operation == &operation_sum);
    cr_expect(sum->promise == PROMISE_GPU_TO_GPU && scan->promise == PROMISE_RUN_TO_RUN);
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (enum format a = 0; a < ACCUMULATORS; a++)
            cr_expect(format_pairs_have(&sum->pairs[DEVICE_CPU], s, a) == (s == FP64 && a == FP64));
    cr_expect(!format_pairs_any(&sum->pairs[DEVICE_CUDA]));
    cr_expect(method_supports(sum, DEVICE_CPU, FP64, FP64) &&
              !method_supports(sum, DEVICE_CPU, FP32, FP64));
    cr_expect(scan->operation == &operation_scan);
    cr_expect(told->shape_read[DEVICE_CPU] == (SHAPE_THREADS | SHAPE_BLOCKS) &&
              sum->shape_read[DEVICE_CPU] == 0);
    cr_expect_str_eq(scan->summary, "one after the other");
    for (size_t n = 0; n < N; n = 2 * n + 1)
        expect_sum(sum, n);
}

Test(object, takes_two_arrays, .init = begin)
{
    static double y[N];
    struct problem p = {0};
    const struct method *dot = subject("dot");
    cr_expect(dot->operation == &operation_dot && dot->product == PRODUCT_UNKNOWN);
    for (size_t n = 0; n < N; n = 2 * n + 1) {
        struct task t = {.of = &(struct operands){.in = {FP64, n, x}, .in2 = {FP64, n, y}},
                         .out = {FP64, 1, out},
                         .accumulator = FP64,
                         .method = dot,
                         .device = -1};
        double due = 0;
        for (size_t i = 0; i < n; i++) {
            y[i] = 1.0 / (double)(i + 3);
            due = i ? due + x[i] * y[i] : x[i] * y[i];
        }
        cr_expect(dot->cpu(&t, &p) == STATUS_OK, "n = %zu: %s", n, p.text);
        cr_expect(out[0] == due, "n = %zu: found %a, expected %a", n, out[0], due);
    }
}

Test(object, is_told_what_it_reads, .init = begin)
{
    struct problem p = {0};
    const struct method *told = subject("told");
    for (size_t place = 0; place < 8; place += 3)
        for (unsigned threads = 0; threads < 300; threads += 128) {
            struct task t = {.of = &(struct operands){.in = {FP64, 10, x + 16 + place}},
                             .out = {FP64, 1, out},
                             .accumulator = FP64,
                             .shape = {threads, 7},
                             .method = told,
                             .device = -1};
            cr_assert(told->cpu(&t, &p) == STATUS_OK, "%s", p.text);
            cr_expect(out[0] == threads + 7e4 + 1e10 * (double)place + 0.5,
                      "place %zu, threads %u: %.17g", place, threads, out[0]);
        }
}

Test(object, scans, .init = begin)
{
    struct problem p = {0};
    const struct method *scan = subject("scan");
    for (int exclusive = 0; exclusive < 2; exclusive++)
        for (enum format f = FP32; f <= FP64; f++) {
            double total = 0, before = 0;
            struct array results = {f, N, out};
            struct task t = {.of = &(struct operands){.in = {FP64, N, x}, .exclusive = exclusive},
                             .out = results,
                             .accumulator = FP64,
                             .method = scan,
                             .device = -1};
            cr_assert(scan->cpu(&t, &p) == STATUS_OK, "%s", p.text);
            for (size_t i = 0; i < N; i++) {
                before = total;
                total = i ? total + x[i] : x[0];
                cr_assert(array_get(&results, i) == format_round(f, exclusive ? before : total),
                          "%s, index %zu", format_facts[f].name, i);
            }
        }
}

static void expect_flaw(const char *name, double limit_s, const char *said)
{
    struct problem p;
    const struct method *m = subject(name);
    expect_sum(m, 10);
    foreign_timeout(limit_s);
    cr_expect(run(m, 13, &p) == STATUS_DATA && strstr(p.text, said), "%s: %s", name, p.text);
    foreign_timeout(20);
    expect_sum(m, 10);
}

Test(object, costs_no_more_than_a_run, .init = begin)
{
    expect_flaw("crash", 20, "killed by signal 6 (Aborted): found 0 of ");
    expect_flaw("hang", 1, "no answer within 1 s");
    expect_flaw("fail", 20, "fail: run returned 7, expected 0");
    expect_sum(subject("print"), 10);
    expect_flaw("leave", 20, "ended with exit status 0: found 0 of ");
    expect_flaw("silent", 20, "silent: run returned 0 without writing out[0] (1 results ");
}

/* What it may only read stays as it was, and it writes to its results alone. */
Test(object, writes_its_results_alone, .init = begin)
{
    static double y[N];
    struct problem p = {0};
    expect_flaw("into_input", 20, "into_input: run changed its input, which it may only read");
    expect_flaw("beyond", 20, "beyond: run wrote beyond the 8 bytes that are due at out");
    expect_flaw("before", 20, "before: run wrote before the 8 bytes that are due at out");
    cr_expect(run(subject("scan_beyond"), 13, &p) == STATUS_DATA &&
                  strstr(p.text, "run wrote beyond the 104 bytes that are due at out"),
              "%s", p.text);
    struct task t = {.of = &(struct operands){.in = {FP64, 13, x}, .in2 = {FP64, 13, y}},
                     .out = {FP64, 1, out},
                     .accumulator = FP64,
                     .method = subject("into_second"),
                     .device = -1};
    p = (struct problem){0};
    cr_expect(t.method->cpu(&t, &p) == STATUS_DATA &&
                  strstr(p.text, "run changed its input, which it may only read"),
              "%s", p.text);
}

/* A function that ends its process, if with status 0, fails in that run: only a program may answer
 * once and end. */
Test(object, ends_in_a_run_that_failed, .init = begin)
{
    struct problem p;
    const struct method *m = subject("leave_third");
    expect_sum(m, 10);
    expect_sum(m, 10);
    cr_expect(run(m, 10, &p) == STATUS_DATA &&
                  strstr(p.text, "ended with exit status 0: found 0 of "),
              "%s", p.text);
    expect_sum(m, 10);
}

/* A result may have the bits that were there before: a second call tells. */
Test(object, a_written_nan_is_a_result, .init = begin)
{
    struct problem p;
    const struct method *silent = subject("silent");
    for (size_t n = 14; n <= 15; n++)
        cr_expect(run(silent, n, &p) == STATUS_OK && isnan(out[0]), "%zu: %a, %s", n, out[0],
                  p.text);
}

/* Each element of a scan is to be written. */
Test(object, scans_are_written_whole, .init = begin)
{
    struct problem p;
    const struct method *scan = subject("scan_short");
    cr_expect(run(scan, 7, &p) == STATUS_OK, "%s", p.text);
    cr_expect(run(scan, 13, &p) == STATUS_DATA &&
                  strstr(p.text, "without writing out[12] (13 results are due)"),
              "%s", p.text);
}

static void expect_refused(const char *name, enum status due, const char *said)
{
    struct problem p = {0};
    const struct method *m;
    enum status status = subject_named(&m, "option --method", name, NULL, &p);
    cr_expect(status == due, "%s: status %d, expected %d", name, (int)status, (int)due);
    cr_expect(strncmp(p.text, "option --method: ", 17) == 0 && strstr(p.text, said),
              "%s: found '%s', expected '%s'", name, p.text, said);
}

/* An object that was built against version 1 of the header. */
Test(object, of_version_1_is_read, .init = begin)
{
    struct problem p = {0};
    const struct method *m;
    cr_assert(subject_named(&m, "test", OBJECT_1 ":second", NULL, &p) == STATUS_OK, "%s", p.text);
    cr_expect(m->operation == &operation_scan && m->promise == PROMISE_ORDER_INVARIANT);
    cr_expect_str_eq(m->summary, "as it was");
    cr_expect(m->shape_read[DEVICE_CPU] == SHAPE_BLOCKS);
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (enum format a = 0; a < ACCUMULATORS; a++)
            cr_expect(format_pairs_have(&m->pairs[DEVICE_CPU], s, a) ==
                          ((s == BF16 && a == FP32) || (s == FP64 && a == FP64)),
                      "%s/%s", format_facts[s].name, format_facts[a].name);
    cr_expect(run(m, 3, &p) == STATUS_OK && out[2] == 7, "%s %a", p.text, out[2]);
    expect_refused(OBJECT_1 ":none", STATUS_USAGE, "expected one of " OBJECT_1 ":first, ");
}

Test(object, refusals_are_plain, .init = begin)
{
    expect_refused(FLAWED_OBJECT ":none", STATUS_USAGE, "expected one of " FLAWED_OBJECT ":sum, ");
    expect_refused(FLAWED_OBJECT, STATUS_USAGE, "expected one of " FLAWED_OBJECT ":sum, ");
    expect_refused(FLAWED_OBJECT ":scn", STATUS_USAGE,
                   ":scn', did you mean " FLAWED_OBJECT ":scan?");
    expect_refused(FLAWED_OBJECT ":twice", STATUS_DATA,
                   "in ulpscope_subjects has the name of one before it, twice");
    expect_refused(LEAVING_OBJECT ":sum", STATUS_DATA,
                   "its process ended while it was loaded, with exit status 0: expected a ");
    expect_refused(FLAWED_OBJECT ":empty", STATUS_DATA, "no summary, no run");
    expect_refused(FLAWED_VERSION ":sum", STATUS_DATA,
                   "found version 99 of ulpscope_subject.h, expected 1..2");
    expect_refused(FLAWED_SYMBOL ":sum", STATUS_DATA, "found no symbol ulpscope_subjects");
    expect_refused(EMPTY_OBJECT ":sum", STATUS_DATA,
                   "found no array of 3 subjects in ulpscope_subjects");
    expect_refused(NAMELESS_OBJECT ":first", STATUS_DATA,
                   "entry 1 of 2 in ulpscope_subjects has no name");
    expect_refused(FLAWED_OBJECT ":garbled", STATUS_DATA,
                   "found the summary 'na\\xefve', expected one line of UTF-8 text");
    expect_refused(FLAWED_OBJECT ":two_lines", STATUS_DATA,
                   "found the summary 'one\\x0atwo', expected one line of UTF-8 text");
    expect_refused("none.so:sum", STATUS_DATA, "./none.so: could not be loaded: ");
    if (!gpu_build())
        expect_refused(FLAWED_OBJECT ":cuda", STATUS_DEVICE, "built without CUDA");
    expect_refused("exec: ", STATUS_USAGE, "expected exec:COMMAND");
    expect_refused("exec:a\nb", STATUS_USAGE, "with a control character");
    expect_refused("exec:a\xff", STATUS_USAGE, "which is not UTF-8");
    expect_refused("sum/none", STATUS_USAGE, "or exec:COMMAND, python:FUNCTION, or PATH.so:NAME");
}

Test(object, time_is_that_of_the_call, .init = begin)
{
    struct problem p = {0};
    uint64_t time_ns = 0;
    const struct method *m = subject("sum");
    cr_expect(foreign_times(m) && !foreign_time(m, &time_ns), "nothing was run");
    expect_sum(m, N);
    cr_expect(foreign_time(m, &time_ns) && time_ns > 100 && time_ns < 10000000000u, "%d ns",
              (int)time_ns);
    cr_assert(subject_named(&m, "test", "exec:cat", NULL, &p) == STATUS_OK);
    cr_expect(!foreign_times(m) && !foreign_time(m, &time_ns));
    cr_expect(!foreign_times(method_named("sum/tiled")));
}

/* bench adds up what each of the runs took: no processor reads 8 MB in a microsecond. */
Test(object, bench_times_each_run, .init = make_folder, .fini = remove_folder)
{
    double time_us = 0;
    cr_expect_eq(run_program("bench", "--method " FLAWED_OBJECT ":sum --n 2^20 --storage fp64 "
                                      "--accumulator fp64 --device cpu --out bench.csv"),
                 0);
    char *text = content("bench.csv"), *row = strstr(text, ":sum,");
    cr_assert(row, "%s", text);
    cr_expect(sscanf(row, ":sum,fp64,fp64,uniform,1048576,,,%lf", &time_us) == 1 && time_us > 1,
              "%g us: %s", time_us, row);
    free(text);
}

/* Beside the raw read with as many threads as it is told to run on. */
Test(object, bench_reads_with_its_threads, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(run_program("bench", "--method " FLAWED_OBJECT ":shares --n 2^16 --storage fp64 "
                                      "--accumulator fp64 --device cpu --threads 0,3 --out b.csv"),
                 0);
    char *text = content("b.csv"), line[80];
    cr_expect(strstr(text, "raw read,fp64,,uniform,65536,3,,"), "%s", text);
    snprintf(line, sizeof line, "raw read,fp64,,uniform,65536,%u,,", machine_processors());
    cr_expect(strstr(text, line), "%s", text);
    free(text);
}

/* A shared object says itself what it computes: --operation is for functions of Python. */
Test(object, operation_is_not_ignored, .init = make_folder, .fini = remove_folder)
{
    static const char *const none[][2] = {
        {"run", "accuracy --method " FLAWED_OBJECT ":sum,exec:cat --operation sum --out none"},
        {"run", "trial --method " FLAWED_OBJECT ":sum --operation dot --out none"},
        {"run", "accuracy --operation sum --out none"},
        {"bench", "--method " FLAWED_OBJECT ":sum --operation dot"}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        cr_expect(run_program(none[i][0], none[i][1]) == 2, "%s", none[i][1]);
        expect_said("err", ", which says what python: functions compute, and none with --method: "
                           "expected no --operation\n");
    }
    cr_expect(run_program("serve", FLAWED_OBJECT ":sum --operation dot </dev/null") == 2);
    expect_said("err", ":sum, of operation sum, with --operation dot, which is for exec: and "
                       "python: subjects: expected no --operation\n");
    cr_expect(run_program("serve", FLAWED_OBJECT ":sum --operation sum </dev/null") == 0);
    cr_expect(run_program("serve", "exec:cat --operation dot --describe </dev/null") == 0);
    expect_said("out", "\"operation\": \"dot\"");
}
