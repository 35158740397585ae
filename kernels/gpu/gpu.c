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

int gpu_count(bool elsewhere)
{
    (void)elsewhere; /* both are this driver's */
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess)
        return count;
    (void)cudaGetLastError(); /* no driver or no device: not an error of a later call */
    return 0;
}

enum status gpu_failed(int device, const char *doing, cudaError_t error, struct problem *p)
{
    (void)cudaGetLastError();
    if (p && p->status == STATUS_OK)
        p->unsupported = error == cudaErrorNotSupported;
    return problem(p, error == cudaErrorMemoryAllocation ? STATUS_MEMORY : STATUS_DEVICE,
                   "device cuda:%d: %s: %s", device, doing, cudaGetErrorString(error));
}

enum status gpu_choose(int device, struct problem *p)
{
    int count = gpu_count(false);
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
    return problem(p, STATUS_MEMORY,
                   "device cuda:%d: out of memory: %s asks for %zu bytes, %zu of %zu are free",
                   device, what, bytes, available, total);
}

enum { AROUND = 512 };

static cudaError_t surround(const struct gpu_input *in, enum operand which, uint8_t byte)
{
    char *begin = in->allocation[which], *data = (char *)operand_data(&in->of, which);
    char *behind = data + operand_bytes(&in->of, which);
    cudaError_t error = cudaMemset(begin, byte, (size_t)(data - begin));
    return error == cudaSuccess ? cudaMemset(behind, byte, AROUND) : error;
}

enum status gpu_surround(struct gpu_input *in, uint8_t byte, struct problem *p)
{
    enum status status = gpu_choose(in->device, p);
    if (status != STATUS_OK)
        return status;
    cudaError_t error = cudaSuccess;
    for (enum operand k = 0; k < OPERANDS && error == cudaSuccess; k++)
        if (in->allocation[k])
            error = surround(in, k, byte);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(cudaStreamLegacy);
    return error == cudaSuccess
               ? STATUS_OK
               : gpu_failed(in->device, "filling what lies around an input", error, p);
}

/* Memory for it, in the middle of what surrounds it. */
static enum status make_operand(struct gpu_input *in, enum operand which, size_t offset,
                                struct problem *p)
{
    size_t bytes = operand_bytes(&in->of, which), width = operand_width(&in->of, which);
    if (bytes > SIZE_MAX - 2 * AROUND || offset > (SIZE_MAX - bytes - 2 * AROUND) / width)
        return problem(p, STATUS_MEMORY, "device cuda:%d: an input of %zu elements is too large",
                       in->device, in->of.in.n);
    size_t ahead = AROUND + offset * width;
    enum status status = gpu_allocate(&in->allocation[which], in->device, ahead + bytes + AROUND,
                                      operand_name[which], p);
    if (status == STATUS_OK)
        operand_set(&in->of, which, (char *)in->allocation[which] + ahead);
    return status;
}

enum status gpu_give(struct gpu_input *in, const struct operands *of, enum operand which,
                     size_t offset, struct problem *p)
{
    if (which == OPERAND_C && !in->allocation[which])
        in->of.c = (struct array){of->c.format, of->c.n, NULL};
    size_t bytes = operand_bytes(&in->of, which);
    if (which == OPERAND_C && (of->c.format != in->of.c.format || of->c.n != in->of.c.n))
        return problem(p, STATUS_DEVICE, "device cuda:%d: another C, of %zu elements of %s",
                       in->device, of->c.n, format_facts[of->c.format].name);
    if (which == OPERAND_IN2 && (of->in2.format != in->of.in.format || of->in2.n != in->of.in.n))
        return problem(p, STATUS_DEVICE, "device cuda:%d: a second array of %zu elements of %s",
                       in->device, of->in2.n, format_facts[of->in2.format].name);
    enum status status = gpu_choose(in->device, p);
    if (status == STATUS_OK && !in->allocation[which])
        status = make_operand(in, which, which <= OPERAND_IN2 ? offset : 0, p);
    if (status != STATUS_OK || bytes == 0)
        return status;
    cudaError_t error = cudaMemcpy((void *)operand_data(&in->of, which), operand_data(of, which),
                                   bytes, cudaMemcpyHostToDevice);
    /* The copy may return while its last part is on the way, and the streams of jobs do not wait
     * for it. */
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(cudaStreamLegacy);
    return error == cudaSuccess ? STATUS_OK
                                : gpu_failed(in->device, "copying an input to it", error, p);
}

enum status gpu_upload(struct gpu_input **input, int device, const struct array *a, size_t offset,
                       struct problem *p)
{
    *input = NULL;
    struct gpu_input *in = calloc(1, sizeof *in);
    if (!in)
        return problem(p, STATUS_MEMORY, "no memory for the record of an input");
    *in = (struct gpu_input){.device = device, .of.in = {a->format, a->n, NULL}};
    enum status status = gpu_give(in, &(struct operands){.in = *a}, OPERAND_IN, offset, p);
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
    if (input->allocation[OPERAND_IN] && cudaSetDevice(input->device) == cudaSuccess) {
        for (enum operand k = 0; k < OPERANDS; k++)
            (void)cudaFree(input->allocation[k]);
        (void)cudaFree(input->copy);
    }
    (void)cudaGetLastError();
    free(input);
}
