/* ulpscope bench: throughput of methods beside the raw read and the vendor's routine. */
#include <stdio.h>
#include <unistd.h>

#include "experiments/axes.h"
#include "experiments/bench_report.h"
#include "experiments/experiment.h"
#include "experiments/verbs.h"

#define FORMAT_DEFAULTS "fp32/fp32,fp64/fp64,fp16/fp32,bf16/fp32"

static const struct experiment defaults = {
    .name = "bench",
    .operation = &operation_sum,
    .axes = {[DEVICE_CPU] = {.formats = FORMAT_DEFAULTS, .input = "uniform", .n = "2^26"},
             [DEVICE_CUDA] = {.formats = FORMAT_DEFAULTS, .input = "uniform", .n = "2^28"}},
};

enum { RAW_KEPT = 16 };

struct bench {
    struct axes axes;
    size_t repeats;
    struct bench_report report;
    struct problem failed; /* the first row that failed */
    struct bench_input input;
    struct {
        unsigned threads;
        double ns;
    } raw[RAW_KEPT]; /* raw reads of this input, by CPU threads */
    size_t raws;
};

static void show_progress(const struct bench *b, const struct bench_row *row)
{
    char device[DEVICE_TEXT];
    device_name(b->input.device, device);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[Kbench: %s, %s %s, n = %zu: %s", device, b->input.name,
                format_facts[b->input.array.format].name, b->input.array.n,
                row->method ? row->method->name : "raw read");
}

/* Measures and reports a row. A row that fails says so, and the next one follows. */
static enum status add_row(struct bench *b, struct bench_row *row, struct problem *p)
{
    struct problem trouble = {0};
    show_progress(b, row);
    if (bench_measure(row, &b->input, b->repeats, &trouble) != STATUS_OK) {
        snprintf(row->note, sizeof row->note, "failed: %.200s", trouble.text);
        problem(&b->failed, trouble.status, "bench: %s: %s",
                row->method ? row->method->name : "raw read", trouble.text);
    }
    return bench_report_add(&b->report, &b->input, row, p);
}

/* The raw read with so many threads, measured where it is first asked for. */
static enum status raw_of(struct bench *b, unsigned threads, double *ns, struct problem *p)
{
    *ns = 0;
    for (size_t i = 0; i < b->raws; i++)
        if (b->raw[i].threads == threads)
            *ns = b->raw[i].ns;
    if (*ns > 0 || b->raws == RAW_KEPT)
        return STATUS_OK;
    bool cpu = b->input.device.kind == DEVICE_CPU;
    struct bench_row row = {.accumulator = FORMATS, .shape.threads = cpu ? threads : 0};
    enum status status = add_row(b, &row, p);
    *ns = row.time.median_ns;
    b->raw[b->raws].threads = threads;
    b->raw[b->raws++].ns = *ns;
    return status;
}

/* Has this shape come up already, for an earlier pair of --threads and --blocks? */
static bool repeated(const struct bench *b, const struct method *m, size_t at, struct shape shape)
{
    const struct numbers *threads = &b->axes.threads, *blocks = &b->axes.blocks;
    for (size_t i = 0; i < at; i++) {
        struct shape asked = {(unsigned)threads->item[i / blocks->count],
                              (unsigned)blocks->item[i % blocks->count]};
        struct shape s = method_shape(m, b->input.device.kind, b->input.array.n, asked);
        if (s.threads == shape.threads && s.blocks == shape.blocks)
            return true;
    }
    return false;
}

/* One method with every launch shape. *best_ns is the least median, 0 where there is none. */
static enum status bench_method(struct bench *b, const struct method *m, enum format accumulator,
                                double vendor_ns, double *best_ns, struct problem *p)
{
    const struct numbers *threads = &b->axes.threads, *blocks = &b->axes.blocks;
    enum device_kind kind = b->input.device.kind;
    enum status status = STATUS_OK;
    *best_ns = 0;
    if (!b->axes.method_named && !method_supports(m, kind, b->input.array.format, accumulator))
        return STATUS_OK;
    for (size_t i = 0; i < threads->count * blocks->count && status == STATUS_OK; i++) {
        struct shape asked = {(unsigned)threads->item[i / blocks->count],
                              (unsigned)blocks->item[i % blocks->count]};
        struct bench_row row = {.method = m, .accumulator = accumulator, .vendor_ns = vendor_ns};
        row.shape = method_shape(m, kind, b->input.array.n, asked);
        if (repeated(b, m, i, row.shape))
            continue;
        unsigned own = kind == DEVICE_CPU ? bench_threads(m, row.shape) : 0;
        status = raw_of(b, own, &row.raw_ns, p);
        if (status == STATUS_OK)
            status = add_row(b, &row, p);
        if (row.time.repetitions > 0 && (*best_ns == 0 || row.time.median_ns < *best_ns))
            *best_ns = row.time.median_ns;
    }
    return status;
}

