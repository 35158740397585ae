/* Rounds of a benchmark on a GPU that is played: what is compared is timed in turn, and where not
 * all fit in its memory together, in several rounds with the same yardsticks. */
#include <math.h>

#include "experiments/bench/subject.h"
#include "tests/support/bench.h"
#include "tests/support/played_gpu.h"

enum { N = 1000 };

static struct bench_input start_long(size_t n, size_t memory, size_t output_bytes)
{
    played_gpu.n = n;
    played_gpu.memory = played_gpu.left = memory;
    played_gpu.output_bytes = output_bytes;
    return open_input((struct device){DEVICE_CUDA, 0}, FP16, n);
}

static struct bench_input start(size_t memory, size_t output_bytes)
{
    return start_long(N, memory, output_bytes);
}

static void finish(struct bench_input *in)
{
    cr_expect(played_gpu.jobs == 0 && played_gpu.left == played_gpu.memory,
              "%zu jobs, %zu bytes remain", played_gpu.jobs, played_gpu.memory - played_gpu.left);
    bench_input_close(in);
}

static struct bench_row row_of(const char *method, enum format output, bool exclusive)
{
    return (struct bench_row){.method = method_named(method),
                              .accumulator = FP32,
                              .setting.output = output,
                              .setting.exclusive = exclusive};
}

static double taken_ns(size_t i)
{
    return taken.row[i].time.median_ns;
}

/* Yardsticks, the vendor's routines, sums and scans: after warm-up, turn by turn. */
Test(bench_round, all_take_their_turns)
{
    struct bench_input in = start(1 << 20, 1000);
    const struct bench_row planned[] = {
        row_of("cub/sum", FP32, false), row_of("sum/tiled", FP32, false),
        row_of("cub/scan", FP16, true), row_of("scan/tiled", FP16, true),
        row_of("scan/serial", FP16, true)};
    measure_rows(&in, planned, 5);
    unsigned char cycle[8] = {'r',
                              letter_of(planned[0].method),
                              letter_of(planned[1].method),
                              'c',
                              letter_of(planned[2].method),
                              letter_of(planned[3].method),
                              letter_of(planned[4].method)};
    /* Once to begin with, once to warm up. */
    cr_expect_eq(played_gpu.turns, 7 * (2 + TIMING_REPEATS), "%zu turns: %s", played_gpu.turns,
                 played_gpu.log);
    for (size_t i = 0; i < played_gpu.turns; i += 7)
        cr_expect(memcmp(played_gpu.log + i, cycle, 7) == 0, "%s: turns %zu ...: %.7s", cycle, i,
                  played_gpu.log + i);
    cr_expect(taken.count == 7 && taken.rounds == 1);
    for (size_t i = 0; i < taken.count; i++) {
        const struct bench_row *row = &taken.row[i];
        bool scan = i > 3, vendor = i == 1 || i == 4;
        cr_expect(row->round == 1 && row->time.repetitions == TIMING_REPEATS);
        if (!row->method) {
            cr_expect(!row->memory.known);
            continue;
        }
        cr_expect(row->memory.known && row->memory.value == 3 * letter_of(row->method), "row %zu",
                  i);
        cr_expect(row->raw_ns == (scan ? 0 : 50) && row->copy_ns == (scan ? 80 : 0), "row %zu", i);
        cr_expect(row->vendor_ns == (vendor ? 0 : taken_ns(scan ? 4 : 1)), "row %zu: %g", i,
                  row->vendor_ns);
    }
    /* 2 bytes in and 2 out: the copy's. */
    cr_expect(fabs(bench_of_copy(&in, &taken.row[5]) * taken_ns(5) / 80 - 1) < 1e-14);
    finish(&in);
}

/* A vendor's routine is held against what does the same work alone. */
Test(bench_round, vendor_of_the_same_work)
{
    struct bench_input in = start(1 << 20, 0);
    struct bench_row planned[] = {
        row_of("cub/scan", FP16, false),   row_of("scan/tiled", FP16, false),
        row_of("scan/tiled", FP32, false), row_of("scan/tiled", FP16, true),
        row_of("scan/tiled", FP16, false), row_of("scan/segmented", FP16, false),
        row_of("sum/tiled", FP16, false)};
    planned[4].accumulator = FP64;
    planned[5].setting.segment = 10;
    measure_rows(&in, planned, 7);
    for (size_t i = 0, k = 0; i < taken.count; i++)
        if (taken.row[i].method) {
            double expected = k == 1 ? run_ns_of(planned[0].method) : 0;
            cr_expect(taken.row[i].vendor_ns == expected, "planned row %zu: %g", k,
                      taken.row[i].vendor_ns);
            k++;
        }
    finish(&in);
}

