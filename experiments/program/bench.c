/* ulpscope bench: throughput of methods beside the raw read, a copy and the vendor's routine. */
#include <stdio.h>
#include <unistd.h>

#include "experiments/cases/axes.h"
#include "experiments/bench/plan.h"
#include "experiments/bench/report.h"
#include "experiments/system/clock.h"
#include "experiments/cases/experiment.h"
#include "experiments/subjects/interrupt.h"
#include "experiments/cases/again.h"
#include "experiments/program/verbs.h"

#define FORMAT_DEFAULTS "fp32/fp32,fp64/fp64,fp16/fp32,bf16/fp32"

static const struct experiment defaults = {
    .name = "bench",
    .every = true,
    .output = "storage",
    .keys = "uniform",
    .axes = {[DEVICE_CPU] = {.formats = FORMAT_DEFAULTS, .input = "uniform", .n = "2^26"},
             [DEVICE_CUDA] = {.formats = FORMAT_DEFAULTS, .input = "uniform", .n = "2^28"}},
};

struct bench {
    struct axes axes;
    size_t repeats, round;
    struct bench_report report;
    size_t rows;           /* told */
    struct problem failed; /* the first row that failed */
    struct problem broken; /* the first that breaks its promise */
    struct bench_input input;
    const volatile sig_atomic_t *stop;
    bool terminal;
    uint64_t shown_ns;
};

static void show_progress(void *context, const struct bench_row *row)
{
    struct bench *b = context;
    char device[DEVICE_TEXT];
    if (!b->terminal || clock_ns() - b->shown_ns < 100000000)
        return;
    b->shown_ns = clock_ns();
    device_name(b->input.device, device);
    fprintf(stderr, "\r\033[Kbench: %s, %s %s, n = %zu: %s", device, b->input.name,
            format_facts[b->input.array.format].name, b->input.array.n, bench_name(row));
}

/* A row that failed says so, and the next one follows. */
static enum status take_row(void *context, const struct bench_row *row, struct problem *p)
{
    struct bench *b = context;
    b->rows++;
    if (row->status != STATUS_OK)
        problem(&b->failed, row->status, "bench: %s: %s", bench_name(row), row->note);
    if (row->differing > 0 && b->broken.status == STATUS_OK)
        problem(&b->broken, STATUS_FAILED,
                "bench: %s breaks what it promises, run_to_run: %zu of %zu results differ; "
                "`check %s` looks for a small counterexample",
                bench_name(row), row->differing, row->looks, bench_name(row));
    return bench_report_add(&b->report, &b->input, row, p);
}

/* What is timed on one input in one storage format. */
struct timed {
    struct device device;
    const struct input *input;
    enum format storage;
    size_t n;
};

/* Generated and uploaded once, with the keys that the rows read. */
static enum status bench_input(struct bench *b, const struct timed *t, const struct bench_row *row,
                               size_t rows, struct problem *p)
{
    const struct bench_listener listener = {
        .take = take_row, .show = show_progress, .context = b, .stop = b->stop};
    uint64_t seed = b->axes.seed.item[0];
    enum status status =
        bench_input_open(&b->input, t->device, t->input, seed, t->storage, t->n, p);
    b->input.keys = row->setting.keys;
    b->input.bins = row->setting.keys ? row->setting.bins : 0;
    if (status == STATUS_OK)
        status = bench_measure(&b->input, row, rows, b->repeats, &b->round, &listener, p);
    bench_input_close(&b->input);
    return status;
}

static enum status bench_storage(struct bench *b, const struct timed *t, struct problem *p)
{
    struct bench_plan plan;
    enum status status = bench_plan(&plan, &b->axes, t->device.kind, t->storage, t->n, p);
    for (size_t i = 0, end; i < plan.count && status == STATUS_OK; i = end) {
        for (end = i; end < plan.count; end++)
            if (!setting_same_keys(&plan.row[i].setting, &plan.row[end].setting))
                break;
        status = bench_input(b, t, plan.row + i, end - i, p);
    }
    bench_plan_free(&plan);
    return status;
}

static enum status bench_device(struct bench *b, struct device device, struct problem *p)
{
    const struct axes *axes = &b->axes;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < axes->inputs; i++)
        for (size_t k = 0; k < axes->n.count; k++) {
            bool done[FORMATS] = {0};
            for (size_t q = 0; q < axes->pairs.count && status == STATUS_OK; q++) {
                enum format storage = axes->pairs.item[q].storage;
                if (!done[storage])
                    status = bench_storage(b,
                                           &(struct timed){.device = device,
                                                           .input = &axes->input[i],
                                                           .storage = storage,
                                                           .n = axes->n.item[k]},
                                           p);
                done[storage] = true;
            }
        }
    return status;
}

static enum status check_axes(const struct axes *axes, struct problem *p)
{
    if (axes->seed.count > 1)
        return problem(p, STATUS_USAGE, "bench: option --seed: found %zu seeds, expected one",
                       axes->seed.count);
    for (size_t i = 0; i < axes->n.count; i++)
        if (axes->n.item[i] == 0)
            return problem(p, STATUS_USAGE, "bench: option --n: found 0, expected 1 or more");
    return STATUS_OK;
}

