#include "kernels/gpu/device.h"

#include <stdio.h>
#include <stdlib.h>

static const char *version_text(char text[16], int version)
{
    snprintf(text, 16, "%d.%d", version / 1000, version % 1000 / 10);
    return text;
}

const char *gpu_build(void)
{
    static char text[16];
    return version_text(text, CUDART_VERSION);
}

const char *gpu_driver(void)
{
    static char text[16];
    int version = 0;
    cudaError_t error = cudaDriverGetVersion(&version);
    if (error != cudaSuccess)
        return cudaGetErrorString(error);
    return version ? version_text(text, version) : "no NVIDIA driver is installed";
}

int gpu_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess)
        return count;
    (void)cudaGetLastError(); /* no driver or no device: not an error of a later call */
    return 0;
}

enum status gpu_failed(int device, const char *doing, cudaError_t error, struct problem *p)
{
    (void)cudaGetLastError();
    return problem(p, STATUS_DEVICE, "device cuda:%d: %s: %s", device, doing,
                   cudaGetErrorString(error));
}

enum status gpu_choose(int device, struct problem *p)
{
    int count = gpu_count();
    if (device < 0 || device >= count)
        return problem(p, STATUS_DEVICE, "device cuda:%d: there is none: found %d GPU%s", device,
                       count, count == 1 ? "" : "s");
    cudaError_t error = cudaSetDevice(device);
    return error == cudaSuccess ? STATUS_OK : gpu_failed(device, "choosing it", error, p);
}

static void write_uuid(char text[64], const cudaUUID_t *uuid)
{
    const unsigned char *u = (const unsigned char *)uuid->bytes;
    snprintf(text, 64, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
             u[14], u[15]);
}

enum status gpu_describe(int device, struct gpu_facts *facts, struct problem *p)
{
    *facts = (struct gpu_facts){0};
    enum status status = gpu_choose(device, p);
    if (status != STATUS_OK)
        return status;
    struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess)
        error = cudaMemGetInfo(&facts->memory_free, &facts->memory_total);
    if (error != cudaSuccess)
        return gpu_failed(device, "asking for its properties", error, p);
    snprintf(facts->name, sizeof facts->name, "%s", properties.name);
    facts->multiprocessors = properties.multiProcessorCount;
    facts->capability_major = properties.major;
    facts->capability_minor = properties.minor;
    facts->l2_bytes = (size_t)properties.l2CacheSize;
    write_uuid(facts->uuid, &properties.uuid);
    return STATUS_OK;
}

enum status gpu_allocate(void **address, int device, size_t bytes, const char *what,
                         struct problem *p)
{
    cudaError_t error = cudaMalloc(address, bytes ? bytes : 1);
    if (error == cudaSuccess)
        return STATUS_OK;
    *address = NULL;
    if (error != cudaErrorMemoryAllocation)
        return gpu_failed(device, what, error, p);
    (void)cudaGetLastError();
    size_t available = 0, total = 0;
    (void)cudaMemGetInfo(&available, &total);
    return problem(p, STATUS_DEVICE,
                   "device cuda:%d: out of memory: %s asks for %zu bytes, %zu of %zu are free",
                   device, what, bytes, available, total);
}

static enum status copy_to(struct gpu_input *in, void *to, const void *from, size_t bytes,
                           struct problem *p)
{
    if (bytes == 0)
        return STATUS_OK;
    enum status status = gpu_choose(in->device, p);
    if (status != STATUS_OK)
        return status;
    cudaError_t error = cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
    /* The copy may return while its last part is on the way, and the streams of jobs do not wait
     * for it. */
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(cudaStreamLegacy);
    return error == cudaSuccess ? STATUS_OK
                                : gpu_failed(in->device, "copying an input to it", error, p);
}

enum { AROUND = 512 };

static cudaError_t surround(void *allocation, const struct array *a, uint8_t byte)
{
    char *data = a->data, *behind = data + array_bytes(a->format, a->n);
    cudaError_t error = cudaMemset(allocation, byte, (size_t)(data - (char *)allocation));
    return error == cudaSuccess ? cudaMemset(behind, byte, AROUND) : error;
}

