/* Outputs that are arrays: where they lie, their hashes, and how they come to the host. */
#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "kernels/device/cuda.h"
#include "reference/format/hash_array.h"
#include "tests/gpu/scan_runs.h"
#include "tests/support/samples.h"

/* Random encodings, NaNs among them, `arrays` times n with a gap between. */
static void hold_hashes(enum format f, size_t n, size_t arrays)
{
    size_t stride = (array_bytes(f, n) + 31) / 16 * 16, bytes = arrays * stride;
    char *here = malloc(bytes);
    void *there = NULL, *hashes = NULL;
    struct hash128 got[4];
    uint64_t seed = n;
    cr_assert(here && arrays <= 4);
    for (size_t i = 0; i < bytes; i++)
        here[i] = (char)(sample_next(&seed) % 16 ? seed >> 8 : 0xff);
    cr_assert_eq(cudaMalloc(&there, bytes), cudaSuccess);
    cr_assert_eq(cudaMalloc(&hashes, sizeof got), cudaSuccess);
    cr_assert_eq(cudaMemset(hashes, 0xa5, sizeof got), cudaSuccess);
    cr_assert_eq(cudaMemcpy(there, here, bytes, cudaMemcpyHostToDevice), cudaSuccess);
    cr_assert_eq(hash_enqueue(there, stride, arrays, f, n, hashes, NULL), cudaSuccess);
    cr_assert_eq(cudaMemcpy(got, hashes, sizeof got, cudaMemcpyDeviceToHost), cudaSuccess);
    for (size_t k = 0; k < arrays; k++) {
        struct hash128 want = hash_array(&(struct array){f, n, here + k * stride});
        cr_assert(gpu_scan_same(got[k], want), "%s, n=%zu: array %zu of %zu", format_facts[f].name,
                  n, k, arrays);
    }
    for (size_t k = arrays; k < 4; k++)
        cr_assert_eq(got[k].word[0], UINT64_C(0xa5a5a5a5a5a5a5a5), "a hash too many");
    (void)cudaFree(there);
    (void)cudaFree(hashes);
    free(here);
}

Test(gpu_output, hashes_are_those_of_the_host)
{
    static const size_t lengths[] = {0,    1,    2,     3,     7,      8,     9,
                                     15,   17,   100,   1023,  4095,   4096,  4097,
                                     8191, 8193, 65535, 65537, 100003, 262147};
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            hold_hashes(f, lengths[i], 1 + (i + f) % 4);
        hold_hashes(f, (1 << 24) + 3, 1);
    }
}

/* A hashed array for runs under a sanitizer. */
Test(gpu_output, tour)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 0; n < 20000; n = 3 * n + 1)
            hold_hashes(f, n, 1 + n % 4);
}

/* A scan on this device; NULL where this build has none. */
static const struct method *some_scan(size_t at)
{
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i]->operation == &operation_scan &&
            method_supports(method_registry[i], DEVICE_CUDA, FP32, FP32) && at-- == 0)
            return method_registry[i];
    return NULL;
}

static struct gpu_input *upload(const struct array *a)
{
    struct gpu_input *input = NULL;
    struct problem p = {0};
    cr_assert_eq(gpu_upload(&input, 0, a, 0, &p), STATUS_OK, "%s", p.text);
    return input;
}

