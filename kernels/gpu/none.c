/* GPUs in a build without CUDA: there are none, but for the processes of others. */
#include <dlfcn.h>

#include "kernels/gpu/gpu.h"
#include "kernels/gpu/device_load.h"

static enum status absent(struct problem *p)
{
    return problem(p, STATUS_DEVICE, "device cuda: this program was built without CUDA");
}

const char *gpu_build(void)
{
    return NULL;
}

const char *gpu_driver(void)
{
    return "not looked for: built without CUDA";
}

int gpu_count(bool elsewhere)
{
    static _Atomic int seen = -1; /* the driver stays loaded: it does not like to be unloaded */
    int count = 0;
    if (!elsewhere)
        return 0;
    if (seen >= 0)
        return seen;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    int (*init)(unsigned) = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : NULL;
    int (*get)(int *) = driver ? (int (*)(int *))dlsym(driver, "cuDeviceGetCount") : NULL;
    if (!init || !get || init(0) != 0 || get(&count) != 0)
        count = 0;
    seen = count;
    return count;
}

enum status gpu_describe(int device, struct gpu_facts *facts, struct problem *p)
{
    (void)device, (void)facts;
    return absent(p);
}

enum status gpu_upload(struct gpu_input **input, int device, const struct array *a, size_t offset,
                       struct problem *p)
{
    (void)input, (void)device, (void)a, (void)offset;
    return absent(p);
}

enum status gpu_surround(struct gpu_input *input, uint8_t byte, struct problem *p)
{
    (void)input, (void)byte;
    return absent(p);
}

enum status gpu_give(struct gpu_input *input, const struct operands *of, enum operand which,
                     size_t offset, struct problem *p)
{
    (void)input, (void)of, (void)which, (void)offset;
    return absent(p);
}

void gpu_release(struct gpu_input *input)
{
    (void)input;
}

enum status gpu_job_open(struct gpu_job **job, const struct gpu_input *input,
                         const struct method *m, const struct task *t, struct problem *p)
{
    (void)job, (void)input, (void)m, (void)t;
    return absent(p);
}

size_t gpu_job_batch(const struct gpu_job *job)
{
    (void)job;
    return 1;
}

enum status gpu_job_start(struct gpu_job *job, size_t runs, struct problem *p)
{
    (void)job, (void)runs;
    return absent(p);
}

enum status gpu_job_wait(struct gpu_job *job, struct hash128 *digest, double *time_ns,
                         struct problem *p)
{
    (void)job, (void)digest, (void)time_ns;
    return absent(p);
}

enum status gpu_job_output(struct gpu_job *job, size_t i, const struct array *to, struct problem *p)
{
    (void)job, (void)i, (void)to;
    return absent(p);
}

enum status gpu_job_time(struct gpu_job *job, size_t runs, double *time_ns, struct problem *p)
{
    (void)job, (void)runs, (void)time_ns;
    return absent(p);
}

size_t gpu_job_memory(const struct gpu_job *job)
{
    (void)job;
    return 0;
}

enum status gpu_job_kernels(struct gpu_job *job, gpu_kernel *take, void *context, struct problem *p)
{
    (void)job, (void)take, (void)context;
    return absent(p);
}

void gpu_job_close(struct gpu_job *job)
{
    (void)job;
}

enum status gpu_raw_read(const struct gpu_input *input, unsigned arrays, size_t runs,
                         double *time_ns, struct problem *p)
{
    (void)arrays, (void)input, (void)runs, (void)time_ns;
    return absent(p);
}

enum status gpu_copy(struct gpu_input *input, size_t runs, double *time_ns, struct problem *p)
{
    (void)input, (void)runs, (void)time_ns;
    return absent(p);
}

enum status gpu_load_open(struct gpu_load **load, int device, struct problem *p)
{
    (void)load, (void)device;
    return absent(p);
}

enum status gpu_load_round(struct gpu_load *load, struct problem *p)
{
    (void)load;
    return absent(p);
}

void gpu_load_close(struct gpu_load *load)
{
    (void)load;
}
