#include "experiments/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/clock.h"
#include "experiments/memory.h"
#include "kernels/raw_read.h"

static const double limit_ns = 2e9;

/* The sample's share of the input. Starting CPU threads takes far longer than starting a kernel,
 * and what a start takes is foretold so many times too long. */
static const size_t sample_share[DEVICE_KINDS] = {[DEVICE_CPU] = 64, [DEVICE_CUDA] = 1024};
enum { SAMPLE_LEAST = 1024 };

/* Bytes of the CPU's last-level cache, as Linux tells them. (What sysconf tells of it on AMD's
 * processors can be that of the whole socket, or of more.) 0 where it is not known. */
static size_t cpu_cache(void)
{
    unsigned long kibibytes = 0;
    for (int level = 3; level >= 2 && kibibytes == 0; level--) {
        char path[64];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", level);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%luK", &kibibytes) != 1)
            kibibytes = 0;
        if (file)
            fclose(file);
    }
    long bytes = kibibytes ? (long)kibibytes * 1024 : sysconf(_SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 ? (size_t)bytes : 0;
}

static size_t cache_of(struct device d)
{
    struct gpu_facts facts;
    if (d.kind == DEVICE_CPU)
        return cpu_cache();
    return gpu_describe(d.index, &facts, NULL) == STATUS_OK ? facts.l2_bytes : 0;
}

enum status bench_input_open(struct bench_input *b, struct device device, const struct input *in,
                             uint64_t seed, enum format storage, size_t n, struct problem *p)
{
    *b = (struct bench_input){.device = device};
    input_name(in, b->name);
    enum status status = memory_array(&b->array, storage, n, b->name, p);
    if (status == STATUS_OK)
        status = input_generate(in, &b->array, seed, 0, p);
    b->sample = b->array;
    if (n / sample_share[device.kind] >= SAMPLE_LEAST)
        b->sample.n = n / sample_share[device.kind];
    b->in_cache = array_bytes(storage, n) <= cache_of(device);
    if (status == STATUS_OK && device.kind == DEVICE_CUDA)
        status = gpu_upload(&b->gpu, device.index, &b->array, 0, p);
    if (status == STATUS_OK && device.kind == DEVICE_CUDA)
        status = gpu_upload(&b->gpu_sample, device.index, &b->sample, 0, p);
    return status;
}

void bench_input_close(struct bench_input *b)
{
    if (b->gpu)
        gpu_release(b->gpu);
    if (b->gpu_sample)
        gpu_release(b->gpu_sample);
    free(b->array.data);
    *b = (struct bench_input){0};
}

/* What is timed: a task or a raw read, on either kind of device. */
struct subject {
    const struct method *method;
    struct task task;
    struct gpu_job *job;
    const struct gpu_input *gpu;
    uint64_t *bits; /* the outputs of one run */
};

static enum status cpu_runs(void *context, size_t runs, double *time_ns, struct problem *p)
{
    struct subject *s = context;
    enum status status = STATUS_OK;
    uint64_t begin = clock_ns();
    for (size_t i = 0; i < runs && status == STATUS_OK; i++)
        status = s->method->cpu(&s->task, p);
    *time_ns = (double)(clock_ns() - begin) / (double)runs;
    return status;
}

static enum status cpu_reads(void *context, size_t runs, double *time_ns, struct problem *p)
{
    struct subject *s = context;
    enum status status = STATUS_OK;
    uint64_t begin = clock_ns();
    for (size_t i = 0; i < runs && status == STATUS_OK; i++)
        status = raw_read(&s->task.in, s->task.shape.threads, s->bits, p);
    *time_ns = (double)(clock_ns() - begin) / (double)runs;
    return status;
}

static enum status gpu_runs(void *context, size_t runs, double *time_ns, struct problem *p)
{
    struct subject *s = context;
    return gpu_job_time(s->job, runs, time_ns, p);
}

static enum status gpu_reads(void *context, size_t runs, double *time_ns, struct problem *p)
{
    struct subject *s = context;
    return gpu_raw_read(s->gpu, runs, time_ns, p);
}

static enum status subject_open(struct subject *s, const struct bench_row *row,
                                const struct bench_input *in, bool sample, struct problem *p)
{
    *s = (struct subject){.method = row->method, .gpu = sample ? in->gpu_sample : in->gpu};
    const struct array *a = sample ? &in->sample : &in->array;
    size_t outputs = row->method ? row->method->operation->outputs(a->n) : 1;
    s->bits = calloc(outputs ? outputs : 1, sizeof *s->bits);
    if (!s->bits)
        return problem(p, STATUS_DEVICE, "out of memory for %zu results", outputs);
    s->task = (struct task){.in = *a,
                            .out = {row->accumulator, outputs, s->bits},
                            .accumulator = row->accumulator,
                            .shape = row->shape};
    if (!row->method || in->device.kind == DEVICE_CPU)
        return STATUS_OK;
    return gpu_job_open(&s->job, s->gpu, row->method, &s->task, p);
}

static void subject_close(struct subject *s)
{
    if (s->job)
        gpu_job_close(s->job);
    free(s->bits);
}

/* By the least that a run on the sample takes: the first one loads code. */
static enum status foretell(double *run_ns, const struct bench_row *row,
                            const struct bench_input *in, timed batch, struct problem *p)
{
    struct subject s;
    double time_ns = 0, least_ns = 0;
    enum status status = subject_open(&s, row, in, true, p);
    for (int run = 0; run < 3 && status == STATUS_OK; run++) {
        status = batch(&s, 1, &time_ns, p);
        least_ns = run == 0 || time_ns < least_ns ? time_ns : least_ns;
    }
    subject_close(&s);
    *run_ns = least_ns * (double)in->array.n / (double)in->sample.n;
    return status;
}

enum status bench_measure(struct bench_row *row, const struct bench_input *in, size_t repeats,
                          struct problem *p)
{
    bool gpu = in->device.kind == DEVICE_CUDA;
    timed batch = row->method ? (gpu ? gpu_runs : cpu_runs) : (gpu ? gpu_reads : cpu_reads);
    row->time = (struct timing){0};
    if (row->method &&
        !method_supports(row->method, in->device.kind, in->array.format, row->accumulator)) {
        snprintf(row->note, sizeof row->note, "unsupported");
        return STATUS_OK;
    }
    double run_ns = 0;
    enum status status = STATUS_OK;
    if (row->method && in->sample.n < in->array.n)
        status = foretell(&run_ns, row, in, batch, p);
    if (status == STATUS_OK && run_ns > limit_ns) {
        snprintf(row->note, sizeof row->note,
                 "skipped: a run would take about %.2g s, the limit is %g s", run_ns / 1e9,
                 limit_ns / 1e9);
        return STATUS_OK;
    }
    struct subject s = {0};
    if (status == STATUS_OK)
        status = subject_open(&s, row, in, false, p);
    if (status == STATUS_OK)
        status = timing_measure(&row->time, batch, &s, GPU_BATCH, repeats, p);
    subject_close(&s);
    if (status == STATUS_OK && row->time.repetitions < TIMING_REPEATS)
        snprintf(row->note, sizeof row->note, "%zu repetitions: a run takes long",
                 row->time.repetitions);
    return status;
}

unsigned bench_threads(const struct method *m, struct shape shape)
{
    bool own = (m->shape_read[DEVICE_CPU] & SHAPE_THREADS) && !m->shape_order;
    return own && shape.threads ? shape.threads : 1;
}
