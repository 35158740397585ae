#include "experiments/bench/subject.h"

#include "experiments/system/clock.h"
#include "experiments/subjects/foreign.h"
#include "experiments/runs/runner.h"
#include "kernels/gpu/raw_read.h"

static enum status run_once(struct bench_subject *s, struct problem *p)
{
    struct task *t = &s->task;
    uint64_t mix;
    t->out.data = s->in->output.data; /* which may have been made larger since the last run */
    enum status status;
    switch (s->kind) {
    case BENCH_READ:
        return raw_read(&t->of->in, t->shape.threads, &mix, p);
    case BENCH_READ_BOTH:
        status = raw_read(&t->of->in, t->shape.threads, &mix, p);
        return status == STATUS_OK ? raw_read(&t->of->in2, t->shape.threads, &mix, p) : status;
    case BENCH_COPY:
        return raw_copy(&t->of->in, t->out.data, t->shape.threads, p);
    case BENCH_METHOD:
        break;
    }
    return s->method->cpu(t, p);
}

/* As long as the calls take there, without the way and back; a program is asked for all of them at
 * once. */
static enum status in_process(struct bench_subject *s, size_t runs, double *time_ns,
                              struct problem *p)
{
    enum status status = STATUS_OK;
    uint64_t run_ns = 0, sum_ns = 0;
    if (foreign_times(s->method) && !foreign_fingerprint(s->method)) {
        s->task.out.data = s->in->output.data;
        status = foreign_time_runs(&s->task, runs, &sum_ns, p);
        *time_ns = (double)sum_ns / (double)runs;
        return status;
    }
    for (size_t i = 0; i < runs && status == STATUS_OK; i++) {
        status = run_once(s, p);
        foreign_time(s->method, &run_ns);
        sum_ns += run_ns;
    }
    *time_ns = (double)sum_ns / (double)runs;
    return status;
}

static enum status on_cpu(struct bench_subject *s, size_t runs, double *time_ns, struct problem *p)
{
    enum status status = STATUS_OK;
    uint64_t begin = clock_ns();
    for (size_t i = 0; i < runs && status == STATUS_OK; i++)
        status = run_once(s, p);
    *time_ns = (double)(clock_ns() - begin) / (double)runs;
    return status;
}

static enum status on_gpu(struct bench_subject *s, size_t runs, double *time_ns, struct problem *p)
{
    switch (s->kind) {
    case BENCH_READ:
        return gpu_raw_read(s->gpu, 1, runs, time_ns, p);
    case BENCH_READ_BOTH:
        return gpu_raw_read(s->gpu, 2, runs, time_ns, p);
    case BENCH_COPY:
        return gpu_copy(s->gpu, runs, time_ns, p);
    case BENCH_METHOD:
        break;
    }
    return gpu_job_time(s->job, runs, time_ns, p);
}

enum status bench_subject_run(struct bench_subject *s, size_t runs, double *time_ns,
                              struct problem *p)
{
    if (s->method && s->method->foreign)
        return in_process(s, runs, time_ns, p);
    return s->in->device.kind == DEVICE_CPU ? on_cpu(s, runs, time_ns, p)
                                            : on_gpu(s, runs, time_ns, p);
}

static enum status prepare(struct bench_subject *s, const struct bench_row *row, struct problem *p)
{
    struct array *out = &s->task.out;
    if (s->in->device.kind == DEVICE_CPU || (row->method && row->method->foreign))
        return s->kind == BENCH_READ || s->kind == BENCH_READ_BOTH
                   ? STATUS_OK
                   : bench_input_output(s->in, out->format, out->n, p);
    if (!row->method)
        return STATUS_OK;
    enum status status = gpu_job_open(&s->job, s->gpu, row->method, &s->task, p);
    if (status == STATUS_OK)
        s->memory = (struct figure){true, (double)gpu_job_memory(s->job)};
    return status;
}

enum status bench_subject_look(struct bench_subject *s, size_t runs, bench_look *take,
                               void *context, struct problem *p)
{
    struct hash128 digest;
    double time_ns;
    if (s->job) {
        if (operation_makes_array(s->method->operation))
            return STATUS_OK;
        enum status status = gpu_job_start(s->job, 1, p);
        if (status == STATUS_OK)
            status = gpu_job_wait(s->job, &digest, &time_ns, p);
        if (status == STATUS_OK)
            take(context, digest);
        return status;
    }
    take(context, runner_digest_of(s->method, &s->task.out));
    enum status status = runs > 1 ? run_once(s, p) : STATUS_OK;
    if (status == STATUS_OK && runs > 1)
        take(context, runner_digest_of(s->method, &s->task.out));
    return status;
}

/* The row's is that of the whole input: a sample, of fewer elements, has its own. */
static struct shape shape_of(const struct bench_input *in, const struct bench_row *row, bool sample)
{
    return sample && row->method
               ? method_shape(row->method, in->device.kind, in->sample.n, row->shape)
               : row->shape;
}

enum status bench_subject_open(struct bench_subject *s, struct bench_input *in,
                               const struct bench_row *row, bool sample, struct problem *p)
{
    const struct array *a = sample ? &in->sample : &in->array;
    double time_ns;
    *s = (struct bench_subject){.in = in,
                                .kind = row->kind,
                                .method = row->method,
                                .gpu = sample ? in->gpu_sample : in->gpu};
    s->of.in = *a;
    s->task = (struct task){.of = &s->of,
                            .out = {a->format, a->n, NULL},
                            .accumulator = row->accumulator,
                            .method = row->method,
                            .device = in->device.kind == DEVICE_CPU ? -1 : in->device.index,
                            .shape = shape_of(in, row, sample)};
    bool both = row->kind == BENCH_READ_BOTH ||
                (row->method && operation_has(row->method->operation, OPERAND_IN2));
    enum status status = row->method ? bench_input_operands(in, row, sample, &s->of, p) : STATUS_OK;
    if (row->method)
        s->task.out = (struct array){row->setting.output,
                                     row->method->operation->outputs(a->n, s->of.bins), NULL};
    if (status == STATUS_OK && both)
        status = bench_input_second(in, p);
    if (both)
        s->of.in2 = (struct array){a->format, a->n, in->second.data};
    if (status == STATUS_OK)
        status = prepare(s, row, p);
    if (status == STATUS_OK)
        status = bench_subject_run(s, 1, &time_ns, p);
    if (status != STATUS_OK)
        bench_subject_close(s);
    return status;
}

void bench_subject_close(struct bench_subject *s)
{
    if (s->job)
        gpu_job_close(s->job);
    *s = (struct bench_subject){0};
}