/* Products that are formed in one way alone are compared; what is not known may be the same. */
Test(bench_round, vendor_of_the_same_products)
{
    enum { KINDS = 3 };
    static const enum product_kind kind[KINDS] = {PRODUCT_ROUNDED, PRODUCT_FUSED, PRODUCT_UNKNOWN};
    for (size_t v = 0; v < KINDS; v++) {
        struct bench_input in = start(1 << 20, 0);
        struct bench_row planned[1 + KINDS];
        for (size_t k = 0; k <= KINDS; k++) {
            planned[k] = row_of(k ? "dot/tiled" : "cublas/dot_product", FP32, false);
            planned[k].setting.product = kind[k ? k - 1 : v];
        }
        measure_rows(&in, planned, 1 + KINDS);
        for (size_t i = 0, k = 0; i < taken.count; i++) {
            const struct bench_row *row = &taken.row[i];
            if (!row->method || k++ == 0)
                continue;
            enum product_kind own = kind[k - 2];
            bool same = own == kind[v] || own == PRODUCT_UNKNOWN || kind[v] == PRODUCT_UNKNOWN;
            cr_expect((row->vendor_ns > 0) == same, "%d against %d: %g", (int)own, (int)kind[v],
                      row->vendor_ns);
        }
        finish(&in);
    }
}

/* Room for the outputs of three and a copy, though not for all: every planned row is measured, in
 * rounds that each have the yardstick and the vendor's routine. */
