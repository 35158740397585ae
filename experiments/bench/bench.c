#include "experiments/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reference/base/grow.h"
#include "experiments/system/machine.h"
#include "experiments/system/memory.h"

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

size_t bench_cache(struct device d)
{
    struct gpu_facts facts;
    if (d.kind == DEVICE_CPU)
        return cpu_cache();
    return gpu_describe(d.index, &facts, NULL) == STATUS_OK ? facts.l2_bytes : 0;
}

/* Readies it for the array that is in it. */
static enum status place(struct bench_input *b, struct problem *p)
{
    enum status status = STATUS_OK;
    size_t n = b->array.n, share = sample_share[b->device.kind];
    b->sample = b->array;
    if (n / share >= SAMPLE_LEAST)
        b->sample.n = n / share;
    b->in_cache = array_bytes(b->array.format, n) <= bench_cache(b->device);
    if (b->device.kind == DEVICE_CUDA)
        status = gpu_upload(&b->gpu, b->device.index, &b->array, 0, p);
    if (status == STATUS_OK && b->device.kind == DEVICE_CUDA)
        status = gpu_upload(&b->gpu_sample, b->device.index, &b->sample, 0, p);
    return status;
}

enum status bench_input_open(struct bench_input *b, struct device device, const struct input *in,
                             uint64_t seed, enum format storage, size_t n, struct problem *p)
{
    *b = (struct bench_input){.device = device};
    input_name(in, b->name);
    enum status status = memory_array(&b->array, storage, n, b->name, p);
    if (status == STATUS_OK)
        status = input_generate(in, &b->array, seed, 0, p);
    return status == STATUS_OK ? place(b, p) : status;
}

enum status bench_input_borrow(struct bench_input *b, struct device device, const char *name,
                               const struct array *a, struct problem *p)
{
    *b = (struct bench_input){.device = device, .array = *a, .borrowed = true};
    snprintf(b->name, sizeof b->name, "%s", name);
    return place(b, p);
}

enum status bench_input_second(struct bench_input *b, struct problem *p)
{
    size_t n = b->array.n, width = (size_t)format_facts[b->array.format].bytes;
    if (b->second.data)
        return STATUS_OK;
    enum status status = memory_array(&b->second, b->array.format, n, b->name, p);
    if (status != STATUS_OK || n == 0)
        return status;
    memcpy(b->second.data, (const char *)b->array.data + width, (n - 1) * width);
    memcpy((char *)b->second.data + (n - 1) * width, b->array.data, width);
    struct array sample = {b->array.format, b->sample.n, b->second.data};
    if (b->gpu)
        status = gpu_give(b->gpu, &(struct operands){.in2 = b->second}, OPERAND_IN2, 0, p);
    if (status == STATUS_OK && b->gpu_sample)
        status = gpu_give(b->gpu_sample, &(struct operands){.in2 = sample}, OPERAND_IN2, 0, p);
    if (status != STATUS_OK) {
        free(b->second.data);
        b->second.data = NULL;
    }
    return status;
}

enum status bench_input_output(struct bench_input *b, enum format f, size_t n, struct problem *p)
{
    if (b->output.data && array_bytes(b->output.format, b->output.n) >= array_bytes(f, n))
        return STATUS_OK;
    free(b->output.data);
    return memory_array(&b->output, f, n, "the outputs of a benchmark", p);
}

/* How outputs are rounded, and what they cover, makes no difference to what is read, but that C of
 * a matrix product is stored as D is. */
static struct setting what_is_read(const struct operation *o, const struct setting *s)
{
    struct setting read = *s;
    if (!operation_has(o, OPERAND_C))
        read.output = 0;
    read.exclusive = false;
    read.product = PRODUCT_NONE;
    read.chip = NULL;
    read.promote = 0;
    read.heuristic = (struct heuristic){0};
    return read;
}

