#include "experiments/runner.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/clock.h"

/* How long a batch should take: results are digested, progress is shown and interruptions are
 * noticed between batches. */
#define BATCH_NS 50e6

static bool stopped(const struct runner *r)
{
    return r->stop && *r->stop;
}

static enum status interrupted(struct problem *p)
{
    return problem(p, STATUS_INTERRUPTED, "interrupted");
}

enum { CPU_BATCH = 256 };

static enum status cpu_batch(const struct runner *r, size_t runs, uint64_t *bits, uint64_t *time_ns,
                             size_t *done, struct problem *p)
{
    uint64_t encoding = 0, begin = clock_ns(), end = begin;
    struct task task = {.in = *r->in,
                        .out = {r->accumulator, 1, &encoding},
                        .accumulator = r->accumulator,
                        .shape = r->shape};
    *done = 0;
    while (*done < runs && (double)(end - begin) < BATCH_NS && !stopped(r)) {
        uint64_t start = clock_ns();
        enum status status = r->method->cpu(&task, p);
        end = clock_ns();
        if (status != STATUS_OK)
            return status;
        bits[*done] = format_canonical(r->accumulator, array_bits(&task.out, 0));
        time_ns[(*done)++] = end - start;
    }
    return STATUS_OK;
}

static enum status cpu_run(const struct runner *r, uint64_t runs, runner_digest digest,
                           void *context, struct problem *p)
{
    uint64_t bits[CPU_BATCH], time_ns[CPU_BATCH];
    enum status status = STATUS_OK;
    while (runs > 0 && status == STATUS_OK) {
        size_t done;
        status = cpu_batch(r, runs < CPU_BATCH ? (size_t)runs : CPU_BATCH, bits, time_ns, &done, p);
        runs -= done;
        enum status digested = done ? digest(context, bits, time_ns, done, p) : STATUS_OK;
        if (status == STATUS_OK)
            status = digested;
        if (status == STATUS_OK && runs > 0 && stopped(r))
            status = interrupted(p);
    }
    return status;
}

/* The results of a batch as they come from a GPU. */
struct batch {
    struct hash128 digest[GPU_BATCH];
    uint64_t bits[GPU_BATCH], time_ns[GPU_BATCH];
    double measured_ns[GPU_BATCH];
};

/* Waits for the oldest batch and digests it; sets the size of batches that take BATCH_NS, growing
 * at most eightfold at a time. */
static enum status gpu_finish(struct gpu_job *job, size_t runs, struct batch *b, size_t *size,
                              runner_digest digest, void *context, struct problem *p)
{
    enum status status = gpu_job_wait(job, b->digest, b->measured_ns, p);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < runs; i++) {
        b->bits[i] = b->digest[i].word[0];
        b->time_ns[i] = (uint64_t)llround(b->measured_ns[i]);
    }
    double fitting = BATCH_NS / (b->measured_ns[0] > 1 ? b->measured_ns[0] : 1);
    size_t room = gpu_job_batch(job), most = 8 * *size < room ? 8 * *size : room;
    *size = fitting < 1 ? 1 : fitting < (double)most ? (size_t)fitting : most;
    return digest(context, b->bits, b->time_ns, runs, p);
}

/* Two batches are always under way, so that the GPU works while the host digests. */
static enum status gpu_batches(const struct runner *r, struct gpu_job *job, uint64_t runs,
                               struct batch *b, runner_digest digest, void *context,
                               struct problem *p)
{
    size_t size = 1, waiting[2] = {0}, oldest = 0, under_way = 0;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && (runs > 0 || under_way > 0)) {
        if (runs > 0 && under_way < 2 && !stopped(r)) {
            size_t count = runs < size ? (size_t)runs : size;
            status = gpu_job_start(job, count, p);
            waiting[(oldest + under_way++) % 2] = count;
            runs -= count;
        } else if (under_way > 0) {
            status = gpu_finish(job, waiting[oldest], b, &size, digest, context, p);
            oldest = (oldest + 1) % 2;
            under_way--;
        } else {
            status = interrupted(p);
        }
    }
    return status;
}

static enum status gpu_run(const struct runner *r, uint64_t runs, runner_digest digest,
                           void *context, struct problem *p)
{
    struct gpu_job *job;
    struct task task = {
        .out.format = r->accumulator, .accumulator = r->accumulator, .shape = r->shape};
    struct batch *b = malloc(sizeof *b);
    if (!b)
        return problem(p, STATUS_DEVICE, "%s: out of memory for results", r->method->name);
    enum status status = gpu_job_open(&job, r->gpu, r->method, &task, p);
    if (status == STATUS_OK) {
        status = gpu_batches(r, job, runs, b, digest, context, p);
        gpu_job_close(job);
    }
    free(b);
    return status;
}

enum status runner_run(const struct runner *r, uint64_t runs, runner_digest digest, void *context,
                       struct problem *p)
{
    return r->device.kind == DEVICE_CPU ? cpu_run(r, runs, digest, context, p)
                                        : gpu_run(r, runs, digest, context, p);
}

enum status runner_once(const struct method *m, const struct array *in, enum format accumulator,
                        double *result, struct problem *p)
{
    uint64_t bits = 0;
    struct task task = {.in = *in,
                        .out = {accumulator, 1, &bits},
                        .accumulator = accumulator,
                        .shape = method_shape(m, DEVICE_CPU, in->n, (struct shape){0})};
    enum status status = m->cpu(&task, p);
    *result = format_decode(accumulator, bits);
    return status;
}