/* Every run of a batch has an output of its own, which stays until the next batch is started. */
Test(gpu_output, outputs_of_a_batch)
{
    enum { N = 1000, RUNS = 64 };
    float data[N], first[N], out[N];
    struct array in = {FP32, N, data}, to = {FP32, N, out};
    sample_fill(&in, SAMPLE_NEAR, FP32, 7);
    struct gpu_input *input = upload(&in);
    for (size_t at = 0; some_scan(at); at++) {
        const struct method *m = some_scan(at);
        struct scan_case c = {.in = in, .accumulator = FP32, .output = FP32};
        struct hash128 digest[GPU_BATCH];
        double time_ns[GPU_BATCH];
        struct gpu_job *job = NULL;
        struct problem p = {0};
        cr_assert_eq(gpu_scan_open(&job, input, m, &c, &p), STATUS_OK, "%s", p.text);
        cr_expect_eq(gpu_job_batch(job), RUNS);
        cr_expect_eq(gpu_job_start(job, RUNS + 1, NULL), STATUS_DEVICE);
        cr_expect_eq(gpu_job_output(job, 0, &to, NULL), STATUS_DEVICE, "before all batches");
        cr_assert_eq(gpu_job_start(job, RUNS, &p), STATUS_OK, "%s", p.text);
        cr_assert_eq(gpu_job_start(job, 1, &p), STATUS_OK, "%s", p.text);
        cr_expect_eq(gpu_job_time(job, 1, time_ns, NULL), STATUS_DEVICE, "with batches under way");
        cr_assert_eq(gpu_job_wait(job, digest, time_ns, &p), STATUS_OK, "%s", p.text);
        for (size_t i = 0; i < RUNS; i++) {
            memset(out, 0x5a, sizeof out);
            cr_assert_eq(gpu_job_output(job, i, &to, &p), STATUS_OK, "%s", p.text);
            cr_expect(gpu_scan_same(hash_array(&to), digest[i]), "%s: output %zu", m->name, i);
            memcpy(first, out, i == 0 ? sizeof out : 0);
            cr_expect(m->promise == PROMISE_NONE || memcmp(first, out, sizeof out) == 0,
                      "%s: output %zu", m->name, i);
        }
        cr_expect_eq(gpu_job_output(job, RUNS, &to, NULL), STATUS_DEVICE, "beyond the batch");
        cr_expect_eq(gpu_job_output(job, 0, &(struct array){FP32, N - 1, out}, NULL), STATUS_DEVICE,
                     "of another length");
        cr_assert_eq(gpu_job_wait(job, digest, time_ns, &p), STATUS_OK, "%s", p.text);
        cr_expect_eq(gpu_job_output(job, 1, &to, NULL), STATUS_DEVICE, "beyond a batch of one");

        struct hash128 before = digest[0];
        cr_assert_eq(gpu_job_time(job, 100, time_ns, &p), STATUS_OK, "%s", p.text);
        cr_expect(time_ns[0] > 0 && time_ns[0] < 1e9, "%s: %g ns", m->name, time_ns[0]);
        cr_expect_eq(gpu_job_output(job, 0, &to, NULL), STATUS_DEVICE, "after a timing");
        cr_assert_eq(gpu_job_start(job, 1, &p), STATUS_OK, "%s", p.text);
        cr_assert_eq(gpu_job_wait(job, digest, time_ns, &p), STATUS_OK, "%s", p.text);
        cr_expect(m->promise == PROMISE_NONE || gpu_scan_same(before, digest[0]),
                  "%s: after a timing", m->name);
        gpu_job_close(job);
    }
    gpu_release(input);
}