enum status gpu_surround(struct gpu_input *in, uint8_t byte, struct problem *p)
{
    enum status status = gpu_choose(in->device, p);
    if (status != STATUS_OK)
        return status;
    cudaError_t error = surround(in->allocation, &in->array, byte);
    if (error == cudaSuccess && in->second_allocation)
        error = surround(in->second_allocation, &in->second, byte);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(cudaStreamLegacy);
    return error == cudaSuccess
               ? STATUS_OK
               : gpu_failed(in->device, "filling what lies around an input", error, p);
}

enum status gpu_reload(struct gpu_input *in, const struct array *a, struct problem *p)
{
    return copy_to(in, in->array.data, a->data, array_bytes(a->format, a->n), p);
}

enum status gpu_reload_second(struct gpu_input *in, const struct array *a, struct problem *p)
{
    return copy_to(in, in->second.data, a->data, array_bytes(a->format, a->n), p);
}

enum status gpu_upload_keys(struct gpu_input *in, const uint32_t *keys, struct problem *p)
{
    size_t bytes = in->array.n * sizeof *keys;
    enum status status = gpu_choose(in->device, p);
    if (status == STATUS_OK && !in->keys)
        status = gpu_allocate((void **)&in->keys, in->device, bytes, "keys", p);
    return status == STATUS_OK ? copy_to(in, in->keys, keys, bytes, p) : status;
}

enum status gpu_upload_second(struct gpu_input *in, const struct array *a, size_t offset,
                              struct problem *p)
{
    size_t bytes = array_bytes(a->format, a->n), width = (size_t)format_facts[a->format].bytes;
    if (a->format != in->array.format || a->n != in->array.n || in->second_allocation)
        return problem(p, STATUS_DEVICE, "device cuda:%d: a second array of %zu elements of %s",
                       in->device, a->n, format_facts[a->format].name);
    size_t ahead = AROUND + offset * width;
    enum status status = gpu_choose(in->device, p);
    if (status == STATUS_OK)
        status = gpu_allocate(&in->second_allocation, in->device, ahead + bytes + AROUND,
                              "a second input", p);
    if (status != STATUS_OK)
        return status;
    in->second = (struct array){a->format, a->n, (char *)in->second_allocation + ahead};
    return gpu_reload_second(in, a, p);
}

enum status gpu_upload(struct gpu_input **input, int device, const struct array *a, size_t offset,
                       struct problem *p)
{
    *input = NULL;
    size_t bytes = array_bytes(a->format, a->n), width = (size_t)format_facts[a->format].bytes;
    if (bytes > SIZE_MAX - 2 * AROUND || offset > (SIZE_MAX - bytes - 2 * AROUND) / width)
        return problem(p, STATUS_DEVICE, "device cuda:%d: an input of %zu elements is too large",
                       device, a->n);
    enum status status = gpu_choose(device, p);
    if (status != STATUS_OK)
        return status;
    struct gpu_input *in = calloc(1, sizeof *in);
    if (!in)
        return problem(p, STATUS_DEVICE, "no memory for the record of an input");
    in->device = device;
    size_t ahead = AROUND + offset * width;
    status = gpu_allocate(&in->allocation, device, ahead + bytes + AROUND, "an input", p);
    in->array = (struct array){a->format, a->n, (char *)in->allocation + ahead};
    if (status == STATUS_OK)
        status = gpu_reload(in, a, p);
    if (status == STATUS_OK)
        *input = in;
    else
        gpu_release(in);
    return status;
}

void gpu_release(struct gpu_input *input)
{
    if (!input)
        return;
    if (input->allocation && cudaSetDevice(input->device) == cudaSuccess) {
        (void)cudaFree(input->allocation);
        (void)cudaFree(input->second_allocation);
        (void)cudaFree(input->keys);
        (void)cudaFree(input->copy);
    }
    (void)cudaGetLastError();
    free(input);
}