Test(bench_round, rounds_fit_in_memory)
{
    static const char *const name[] = {"cub/scan",      "scan/serial",       "scan/hillis_steele",
                                       "scan/blelloch", "scan/three_kernel", "scan/lookback",
                                       "scan/tiled"};
    enum { ROWS = sizeof name / sizeof *name };
    struct bench_input in = start(20000, 5000);
    struct bench_row planned[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        planned[i] = row_of(name[i], FP16, false);
    measure_rows(&in, planned, ROWS);
    size_t seen[ROWS] = {0};
    for (size_t i = 0; i < taken.count; i++) {
        const struct bench_row *row = &taken.row[i];
        cr_expect_eq(row->round, 1 + i / 4, "row %zu: round %zu", i, row->round);
        cr_expect(row->time.repetitions == TIMING_REPEATS && row->status == STATUS_OK, "%s: %s",
                  bench_name(row), row->note);
        for (size_t k = 0; k < ROWS; k++)
            seen[k] += row->method == planned[k].method;
        if (!row->method)
            continue;
        cr_expect(row->copy_ns == 80, "%s has no yardstick in round %zu", bench_name(row),
                  row->round);
        cr_expect(row->vendor_ns ==
                      (row->method == planned[0].method ? 0 : run_ns_of(planned[0].method)),
                  "%s has no vendor in round %zu", bench_name(row), row->round);
    }
    /* cub/scan and two more, three times. */
    cr_expect(taken.rounds == 3 && played_gpu.most_jobs == 4, "%zu rounds, %zu jobs at once",
              taken.rounds, played_gpu.most_jobs);
    for (size_t k = 0; k < ROWS; k++)
        cr_expect(seen[k] == (k == 0 ? 3 : 1), "%s: %zu rows", name[k], seen[k]);
    finish(&in);
}

/* Room for one copy more, though not for two: the second row waits for the next round. */
Test(bench_round, a_round_leaves_room_for_two_copies)
{
    const struct bench_row planned[] = {row_of("scan/serial", FP16, false),
                                        row_of("scan/tiled", FP16, false)};
    for (size_t copies = 1; copies <= 2; copies++) {
        struct bench_input in = start(2 * 5000 + copies * 2 * N, 5000);
        measure_rows(&in, planned, 2);
        cr_expect(taken.rounds == 3 - copies, "room for %zu: %zu rounds", copies, taken.rounds);
        finish(&in);
    }
}

/* One short run on the sample is enough to let a method run, whenever it comes. */
Test(bench_round, the_shortest_run_foretells)
{
    enum { LONG = 1 << 20 };
    const struct bench_row planned[] = {row_of("sum/tiled", FP32, false)};
    struct bench_input in = start_long(LONG, (size_t)1 << 30, 0);
    cr_assert(in.sample.n < LONG);
    played_gpu.sample_ns = 1e8;
    measure_rows(&in, planned, 1);
    cr_expect(taken_method()->time.repetitions > 0, "%s", taken_method()->note);
    finish(&in);
}

/* The clock is played: from one look to the next it is as many ns later. 0: it is the real one. */
static uint64_t clock_step;
uint64_t __real_clock_ns(void);
uint64_t __wrap_clock_ns(void);
uint64_t __wrap_clock_ns(void)
{
    static uint64_t now;
    return clock_step ? now += clock_step : __real_clock_ns();
}

/* On a CPU, which looks at the clock before the runs and behind them. */
Test(bench_round, a_run_takes_its_share_of_all)
{
    struct bench_subject s;
    struct problem p = {0};
    struct bench_input in = open_input((struct device){DEVICE_CPU, 0}, FP32, N);
    const struct bench_row row = row_of("sum/serial", FP32, false);
    double time_ns;
    cr_assert(bench_subject_open(&s, &in, &row, false, &p) == STATUS_OK, "%s", p.text);
    clock_step = 800;
    cr_assert(bench_subject_run(&s, 8, &time_ns, &p) == STATUS_OK, "%s", p.text);
    clock_step = 0;
    cr_expect(time_ns == 100, "%g", time_ns);
    bench_subject_close(&s);
    bench_input_close(&in);
}

/* A sample has rows as many as there are elements in one; all of the input has those planned. */
Test(bench_round, a_sample_has_rows_of_its_own)
{
    enum { LONG = 1 << 18 };
    static const struct layout layout = {LAYOUT_ROW, 0, "row"};
    struct problem p = {0};
    struct bench_input in = open_input((struct device){DEVICE_CPU, 0}, FP32, LONG);
    struct bench_row row = row_of("rows/tiled", FP32, false);
    row.setting.bins = 128;
    row.setting.layout = &layout;
    row.shape.threads = 1;
    cr_assert(in.sample.n == LONG / 64);
    for (size_t sample = 0; sample < 2; sample++) {
        struct bench_subject s;
        cr_assert(bench_subject_open(&s, &in, &row, sample, &p) == STATUS_OK, "%s", p.text);
        cr_expect(s.of.bins == (sample ? 64 : 128), "%zu rows", s.of.bins);
        bench_subject_close(&s);
    }
    bench_input_close(&in);
}

/* A method for which no round has room, and one that breaks in its repetitions. */
Test(bench_round, failures_are_rows)
{
    struct bench_input in = start(20000, 30000);
    const struct bench_row planned[] = {row_of("scan/serial", FP16, false),
                                        row_of("scan/tiled", FP16, false)};
    measure_rows(&in, planned, 2);
    cr_assert(taken.count == 4 && taken.rounds == 2, "%zu rows, %zu rounds", taken.count,
              taken.rounds);
    for (size_t i = 0; i < 4; i++)
        cr_expect(i % 2 == 0 ? taken.row[i].time.repetitions == TIMING_REPEATS
                             : taken.row[i].status == STATUS_MEMORY &&
                                   strcmp(taken.row[i].note, "failed: out of memory") == 0,
                  "row %zu: %s", i, taken.row[i].note);
    played_gpu.output_bytes = 10;
    played_gpu.broken = letter_of(planned[0].method);
    /* In which call depends on how many its warm-up has; the fourth is one of those. */
    played_gpu.broken_calls = 3;
    measure_rows(&in, planned, 2);
    cr_assert(taken.count == 3 && taken.rounds == 1);
    cr_expect(taken.row[1].status == STATUS_DEVICE && taken.row[1].time.repetitions == 0 &&
                  strcmp(taken.row[1].note, "failed: broken") == 0,
              "%s", taken.row[1].note);
    cr_expect(taken.row[2].time.repetitions == TIMING_REPEATS && taken.row[2].copy_ns == 80);
    finish(&in);
}

/* Results that differ are seen where the method promises that they do not. */
Test(bench_round, results_are_compared)
{
    struct bench_input in = start(100000, 0);
    const struct bench_row planned[] = {row_of("sum/serial", FP32, false),
                                        row_of("sum/tiled", FP32, false),
                                        row_of("sum/atomic", FP32, false)};
    played_gpu.fickle = letter_of(planned[1].method);
    measure_rows(&in, planned, 3);
    for (size_t i = 0; i < taken.count; i++) {
        const struct bench_row *row = &taken.row[i];
        bool fickle = row->method == planned[1].method;
        bool held = row->method && row->method != planned[2].method;
        cr_expect((row->looks >= TIMING_REPEATS) == held, "%s: %zu", bench_name(row), row->looks);
        cr_expect(row->differing == (fickle ? row->looks - 1 : 0));
        cr_expect((strstr(row->note, "breaks run_to_run: ") != NULL) == fickle, "%s", row->note);
    }
    played_gpu.fickle = letter_of(planned[2].method); /* promises nothing */
    measure_rows(&in, planned, 3);
    for (size_t i = 0; i < taken.count; i++)
        cr_expect(taken.row[i].differing == 0 && taken.row[i].note[0] == 0);
    finish(&in);
}

/* Stopped while it opens subjects, warms up or repeats: nothing is told of the round, everything is
 * given back. */
Test(bench_round, stopped_at_any_turn)
{
    const struct bench_row planned[] = {row_of("sum/serial", FP32, false),
                                        row_of("sum/tiled", FP32, false)};
    const struct bench_listener listener = {.take = take_row, .stop = &played_stop};
    for (played_gpu.stop_at = 1; played_gpu.stop_at < 3 * (2 + TIMING_REPEATS);
         played_gpu.stop_at++) {
        struct problem p = {0};
        size_t round = 0;
        struct bench_input in = start(1 << 20, 100);
        played_gpu.turns = taken.count = 0;
        enum status status = bench_measure(&in, planned, 2, TIMING_REPEATS, &round, &listener, &p);
        cr_expect(status == STATUS_INTERRUPTED && taken.count == 0, "turn %zu: status %d, %zu rows",
                  played_gpu.stop_at, (int)status, taken.count);
        cr_expect(played_gpu.turns <= played_gpu.stop_at + 3, "turn %zu: %zu turns",
                  played_gpu.stop_at, played_gpu.turns);
        finish(&in);
        played_stop = 0;
    }
}
