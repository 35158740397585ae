/* bench: rows are measured in turn beside their yardsticks; what is not measured says why. */
#include <time.h>

#include "experiments/system/clock.h"
#include "experiments/system/machine.h"
#include "tests/support/bench.h"

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
        planned[count] = (struct bench_row){.method = m,
                                            .accumulator = FP32,
                                            .setting.output = FP32,
                                            .setting.product = m->product};
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

/* A shared object that reads threads runs on as many as it is told, or on as many as it likes. */
Test(bench, subjects_that_read_threads_are_held_to_as_many)
{
    struct method m = *method_named("sum/tiled");
    m.foreign = true;
    m.resolve = NULL;
    m.shape_read[DEVICE_CPU] = SHAPE_THREADS | SHAPE_BLOCKS;
    cr_expect(bench_threads(&m, (struct shape){3, 0}) == 3);
    cr_expect(bench_threads(&m, (struct shape){0, 7}) == machine_processors());
    m.shape_read[DEVICE_CPU] = SHAPE_BLOCKS;
    cr_expect(bench_threads(&m, (struct shape){0, 7}) == 1);
}

static enum status slow(const struct task *t, struct problem *p)
{
    (void)p;
    uint64_t begin = clock_ns();
    while (clock_ns() - begin < 40000 * t->of->in.n / 1000)
        ;
    return STATUS_OK;
}

/* 40 us for 1000 elements: 2.7 s for 2^26, less than 3 ms for the sample. */
Test(bench, a_method_that_takes_too_long_is_skipped)
{
    struct bench_input in = open_input(cpu, FP16, 1 << 20);
    struct method m = *method_named("sum/serial");
    struct bench_row row = {.method = &m, .accumulator = FP32, .setting.output = FP32};
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
    struct operands of = *t->of;
    struct task longer = *t;
    longer.of = &of;
    of.in.n *= delayed.calls++ < delayed.late ? 100 : 1;
    return slow(&longer, p);
}

/* 41 us for the sample, and 4 ms while the machine is busy: 42 ms, not 4 s. It is not skipped after
 * a few late runs, and is where there are no others. */
Test(bench, a_method_is_not_skipped_for_late_runs)
{
    struct bench_input in = open_input(cpu, FP16, 1 << 20);
    struct method m = *method_named("sum/serial");
    struct bench_row row = {.method = &m, .accumulator = FP32, .setting.output = FP32};
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
    struct shape due = method_shape(m, DEVICE_CPU, t->of->in.n, (struct shape){8, 0});
    shaped.calls++;
    shaped.n[t->of->in.n == 1 << 16] += t->shape.threads != due.threads;
    return STATUS_OK;
}

/* 32 tiles have 8 threads, the one of the sample has one. */
Test(bench, a_sample_has_a_shape_of_its_own)
{
    struct bench_input in = open_input(cpu, FP32, 1 << 16);
    struct method m = *method_named("norm/exact");
    struct bench_row row = {.method = &m, .accumulator = FP32, .setting.output = FP32};
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
    cr_assert(t->out.format == asked.output && t->out.n == t->of->in.n && t->out.data);
    memset(t->out.data, 1, array_bytes(t->out.format, t->out.n)); /* there is room for it all */
    cr_assert(t->accumulator == FP32 && t->of->exclusive == asked.exclusive);
    cr_assert((t->of->heads != NULL) == (asked.segment > 0));
    for (size_t i = 0; t->of->heads && i < t->of->in.n; i++)
        cr_assert(t->of->heads[i] == (i % asked.segment == 0), "head %zu", i);
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
                                        .setting.output = wide ? FP32 : BF16,
                                        .setting.exclusive = exclusive,
                                        .setting.segment = segment};
                asked.output = row.setting.output;
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

static enum status sleeps(const struct task *t, struct problem *p)
{
    (void)t, (void)p;
    nanosleep(&(struct timespec){0, 250000000}, NULL);
    return STATUS_OK;
}

static enum status begins_late(const struct task *t, struct problem *p)
{
    (void)t, (void)p;
    nanosleep(&(struct timespec){0, 3000000}, NULL);
    return STATUS_OK;
}

/* 3 ms, on the sample as on all of it: not 3 s. */
Test(bench, what_is_late_to_begin_is_timed)
{
    struct bench_input in = open_input(cpu, FP16, 1 << 20);
    struct method m = *method_named("sum/serial");
    struct bench_row row = {.method = &m, .accumulator = FP32, .setting.output = FP32};
    m.cpu = begins_late;
    in.sample.n = in.array.n / 1024;
    measure_rows(&in, &row, 1);
    cr_expect(taken_method()->time.repetitions > 0, "%s", taken_method()->note);
    bench_input_close(&in);
}

/* What takes so long that it is repeated less says that and what it was told. */
Test(bench, long_runs_are_told_apart)
{
    static const struct layout four = {LAYOUT_BATCH, 4, "batch:4"};
    struct bench_input in = open_input(cpu, FP32, 1000);
    struct method m = *method_named("rows/serial");
    struct bench_row row = {.method = &m,
                            .accumulator = FP32,
                            .setting.output = FP32,
                            .setting.layout = &four,
                            .setting.bins = 40};
    row.shape = method_shape(&m, DEVICE_CPU, 1000, (struct shape){1, 0});
    m.cpu = sleeps;
    measure_rows(&in, &row, 1);
    const char *note = taken_method()->note;
    cr_expect(strncmp(note, "40 rows, batch:4, ", 18) == 0 &&
                  strstr(note, " repeats: a run takes long"),
              "%s", note);
    bench_input_close(&in);
}
