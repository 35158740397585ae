#include "tests/support/played_gpu.h"

#include <criterion/criterion.h>

#include <stdlib.h>

#include "kernels/gpu/gpu.h"

struct gpu_input {
    struct operands of;
};

struct gpu_job {
    unsigned char letter; /* what the log calls it */
    bool sample;
    size_t bytes;
    double run_ns;
};

struct played_gpu played_gpu;

volatile sig_atomic_t played_stop;

static void turn_of(unsigned char letter)
{
    played_stop = played_gpu.stop_at > 0 && played_gpu.turns >= played_gpu.stop_at;
    cr_assert(played_gpu.turns < sizeof played_gpu.log - 1);
    if (played_gpu.turns == 0 || played_gpu.log[played_gpu.turns - 1] != letter)
        played_gpu.log[played_gpu.turns++] = letter;
}

static enum status take_memory(size_t bytes, struct problem *p)
{
    if (bytes > played_gpu.left)
        return problem(p, STATUS_MEMORY, "out of memory");
    played_gpu.left -= bytes;
    return STATUS_OK;
}

bool __wrap_method_supports(const struct method *m, enum device_kind device, enum format storage,
                            enum format accumulator);
enum status __wrap_gpu_describe(int device, struct gpu_facts *facts, struct problem *p);
enum status __wrap_gpu_upload(struct gpu_input **input, int device, const struct array *a,
                              size_t offset, struct problem *p);
void __wrap_gpu_release(struct gpu_input *input);
enum status __wrap_gpu_give(struct gpu_input *input, const struct operands *of, enum operand which,
                            size_t offset, struct problem *p);
enum status __wrap_gpu_job_open(struct gpu_job **job, const struct gpu_input *input,
                                const struct method *m, const struct task *t, struct problem *p);
enum status __wrap_gpu_job_time(struct gpu_job *job, size_t runs, double *time_ns,
                                struct problem *p);
enum status __wrap_gpu_job_start(struct gpu_job *job, size_t runs, struct problem *p);
enum status __wrap_gpu_job_wait(struct gpu_job *job, struct hash128 *digest, double *time_ns,
                                struct problem *p);
size_t __wrap_gpu_job_memory(const struct gpu_job *job);
void __wrap_gpu_job_close(struct gpu_job *job);
enum status __wrap_gpu_raw_read(const struct gpu_input *input, unsigned arrays, size_t runs,
                                double *time_ns, struct problem *p);
enum status __wrap_gpu_copy(struct gpu_input *input, size_t runs, double *time_ns,
                            struct problem *p);

bool __wrap_method_supports(const struct method *m, enum device_kind device, enum format storage,
                            enum format accumulator)
{
    (void)m, (void)storage, (void)accumulator;
    return device == DEVICE_CUDA;
}

enum status __wrap_gpu_describe(int device, struct gpu_facts *facts, struct problem *p)
{
    (void)device, (void)p;
    *facts = (struct gpu_facts){.memory_total = played_gpu.memory, .memory_free = played_gpu.left};
    return STATUS_OK;
}

enum status __wrap_gpu_upload(struct gpu_input **input, int device, const struct array *a,
                              size_t offset, struct problem *p)
{
    (void)device, (void)offset, (void)p;
    *input = malloc(sizeof **input);
    cr_assert(*input);
    (*input)->of.in = *a;
    return STATUS_OK;
}

enum status __wrap_gpu_give(struct gpu_input *input, const struct operands *of, enum operand which,
                            size_t offset, struct problem *p)
{
    (void)offset, (void)p;
    cr_assert(which == OPERAND_IN2 && of->in2.n == input->of.in.n);
    return STATUS_OK;
}

void __wrap_gpu_release(struct gpu_input *input)
{
    free(input);
}

double run_ns_of(const struct method *m)
{
    size_t i = 0;
    while (method_registry[i] != m)
        i++;
    return (double)(100 + i);
}

unsigned char letter_of(const struct method *m)
{
    return (unsigned char)('A' + (int)run_ns_of(m) - 100); /* there are more than 62 methods */
}

enum status __wrap_gpu_job_open(struct gpu_job **job, const struct gpu_input *input,
                                const struct method *m, const struct task *t, struct problem *p)
{
    cr_assert(t->of->in.n == input->of.in.n);
    *job = calloc(1, sizeof **job);
    cr_assert(*job);
    **job = (struct gpu_job){
        .letter = letter_of(m), .sample = t->of->in.n < played_gpu.n, .run_ns = run_ns_of(m)};
    played_gpu.jobs++;
    played_gpu.most_jobs =
        played_gpu.jobs > played_gpu.most_jobs ? played_gpu.jobs : played_gpu.most_jobs;
    (void)p;
    return STATUS_OK;
}

enum status __wrap_gpu_job_time(struct gpu_job *job, size_t runs, double *time_ns,
                                struct problem *p)
{
    cr_assert(runs >= 1 && runs <= GPU_BATCH);
    turn_of(job->letter);
    if (job->letter == played_gpu.broken && played_gpu.broken_calls-- == 0)
        return problem(p, STATUS_DEVICE, "broken");
    *time_ns = job->run_ns;
    if (job->sample && played_gpu.sample_ns > 0)
        *time_ns = ++played_gpu.sample_runs == 2 ? 1 : played_gpu.sample_ns;
    size_t bytes = job->bytes ? 0 : played_gpu.output_bytes;
    job->bytes += bytes;
    if (bytes > played_gpu.left)
        job->bytes = 0;
    return take_memory(bytes, p);
}

enum status __wrap_gpu_job_start(struct gpu_job *job, size_t runs, struct problem *p)
{
    (void)job, (void)p;
    cr_assert(runs == 1);
    return STATUS_OK;
}

enum status __wrap_gpu_job_wait(struct gpu_job *job, struct hash128 *digest, double *time_ns,
                                struct problem *p)
{
    static uint64_t runs;
    (void)p;
    *digest = (struct hash128){{job->letter == played_gpu.fickle ? ++runs : 1, 0}};
    *time_ns = job->run_ns;
    return STATUS_OK;
}

size_t __wrap_gpu_job_memory(const struct gpu_job *job)
{
    return 3 * (size_t)job->letter;
}

void __wrap_gpu_job_close(struct gpu_job *job)
{
    played_gpu.left += job->bytes;
    played_gpu.jobs--;
    free(job);
}

enum status __wrap_gpu_raw_read(const struct gpu_input *input, unsigned arrays, size_t runs,
                                double *time_ns, struct problem *p)
{
    (void)input, (void)arrays, (void)runs, (void)p;
    turn_of('r');
    *time_ns = 50;
    return STATUS_OK;
}

enum status __wrap_gpu_copy(struct gpu_input *input, size_t runs, double *time_ns,
                            struct problem *p)
{
    size_t bytes = array_bytes(input->of.in.format, input->of.in.n);
    (void)runs;
    turn_of('c');
    *time_ns = 80;
    enum status status = take_memory(bytes, p);
    played_gpu.left += status == STATUS_OK ? bytes : 0;
    return status;
}
