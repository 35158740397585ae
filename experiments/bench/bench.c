#include "experiments/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reference/base/grow.h"
#include "experiments/inputs/heads.h"
#include "experiments/inputs/mask.h"
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
        status = gpu_upload_second(b->gpu, &b->second, 0, p);
    if (status == STATUS_OK && b->gpu_sample)
        status = gpu_upload_second(b->gpu_sample, &sample, 0, p);
    if (status != STATUS_OK) {
        free(b->second.data);
        b->second.data = NULL;
    }
    return status;
}

enum status bench_input_keys(struct bench_input *b, const struct keys *keys, size_t bins,
                             uint64_t seed, struct problem *p)
{
    size_t n = b->array.n;
    enum status status = keys_fit(keys, n, bins, p);
    if (status != STATUS_OK)
        return status;
    b->keys = keys;
    b->bins = bins;
    b->key = malloc((n + 1) * sizeof *b->key);
    if (!b->key)
        return problem(p, STATUS_DEVICE, "%s: out of memory for %zu keys", b->name, n);
    status = keys_fill(keys, b->key, n, bins, seed, p);
    if (status == STATUS_OK && b->gpu)
        status = gpu_upload_keys(b->gpu, b->key, p);
    return status == STATUS_OK && b->gpu_sample ? gpu_upload_keys(b->gpu_sample, b->key, p)
                                                : status;
}

enum status bench_input_output(struct bench_input *b, enum format f, size_t n, struct problem *p)
{
    if (b->output.data && array_bytes(b->output.format, b->output.n) >= array_bytes(f, n))
        return STATUS_OK;
    free(b->output.data);
    return memory_array(&b->output, f, n, "the outputs of a benchmark", p);
}

enum status bench_input_heads(struct bench_input *b, size_t segment, const uint8_t **flags,
                              struct problem *p)
{
    *flags = NULL;
    if (segment == 0)
        return STATUS_OK;
    for (size_t i = 0; i < b->heads_count; i++)
        if (b->heads[i].segment == segment)
            *flags = b->heads[i].flags;
    if (*flags)
        return STATUS_OK;
    if (!grow(&b->heads, b->heads_count, sizeof *b->heads))
        return problem(p, STATUS_DEVICE, "out of memory for head flags");
    struct bench_heads *made = &b->heads[b->heads_count];
    made->segment = segment;
    enum status status = heads_make(&made->flags, b->array.n, segment, p);
    if (status == STATUS_OK)
        *flags = b->heads[b->heads_count++].flags;
    return status;
}

enum status bench_input_mask(struct bench_input *b, size_t keep, const struct bench_mask **mask,
                             struct problem *p)
{
    struct bench_mask *m = &b->mask;
    *mask = m;
    if (m->flags && m->keep == keep)
        return STATUS_OK;
    free(m->flags);
    *m = (struct bench_mask){.keep = keep};
    enum status status = mask_make(&m->flags, &m->kept, b->array.n, keep, 1, p);
    for (size_t i = 0; status == STATUS_OK && i < b->sample.n; i++)
        m->sample_kept += m->flags[i];
    return status;
}

void bench_input_close(struct bench_input *b)
{
    if (b->gpu)
        gpu_release(b->gpu);
    if (b->gpu_sample)
        gpu_release(b->gpu_sample);
    for (size_t i = 0; i < b->heads_count; i++)
        free(b->heads[i].flags);
    free(b->heads);
    free(b->mask.flags);
    free(b->output.data);
    free(b->second.data);
    free(b->key);
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

unsigned bench_threads(const struct method *m, struct shape shape)
{
    return method_threaded(m) && shape.threads ? shape.threads : 1;
}

bool bench_is_vendor(const struct method *m)
{
    return strcmp(m->name, "cub/sum") == 0 || strcmp(m->name, "cub/scan") == 0 ||
           strcmp(m->name, "cub/select") == 0 || strcmp(m->name, "cub/reduce_by_key") == 0 ||
           strcmp(m->name, "cublas/dot_product") == 0 || strcmp(m->name, "cublas/norm") == 0;
}

bool bench_writes(const struct bench_row *row)
{
    const struct operation *o = row->method ? row->method->operation : NULL;
    return o && o->array && o != &operation_rows;
}

double bench_bytes(const struct bench_input *in, const struct bench_row *row)
{
    double input = (double)array_bytes(in->array.format, in->array.n);
    if (row->kind == BENCH_COPY || row->kind == BENCH_READ_BOTH ||
        (row->method && row->method->operation->inputs == 2))
        return 2 * input;
    if (!row->method || !row->method->operation->array)
        return input;
    const struct operation *o = row->method->operation;
    double n = (double)in->array.n, flags = row->setting.segment > 0 || o->mask ? n : 0;
    double keys = o->keys ? n * sizeof *in->key : 0;
    size_t outputs = o->outputs(in->array.n, o->keys ? in->bins : row->setting.bins);
    return input + flags + keys + (double)array_bytes(row->setting.output, outputs);
}

double bench_of_copy(const struct bench_input *in, const struct bench_row *row)
{
    struct bench_row copy = {.kind = BENCH_COPY};
    if (!(row->copy_ns > 0 && row->time.median_ns > 0))
        return 0;
    return bench_bytes(in, row) / row->time.median_ns / (bench_bytes(in, &copy) / row->copy_ns);
}