/* A method is given its output between guards. */
Test(gpu_output, nothing_beyond_is_written)
{
    enum { GUARD = 1 << 16, N = 20001 };
    static const size_t lengths[] = {0, 1, 2, 33, 1000, 8191, 8193, N};
    static double data[N];
    static unsigned char got[GUARD + 8 * N + GUARD];
    unsigned char *there = NULL;
    cr_assert_eq(cudaMalloc((void **)&there, sizeof got), cudaSuccess);
    for (size_t i = 0; i < method_count; i++)
        for (unsigned k = 0; k < ACCUMULATORS * 8; k++) {
            const struct method *m = method_registry[i];
            enum format f = k % ACCUMULATORS;
            struct array in = {f, lengths[k % 8], data};
            if (m->operation != &operation_scan || !method_supports(m, DEVICE_CUDA, f, f))
                continue;
            sample_fill(&in, SAMPLE_NEAR, f, k);
            void *x = NULL;
            size_t bytes = array_bytes(f, in.n);
            cr_assert_eq(cudaMalloc(&x, bytes + 1), cudaSuccess);
            cr_assert_eq(cudaMemcpy(x, data, bytes, cudaMemcpyHostToDevice), cudaSuccess);
            struct shape shape = method_shape(m, DEVICE_CUDA, in.n, (struct shape){0, 0});
            struct operands of = {.in = {f, in.n, x}, .exclusive = k / ACCUMULATORS % 2};
            struct cuda_task task = {.of = &of,
                                     .accumulator = f,
                                     .threads = shape.threads,
                                     .blocks = shape.blocks,
                                     .out = there + GUARD,
                                     .output = f};
            size_t workspace = cuda_registry[i]->workspace(&task);
            cr_assert_eq(cuda_registry[i]->host_workspace(&task), 0, "%s", m->name);
            cr_assert_eq(cudaMalloc(&task.workspace, workspace + 1), cudaSuccess);
            cr_assert_eq(cudaMemset(task.workspace, 0, workspace + 1), cudaSuccess);
            cr_assert_eq(cudaMemset(there, 0xa5, sizeof got), cudaSuccess);
            cr_assert_eq(cuda_registry[i]->enqueue(&task), cudaSuccess, "%s", m->name);
            cr_assert_eq(cudaMemcpy(got, there, sizeof got, cudaMemcpyDeviceToHost), cudaSuccess);
            for (size_t b = 0; b < sizeof got; b++)
                cr_assert(got[b] == 0xa5 || (b >= GUARD && b < GUARD + bytes),
                          "%s, %s, n=%zu: byte %zd of the output is written", m->name,
                          format_facts[f].name, in.n, (ssize_t)b - GUARD);
            (void)cudaFree(x);
            (void)cudaFree(task.workspace);
        }
    (void)cudaFree(there);
}

/* Most of the memory is taken by somebody else. */
Test(gpu_output, too_large_an_output_is_told)
{
    struct array in = {FP32, 1 << 26, calloc(1 << 26, sizeof(float))};
    cr_assert(in.data);
    struct gpu_input *input = upload(&in);
    const struct method *m = some_scan(0);
    size_t available = 0, total = 0, left = (size_t)128 << 20;
    void *taken = NULL;
    cr_assert_eq(cudaMemGetInfo(&available, &total), cudaSuccess);
    cr_assert_eq(cudaMalloc(&taken, available - left), cudaSuccess);
    if (m) {
        struct scan_case c = {.in = in, .accumulator = FP32, .output = FP32};
        struct problem p = {0};
        struct gpu_job *job = NULL;
        enum status status = gpu_scan_open(&job, input, m, &c, &p);
        if (status == STATUS_OK)
            status = gpu_job_start(job, 1, &p);
        gpu_job_close(job);
        cr_expect_eq(status, STATUS_MEMORY);
        cr_expect(strstr(p.text, "device cuda:0: out of memory") && strstr(p.text, m->name), "%s",
                  p.text);
    }
    double time_ns = 0;
    struct problem p = {0};
    cr_expect_eq(gpu_copy(input, 1, &time_ns, &p), STATUS_MEMORY);
    cr_expect(strstr(p.text, "out of memory") && strstr(p.text, "268435456"), "%s", p.text);
    (void)cudaFree(taken);

    p = (struct problem){0};
    cr_expect_eq(gpu_copy(input, 3, &time_ns, &p), STATUS_OK, "%s", p.text);
    cr_expect(time_ns > 1e3, "a copy of 256 MiB took %g ns", time_ns);
    gpu_release(input);
    free(in.data);
}

Test(gpu_output, formats_that_are_not_offered)
{
    float data[4] = {1, 2, 3, 4};
    struct array in = {FP32, 4, data};
    struct gpu_input *input = upload(&in);
    struct gpu_job *job = NULL;
    struct problem p = {0};
    struct task sum = {.out.format = FP32, .accumulator = FP64};
    cr_expect_eq(gpu_job_open(&job, input, method_named("sum/tiled"), &sum, &p), STATUS_DEVICE);
    cr_expect(strstr(p.text, "outputs in fp32"), "%s", p.text);
    if (some_scan(0)) {
        struct scan_case c = {.in = in, .accumulator = FP64, .output = BF16};
        p = (struct problem){0};
        cr_expect_eq(gpu_scan_open(&job, input, some_scan(0), &c, &p), STATUS_DEVICE);
        cr_expect(strstr(p.text, "outputs in bf16"), "%s", p.text);
    }
    gpu_release(input);
}
