#include "experiments/runs/probe.h"

#include <stdlib.h>

struct probe {
    struct probe_spec spec;
    struct operands of;
    void *allocation[2], *allocated_keys;
    struct gpu_input *gpu; /* on a GPU: its copy of the input; */
    struct gpu_job *job;   /* NULL until it is needed */
    struct runner runner;
};

enum { ALIGNMENT = 256 };

static bool on_gpu(const struct probe *probe)
{
    return probe->spec.device.kind == DEVICE_CUDA && !probe->spec.method->foreign;
}

static uint8_t around(const struct probe_spec *s)
{
    return (uint8_t)~s->around;
}

/* Makes an array of zeros. */
static enum status make_array(struct probe *probe, struct array *a, void **allocation,
                              struct problem *p)
{
    const struct probe_spec *s = &probe->spec;
    size_t ahead = s->offset * (size_t)format_facts[s->storage].bytes;
    size_t bytes = array_bytes(s->storage, s->n), room = 0;
    if (bytes < SIZE_MAX - ahead - 2 * MEMORY_AROUND - ALIGNMENT)
        room = (MEMORY_AROUND + ahead + bytes + MEMORY_AROUND + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    if (room)
        *allocation = aligned_alloc(ALIGNMENT, room);
    if (!*allocation)
        return problem(p, STATUS_MEMORY, "%s: out of memory for %zu elements of %s",
                       s->method->name, s->n, format_facts[s->storage].name);
    char *begin = (char *)*allocation + MEMORY_AROUND + ahead;
    *a = (struct array){s->storage, s->n, begin};
    memset(*allocation, around(s), room);
    memset(begin, 0, bytes);
    return STATUS_OK;
}

static enum status make_keys(struct probe *probe, struct problem *p)
{
    const struct probe_spec *s = &probe->spec;
    size_t width = sizeof *probe->of.keys, ahead = s->offset * width;
    size_t room = MEMORY_AROUND + ahead + s->n * width + MEMORY_AROUND + ALIGNMENT;
    probe->allocated_keys = aligned_alloc(ALIGNMENT, room / ALIGNMENT * ALIGNMENT);
    if (!probe->allocated_keys)
        return problem(p, STATUS_MEMORY, "%s: out of memory for %zu keys", s->method->name, s->n);
    memset(probe->allocated_keys, 0, room / ALIGNMENT * ALIGNMENT);
    probe->of.keys = (uint32_t *)((char *)probe->allocated_keys + MEMORY_AROUND + ahead);
    return STATUS_OK;
}

/* The GPU's copy becomes what the arrays, the keys and C hold now. Flags and masks stay as they
 * are.
 */
static enum status reload(struct probe *probe, struct problem *p)
{
    enum status status = STATUS_OK;
    for (enum operand k = 0; k < OPERANDS && status == STATUS_OK; k++)
        if (operand_data(&probe->of, k) && k != OPERAND_HEADS && k != OPERAND_MASK)
            status = gpu_give(probe->gpu, &probe->of, k, probe->spec.offset % ALIGNMENT, p);
    return status;
}

static enum status make_input(struct probe *probe, struct problem *p)
{
    const struct probe_spec *s = &probe->spec;
    struct array *in = &probe->of.in, *in2 = &probe->of.in2;
    enum status status = make_array(probe, in, &probe->allocation[0], p);
    if (status == STATUS_OK && operation_has(s->method->operation, OPERAND_IN2))
        status = make_array(probe, in2, &probe->allocation[1], p);
    for (size_t i = 0; status == STATUS_OK && i < in2->n; i++)
        array_encode(in2, i, 1, &(double){1});
    if (status == STATUS_OK && operation_has(s->method->operation, OPERAND_KEYS))
        status = make_keys(probe, p);
    if (status != STATUS_OK || !on_gpu(probe))
        return status;
    status = gpu_upload(&probe->gpu, s->device.index, in, s->offset % ALIGNMENT, p);
    if (status == STATUS_OK)
        status = reload(probe, p);
    return status == STATUS_OK ? gpu_surround(probe->gpu, around(s), p) : status;
}

enum status probe_open(struct probe **opened, const struct probe_spec *s, struct problem *p)
{
    char device[DEVICE_TEXT];
    *opened = NULL;
    device_name(s->device, device);
    if (!method_supports(s->method, s->device.kind, s->storage, s->accumulator))
        return problem(p, STATUS_DEVICE, "%s does not support %s in %s on %s", s->method->name,
                       format_facts[s->storage].name, format_facts[s->accumulator].name, device);
    struct probe *probe = calloc(1, sizeof *probe);
    if (!probe)
        return problem(p, STATUS_MEMORY, "%s: out of memory", s->method->name);
    probe->spec = *s;
    probe->of = (struct operands){.exclusive = s->exclusive,
                                  .heads = s->heads,
                                  .mask = s->mask,
                                  .product = s->product ? s->product : s->method->product,
                                  .bins = s->bins,
                                  .stride = s->stride,
                                  .gemm = s->gemm,
                                  .c = s->c,
                                  .chip = s->chip,
                                  .promote = s->promote};
    enum status status = make_input(probe, p);
    probe->runner =
        (struct runner){.method = s->method,
                        .device = s->device,
                        .of = &probe->of,
                        .gpu = probe->gpu,
                        .accumulator = s->accumulator,
                        .output = s->output,
                        .shape = method_shape(s->method, s->device.kind, s->n, s->shape)};
    if (status == STATUS_OK)
        *opened = probe;
    else
        probe_close(probe);
    return status;
}

struct array probe_input(const struct probe *probe)
{
    return probe->of.in;
}

struct array probe_second(const struct probe *probe)
{
    return probe->of.in2;
}

uint32_t *probe_keys(const struct probe *probe)
{
    return (uint32_t *)probe->of.keys;
}

static enum status open_job(struct probe *probe, struct problem *p)
{
    struct task task = runner_task(&probe->runner);
    return probe->job ? STATUS_OK
                      : gpu_job_open(&probe->job, probe->gpu, probe->spec.method, &task, p);
}

static enum status run_on_gpu(struct probe *probe, const struct array *out, struct problem *p)
{
    struct hash128 digest;
    double time_ns;
    bool array = operation_makes_array(probe->spec.method->operation);
    enum status status = reload(probe, p);
    if (status == STATUS_OK)
        status = open_job(probe, p);
    if (status == STATUS_OK)
        status = gpu_job_start(probe->job, 1, p);
    if (status == STATUS_OK)
        status = gpu_job_wait(probe->job, &digest, &time_ns, p);
    if (status == STATUS_OK && array)
        status = gpu_job_output(probe->job, 0, out, p);
    else if (status == STATUS_OK)
        array_set_bits(out, 0, digest.word[0]);
    return status;
}

enum status probe_run(struct probe *probe, const struct array *out, struct problem *p)
{
    return on_gpu(probe) ? run_on_gpu(probe, out, p) : runner_once(&probe->runner, out, p);
}

enum status probe_repeat(struct probe *probe, uint64_t runs, runner_digest take, void *context,
                         struct problem *p)
{
    enum status status = on_gpu(probe) ? reload(probe, p) : STATUS_OK;
    return status == STATUS_OK ? runner_run(&probe->runner, runs, take, context, p) : status;
}

void probe_close(struct probe *probe)
{
    if (!probe)
        return;
    gpu_job_close(probe->job);
    gpu_release(probe->gpu);
    free(probe->allocation[0]);
    free(probe->allocation[1]);
    free(probe->allocated_keys);
    free(probe);
}
