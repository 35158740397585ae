#include "experiments/runs/runner.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/system/clock.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/memory.h"
#include "reference/format/hash_array.h"

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

struct task runner_task(const struct runner *r)
{
    return (struct task){.of = r->of,
                         .out.format = r->output,
                         .method = r->method,
                         .device = r->device.kind == DEVICE_CPU ? -1 : r->device.index,
                         .accumulator = r->accumulator,
                         .shape = r->shape};
}

enum status runner_once(const struct runner *r, const struct array *out, struct problem *p)
{
    struct task task = runner_task(r);
    task.out = *out;
    return r->method->cpu(&task, p);
}

/* Every run writes to the same place: a batch of arrays has one run. */
enum { CPU_BATCH = 256 };

struct hash128 runner_digest_of(const struct method *m, const struct array *out)
{
    return operation_makes_array(m->operation)
               ? hash_array(out)
               : (struct hash128){{format_canonical(out->format, array_bits(out, 0)), 0}};
}

static enum status cpu_output(void *source, size_t i, const struct array *to, struct problem *p)
{
    const struct array *out = source;
    (void)i, (void)p;
    memcpy(to->data, out->data, array_bytes(out->format, out->n));
    return STATUS_OK;
}

/* What the last run took. That of a foreign method is known, where it is, without the way to its
 * process and back. */
static bool time_of(const struct runner *r, uint64_t elapsed_ns, uint64_t *time_ns)
{
    *time_ns = elapsed_ns;
    return !r->method->foreign || foreign_time(r->method, time_ns);
}

static enum status cpu_batch(const struct runner *r, size_t runs, const struct array *out,
                             struct hash128 *digest, uint64_t *time_ns, size_t *done, bool *timed,
                             struct problem *p)
{
    uint64_t begin = clock_ns(), end = begin;
    *done = 0;
    while (*done < runs && (double)(end - begin) < BATCH_NS && !stopped(r)) {
        uint64_t start = clock_ns();
        enum status status = runner_once(r, out, p);
        end = clock_ns();
        if (status != STATUS_OK)
            return status;
        digest[*done] = runner_digest_of(r->method, out);
        *timed = time_of(r, end - start, &time_ns[(*done)++]);
    }
    return STATUS_OK;
}

static enum status cpu_batches(const struct runner *r, uint64_t runs, struct array *out,
                               runner_digest take, void *context, struct problem *p)
{
    struct hash128 digest[CPU_BATCH];
    uint64_t time_ns[CPU_BATCH];
    size_t room = operation_makes_array(r->method->operation) ? 1 : CPU_BATCH;
    enum status status = STATUS_OK;
    while (runs > 0 && status == STATUS_OK) {
        bool timed = true;
        struct runner_results results = {0, digest, time_ns, cpu_output, out};
        status = cpu_batch(r, runs < room ? (size_t)runs : room, out, digest, time_ns,
                           &results.runs, &timed, p);
        results.time_ns = timed ? time_ns : NULL;
        runs -= results.runs;
        enum status taken = results.runs ? take(context, &results, p) : STATUS_OK;
        if (status == STATUS_OK)
            status = taken;
        if (status == STATUS_OK && runs > 0 && stopped(r))
            status = interrupted(p);
    }
    return status;
}

static enum status cpu_run(const struct runner *r, uint64_t runs, runner_digest digest,
                           void *context, struct problem *p)
{
    struct array out;
    enum status status =
        memory_array(&out, r->output, r->method->operation->outputs(r->of->in.n, r->of->bins),
                     r->method->name, p);
    if (status != STATUS_OK)
        return status;
    status = cpu_batches(r, runs, &out, digest, context, p);
    free(out.data);
    return status;
}

/* The results of a batch as they come from a GPU. */
struct batch {
    struct hash128 digest[GPU_BATCH];
    uint64_t time_ns[GPU_BATCH];
    double measured_ns[GPU_BATCH];
};

static enum status gpu_output(void *source, size_t i, const struct array *to, struct problem *p)
{
    return gpu_job_output(source, i, to, p);
}

/* Waits for the oldest batch and digests it; sets the size of batches that take BATCH_NS, growing
 * at most eightfold at a time. */
static enum status gpu_finish(struct gpu_job *job, size_t runs, struct batch *b, size_t *size,
                              runner_digest digest, void *context, struct problem *p)
{
    enum status status = gpu_job_wait(job, b->digest, b->measured_ns, p);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < runs; i++)
        b->time_ns[i] = (uint64_t)llround(b->measured_ns[i]);
    double fitting = BATCH_NS / (b->measured_ns[0] > 1 ? b->measured_ns[0] : 1);
    size_t room = gpu_job_batch(job), most = 8 * *size < room ? 8 * *size : room;
    *size = fitting < 1 ? 1 : fitting < (double)most ? (size_t)fitting : most;
    struct runner_results results = {runs, b->digest, b->time_ns, gpu_output, job};
    return digest(context, &results, p);
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
    struct task task = runner_task(r);
    struct batch *b = malloc(sizeof *b);
    if (!b)
        return problem(p, STATUS_MEMORY, "%s: out of memory for results", r->method->name);
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
    return r->device.kind == DEVICE_CPU || r->method->foreign
               ? cpu_run(r, runs, digest, context, p)
               : gpu_run(r, runs, digest, context, p);
}