static bool is_vendor(const struct method *m)
{
    return strncmp(m->name, "cub/", 4) == 0;
}

/* One accumulator: the vendor's routine, then the methods. */
static enum status bench_pair(struct bench *b, enum format accumulator, struct problem *p)
{
    double vendor_ns = 0, ns;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < b->axes.methods && status == STATUS_OK; i++)
        if (is_vendor(b->axes.method[i]))
            status = bench_method(b, b->axes.method[i], accumulator, 0, &vendor_ns, p);
    for (size_t i = 0; i < b->axes.methods && status == STATUS_OK; i++)
        if (!is_vendor(b->axes.method[i]))
            status = bench_method(b, b->axes.method[i], accumulator, vendor_ns, &ns, p);
    return status;
}

/* One input in one storage format: generated and uploaded once. */
static enum status bench_input(struct bench *b, struct device device, const struct input *in,
                               enum format storage, size_t n, struct problem *p)
{
    double ns;
    enum status status =
        bench_input_open(&b->input, device, in, b->axes.seed.item[0], storage, n, p);
    b->raws = 0;
    if (status == STATUS_OK)
        status = raw_of(b, device.kind == DEVICE_CPU, &ns, p);
    for (size_t i = 0; i < b->axes.pairs.count && status == STATUS_OK; i++)
        if (b->axes.pairs.item[i].storage == storage)
            status = bench_pair(b, b->axes.pairs.item[i].accumulator, p);
    bench_input_close(&b->input);
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
                    status = bench_input(b, device, &axes->input[i], storage, axes->n.item[k], p);
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
    for (size_t i = 0; i < b->axes.devices && status == STATUS_OK; i++)
        status = bench_device(b, b->axes.device[i], p);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    enum status closed = bench_report_close(&b->report, p);
    status = status == STATUS_OK ? closed : status;
    if (status == STATUS_OK && b->failed.status != STATUS_OK)
        status = problem(p, b->failed.status, "%s", b->failed.text);
    return status;
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct bench b = {0};
    struct request request;
    uint64_t repeats = TIMING_REPEATS;
    enum status status = request_arguments(&request, a, p);
    if (status == STATUS_OK)
        status = argument_number(a, "repeats", TIMING_REPEATS, TIMING_REPEATS, 100000, &repeats, p);
    if (status == STATUS_OK)
        status = axes_resolve(&b.axes, &defaults, &request, p);
    if (status == STATUS_OK)
        status = check_axes(&b.axes, p);
    b.repeats = repeats;
    if (status == STATUS_OK)
        status = measure_all(&b, a, p);
    axes_free(&b.axes);
    request_free(&request);
    return status;
}

const struct verb verb_bench = {
    .name = "bench",
    .operands = "",
    .summary = "throughput of methods beside the raw read and the vendor's routine",
    .details =
        "A figure is a ratio taken in one run: `of_raw` is a method's rate over that of a loop or "
        "kernel\nthat only reads the same bytes (with as many CPU threads), `of_vendor` over that "
        "of NVIDIA's CUB.\nTimes are medians of at least 15 repetitions after warm-up, device time "
        "on a GPU; a short run is\nrepeated back to back for about a millisecond (`runs`). Where a "
        "run takes long there are fewer\nrepetitions, and a method that would take more than 2 s a "
        "run is skipped; both say so. Without\noptions: every method, 2^28 elements on a GPU, 2^26 "
        "on the CPU, uniform input.",
    .examples =
        "  ulpscope bench --device cpu --n 2^20 --method sum/tiled,sum/serial\n"
        "  ulpscope bench --device cpu --method sum/tiled --storage fp32 --accumulator fp32 "
        "--n 2^22 --threads 1,2\n"
        "  ulpscope bench --method sum/tiled --n 2^10..2^20 --json\n"
        "  ulpscope bench --n 2^22 --storage bf16 --accumulator fp32 --out bench.csv",
    .run = run,
};