static enum status make(struct bench_input *b, const struct bench_made *wanted, struct problem *p)
{
    if (!grow(&b->made, b->made_count, sizeof *b->made))
        return problem(p, STATUS_MEMORY, "out of memory for what methods read");
    struct bench_made *made = &b->made[b->made_count];
    bool whole = wanted->n == b->array.n, part = wanted->n == b->sample.n;
    *made = *wanted;
    made->of.of.in = whole ? b->array : b->sample;
    enum status status = setting_make(&made->of, made->operation, &made->setting, 1, p);
    b->made_count += status == STATUS_OK;
    if (status == STATUS_OK && made->of.keys && b->gpu && whole)
        status = gpu_give(b->gpu, &made->of.of, OPERAND_KEYS, 0, p);
    return status == STATUS_OK && made->of.keys && b->gpu_sample && part
               ? gpu_give(b->gpu_sample, &made->of.of, OPERAND_KEYS, 0, p)
               : status;
}

enum status bench_input_operands(struct bench_input *b, const struct bench_row *row, bool sample,
                                 struct operands *of, struct problem *p)
{
    const struct operation *o = row->method->operation;
    size_t n = sample ? b->sample.n : b->array.n, i = 0;
    struct bench_made wanted = {.operation = o, .setting = what_is_read(o, &row->setting), .n = n};
    if (n < b->array.n)
        wanted.setting = setting_sample(o, &wanted.setting, n);
    while (i < b->made_count && !(b->made[i].operation == o && b->made[i].n == n &&
                                  setting_equal(&b->made[i].setting, &wanted.setting)))
        i++;
    enum status status = i < b->made_count ? STATUS_OK : make(b, &wanted, p);
    if (status != STATUS_OK)
        return status;
    *of = b->made[i].of.of;
    setting_put(of, &row->setting);
    return STATUS_OK;
}

void bench_input_forget(struct bench_input *b)
{
    for (size_t i = 0; i < b->made_count; i++)
        setting_free(&b->made[i].of);
    free(b->made);
    b->made = NULL;
    b->made_count = 0;
}

void bench_input_close(struct bench_input *b)
{
    if (b->gpu)
        gpu_release(b->gpu);
    if (b->gpu_sample)
        gpu_release(b->gpu_sample);
    bench_input_forget(b);
    free(b->output.data);
    free(b->second.data);
    if (!b->borrowed)
        free(b->array.data);
    *b = (struct bench_input){0};
}

const char *bench_name(const struct bench_row *row)
{
    static const char *const yardstick[] = {
        [BENCH_READ] = "raw read", [BENCH_READ_BOTH] = "raw read of both", [BENCH_COPY] = "copy"};
    return row->method ? row->method->name : yardstick[row->kind];
}

/* A foreign subject that is told no number is taken to use all processors. */
unsigned bench_threads(const struct method *m, struct shape shape)
{
    unsigned all = machine_processors();
    if (m->foreign && m->shape_read[DEVICE_CPU] & SHAPE_THREADS)
        return shape.threads ? shape.threads : all < THREADS_MAX ? all : THREADS_MAX;
    return method_threaded(m) && shape.threads ? shape.threads : 1;
}

bool bench_writes(const struct bench_row *row)
{
    const struct operation *o = row->method ? row->method->operation : NULL;
    return o && operation_makes_array(o) && !operation_batches(o);
}

double bench_bytes(const struct bench_input *in, const struct bench_row *row)
{
    double input = (double)array_bytes(in->array.format, in->array.n);
    if (row->kind == BENCH_COPY || row->kind == BENCH_READ_BOTH ||
        (row->method && operation_has(row->method->operation, OPERAND_IN2)))
        return 2 * input;
    if (!row->method || !operation_makes_array(row->method->operation))
        return input;
    const struct operation *o = row->method->operation;
    size_t outputs = o->outputs(in->array.n, row->setting.bins);
    return input + setting_bytes(o, &row->setting, in->array.n) +
           (double)array_bytes(row->setting.output, outputs);
}

double bench_of_copy(const struct bench_input *in, const struct bench_row *row)
{
    struct bench_row copy = {.kind = BENCH_COPY};
    if (!(row->copy_ns > 0 && row->time.median_ns > 0))
        return 0;
    return bench_bytes(in, row) / row->time.median_ns / (bench_bytes(in, &copy) / row->copy_ns);
}