static enum status measure_all(struct bench *b, const struct arguments *a, struct problem *p)
{
    enum status status =
        bench_report_open(&b->report, argument_flag(a, "json"), argument_value(a, "out"), p);
    struct problem why = {0};
    b->terminal = isatty(STDERR_FILENO);
    b->stop = interrupt_catch();
    for (size_t i = 0; i < b->axes.devices && status == STATUS_OK; i++)
        status = bench_device(b, b->axes.device[i], &why);
    if (status == STATUS_INTERRUPTED)
        problem(p, status, "bench: interrupted: %zu rows were timed", b->rows);
    else if (status != STATUS_OK)
        problem(p, status, "%s", why.text);
    if (b->terminal)
        fprintf(stderr, "\r\033[K");
    enum status closed = bench_report_close(&b->report, p);
    status = status == STATUS_OK ? closed : status;
    if (status == STATUS_OK && b->failed.status != STATUS_OK)
        status = problem(p, b->failed.status, "%s", b->failed.text);
    if ((status == STATUS_OK || status == b->failed.status) && b->broken.status != STATUS_OK)
        status = problem(p, STATUS_FAILED, "%s", b->broken.text);
    return status;
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct bench b = {0};
    struct request request;
    uint64_t repeats = TIMING_REPEATS;
    enum status status = request_arguments(&request, a, p);
    if (status == STATUS_OK)
        status = request_operation(&request, a, p);
    if (status == STATUS_OK)
        status = argument_number(a, "repeats", TIMING_REPEATS, TIMING_REPEATS, 100000, &repeats, p);
    if (status == STATUS_OK)
        status = axes_resolve(&b.axes, &defaults, &request, p);
    if (status == STATUS_OK)
        status = check_axes(&b.axes, p);
    b.repeats = repeats;
    if (status == STATUS_OK)
        status = measure_all(&b, a, p);
    if (status == STATUS_OK && !argument_flag(a, "json"))
        again_print(a, b.axes.device, b.axes.devices);
    axes_free(&b.axes);
    request_free(&request);
    return status;
}

const struct verb verb_bench = {
    .name = "bench",
    .operands = "",
    .summary = "throughput of methods beside the raw read, a copy and the vendor's routine",
    .details =
        "A figure is a ratio taken in one run; 1 is the speed of memory.\n"
        "\n"
        "  of_raw           the rate over that of a loop or kernel that only reads the same bytes, "
        "once,\n"
        "                   even if the method reads them twice (norm/scaled, variance/two_pass)\n"
        "  of_copy          for scans, scatter-adds, transpositions and compactions, which also "
        "write:\n"
        "                   bytes read (keys and masks too) and written per second, over those of "
        "a copy\n"
        "                   of the input (on the CPU memcpy)\n"
        "  of_vendor        the rate over that of NVIDIA's CUB (dot products, norms and products "
        "of\n"
        "                   matrices: cuBLAS), asked for the same formats and outputs\n"
        "  elements_per_ns  for scatter-adds: elements over the time\n"
        "\n"
        "On the CPU raw read and copy use as many threads as the method. Beside a shared object "
        "that\n"
        "reads threads these are as many as it is told, by default one a processor; beside other\n"
        "foreign subjects it is one thread.\n"
        "\n"
        "Methods take turns, repetition by repetition, so that clock drift and other load affect "
        "all "
        "alike: all methods on one input, as far as a GPU's memory holds them (`round` in the CSV "
        "file: "
        "what was timed together). Times are medians of at least 15 repetitions after warm-up, "
        "device time "
        "on a GPU; a short run is repeated back to back for about a millisecond (`runs`). If a run "
        "takes "
        "long there are fewer repetitions, and a method that would take more than 2 s a run is "
        "skipped; "
        "both are reported.\n"
        "\n"
        "`95%` is how far the ends of the median's 95% interval lie from it, if repetitions are "
        "i.i.d.: an "
        "order statistic (time_us_low, time_us_high in the CSV file). Two methods whose intervals "
        "overlap "
        "cannot be told apart, and a line says so.\n"
        "\n"
        "Results of methods that promise run_to_run or more are compared too, outside the timed "
        "part: if they differ, the row has a `!`, a line below the table says so, and the exit "
        "status is 1. Arrays computed on a GPU are left to `check`. Whether a result is right is "
        "not tried here: `check` and `run` hold it to the exact one.\n"
        "\n"
        "Default: every method, 2^28 elements on a GPU, 2^26 on the CPU, uniform input. Scans are "
        "inclusive, and round their outputs to the storage format. Rows are summed in both "
        "layouts, of a "
        "nearly square matrix; compactions keep half of the elements; scatter-adds have 1000 bins "
        "and "
        "uniform keys.",
    .examples =
        "  ulpscope bench --device cpu --n 2^20 --method sum/tiled,sum/serial\n"
        "  ulpscope bench --device cpu --method sum/tiled --storage fp32 --accumulator fp32 "
        "--n 2^22 --threads 1,2\n"
        "  ulpscope bench --method sum/tiled --n 2^10..2^20 --json\n"
        "  ulpscope bench --method scan/tiled,cub/scan --n 2^20 --scan inclusive,exclusive "
        "--output accumulator\n"
        "  ulpscope bench --method scatter/ordered,scatter/atomic --n 2^26 --keys uniform,one "
        "--bins 1000,1000000\n"
        "  ulpscope bench --n 2^22 --storage bf16 --accumulator fp32 --out bench.csv\n"
        "  ulpscope bench --method cublas/matrix_product_16,gemm/wgmma --storage fp16 "
        "--accumulator fp32 --shape 4096x4096x4096 --output accumulator",
    .run = run,
};
