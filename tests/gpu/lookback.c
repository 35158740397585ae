/* Scans on a GPU that is busy: none waits for ever, and none gives other bits. Those that wait, end
 * by an alarm. */
#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernels/device/cuda.h"
#include "kernels/scan/tiled.h"
#include "reference/format/hash_array.h"
#include "tests/gpu/load_runs.h"
#include "tests/gpu/scan_runs.h"
#include "tests/support/samples.h"

static void watch(void)
{
    alarm(240);
}

TestSuite(gpu_lookback, .init = watch);

static char why[WHY];

struct subject {
    struct array in;
    struct gpu_input *input;
};

static struct subject subject(enum format s, size_t n, uint64_t seed)
{
    struct subject on = {{s, n, malloc(array_bytes(s, n))}, NULL};
    struct problem p = {0};
    cr_assert(on.in.data);
    sample_fill(&on.in, SAMPLE_NEAR, FP32, seed);
    cr_assert_eq(gpu_upload(&on.input, 0, &on.in, 0, &p), STATUS_OK, "%s", p.text);
    return on;
}

static void drop(struct subject *on)
{
    gpu_release(on->input);
    free(on->in.data);
}

/* One thread over all elements, or one kernel for each power of two, shows nothing here. */
static const struct method *scan_at(size_t i, enum format s, enum format f)
{
    const struct method *m = method_registry[i];
    bool wanted = m->operation == &operation_scan && strcmp(m->name, "scan/serial") != 0 &&
                  strcmp(m->name, "scan/hillis_steele") != 0;
    return wanted && method_supports(m, DEVICE_CUDA, s, f) ? m : NULL;
}

/* 200 runs; how many distinct outputs an order that is not fixed has is told, not judged. */
Test(gpu_lookback, runs_repeat)
{
    enum { RUNS = 200 };
    static const enum format pair[][2] = {{FP32, FP32}, {FP16, FP32}, {FP64, FP64}, {BF16, BF16}};
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) {
        struct subject on = subject(pair[k][0], (1 << 20) + 5, k);
        for (size_t i = 0; i < method_count; i++) {
            struct hash128 digest[RUNS];
            const struct method *m = scan_at(i, pair[k][0], pair[k][1]);
            struct scan_case c = {.in = on.in, .accumulator = pair[k][1], .output = pair[k][1]};
            if (!m)
                continue;
            cr_assert(gpu_scan_run(m, &c, on.input, RUNS, digest, NULL, why), "%s", why);
            size_t others = 0;
            for (size_t r = 1; r < RUNS; r++)
                others += !gpu_scan_same(digest[r], digest[0]);
            cr_expect(others == 0 || m->promise == PROMISE_NONE, "%s, %s: %zu of %d runs differ",
                      m->name, format_facts[pair[k][1]].name, others, RUNS);
            if (others > 0)
                cr_log_info("%s, %s: %zu of %d runs differ from the first", m->name,
                            format_facts[pair[k][1]].name, others, RUNS);
        }
        drop(&on);
    }
}

/* 2^14 tiles of scan/tiled, several times what is on the device at once. */
Test(gpu_lookback, more_tiles_than_fit)
{
    struct subject on = subject(FP16, 1 << 26, 1);
    uint8_t *heads = calloc(on.in.n, 1);
    cr_assert(heads);
    for (size_t i = 0; i < on.in.n; i += 10000019)
        heads[i] = 1;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = scan_at(i, FP16, FP32);
        struct scan_case c = {.in = on.in, .accumulator = FP32, .output = FP16};
        if (!m)
            continue;
        c.heads = m->segmented ? heads : NULL;
        cr_expect(gpu_scan_hold(m, &c, on.input, 3, why), "%s", why);
    }
    drop(&on);
    free(heads);
}

/* --- under load --- */

enum load { LOAD_READS, LOAD_FULL, LOAD_ONE_PLACE, LOAD_FEW_PLACES, LOADS };
static const char *const load_name[LOADS] = {"reads by many blocks", "all places taken",
                                             "all places but one", "all places but five"};

struct other {
    cudaStream_t stream;
    void *sink, *data; /* on the device; of `bytes` bytes */
    size_t bytes;
};

/* Some tens of milliseconds of other work. */
static int enqueue_load(const struct other *o, enum load kind)
{
    static const unsigned spare[LOADS] = {[LOAD_ONE_PLACE] = 1, [LOAD_FEW_PLACES] = 5};
    int error = cudaSuccess;
    if (kind == LOAD_READS)
        for (int i = 0; i < 200 && error == cudaSuccess; i++)
            error = raw_read_enqueue(o->data, o->bytes, o->sink, o->stream);
    else
        for (int i = 0; i < 10 && error == cudaSuccess; i++)
            error = gpu_load_enqueue(spare[kind], 3000000, o->stream);
    return error;
}

/* A batch of runs on an idle device, then one while the load is there. Memory is had beforehand:
 * the device would wait for the load to give or free it. */
static bool run_under_load(struct gpu_job *job, const struct other *o, enum load kind, size_t runs,
                           struct hash128 *digest, const struct array *out, struct problem *p)
{
    double time_ns[GPU_BATCH];
    if (gpu_job_start(job, runs, p) != STATUS_OK || gpu_job_wait(job, digest, time_ns, p) ||
        gpu_job_start(job, runs, p) != STATUS_OK || gpu_job_wait(job, digest, time_ns, p))
        return false;
    cr_assert_eq(enqueue_load(o, kind), cudaSuccess, "%s", load_name[kind]);
    bool fine = gpu_job_start(job, runs, p) == STATUS_OK;
    bool busy = cudaStreamQuery(o->stream) == cudaErrorNotReady;
    cr_expect(busy, "%s: the load was over before the scan began", load_name[kind]);
    fine = fine && gpu_job_wait(job, digest, time_ns, p) == STATUS_OK &&
           gpu_job_output(job, runs - 1, out, p) == STATUS_OK;
    cr_assert_eq(cudaStreamSynchronize(o->stream), cudaSuccess);
    return fine;
}

/* Under load it gives its twin's bits, or outputs within their bound. */
static void hold_under_load(const struct method *m, const struct subject *on, const struct other *o)
{
    struct scan_case c = {.in = on->in, .accumulator = FP32, .output = FP32};
    struct array out = {FP32, on->in.n, malloc(array_bytes(FP32, on->in.n))};
    struct hash128 want, digest[GPU_BATCH];
    struct problem p = {0};
    struct gpu_job *job = NULL;
    cr_assert(out.data);
    cr_assert(!gpu_scan_has_twin(m) || gpu_scan_twin(m, &c, &want, NULL, why), "%s", why);
    cr_assert_eq(gpu_scan_open(&job, on->input, m, &c, &p), STATUS_OK, "%s", p.text);
    size_t runs = gpu_job_batch(job) < 6 ? gpu_job_batch(job) : 6;
    for (enum load kind = 0; kind < LOADS; kind++) {
        const char *under = load_name[kind];
        bool fine = run_under_load(job, o, kind, runs, digest, &out, &p);
        cr_assert(fine, "%s under load, %s: %s", m->name, under, p.text);
        for (size_t i = 0; i < runs && gpu_scan_has_twin(m); i++)
            cr_expect(gpu_scan_same(digest[i], want), "%s under load, %s: run %zu gives other bits",
                      m->name, under, i);
        cr_expect(gpu_scan_has_twin(m) || gpu_scan_within_bound(m, &c, out.data, why),
                  "%s; under load, %s", why, under);
    }
    gpu_job_close(job);
    free(out.data);
}

Test(gpu_lookback, under_load)
{
    struct subject on = subject(FP32, (1 << 23) + 77, 3), large = subject(FP32, 1 << 26, 4);
    struct other o = {.bytes = array_bytes(FP32, large.in.n)};
    cr_assert_eq(cudaStreamCreateWithFlags(&o.stream, cudaStreamNonBlocking), cudaSuccess);
    cr_assert_eq(cudaMalloc(&o.sink, 8), cudaSuccess);
    cr_assert_eq(cudaMalloc(&o.data, o.bytes), cudaSuccess);
    cr_assert_eq(cudaMemcpy(o.data, large.in.data, o.bytes, cudaMemcpyHostToDevice), cudaSuccess);
    for (size_t i = 0; i < method_count; i++)
        if (scan_at(i, FP32, FP32))
            hold_under_load(scan_at(i, FP32, FP32), &on, &o);
    drop(&on);
    drop(&large);
}

/* Each has its own stream and workspace, and its own input. */
static void hold_two(const struct method *m, const struct subject on[2])
{
    struct gpu_job *job[2] = {NULL, NULL};
    struct hash128 want[2], digest[GPU_BATCH];
    double time_ns[GPU_BATCH];
    struct problem p = {0};
    bool fine = true;
    for (int k = 0; k < 2; k++) {
        struct scan_case c = {.in = on[k].in, .accumulator = FP32, .output = FP32};
        cr_assert(gpu_scan_twin(m, &c, &want[k], NULL, why), "%s", why);
        fine = fine && gpu_scan_open(&job[k], on[k].input, m, &c, &p) == STATUS_OK;
    }
    size_t room = fine ? gpu_job_batch(job[0]) : 0, runs = room < 10 ? room : 10;
    for (int k = 0; fine && k < 4; k++)
        fine = gpu_job_start(job[k % 2], runs, &p) == STATUS_OK;
    for (int k = 0; fine && k < 4; k++) {
        fine = gpu_job_wait(job[k % 2], digest, time_ns, &p) == STATUS_OK;
        for (size_t i = 0; fine && i < runs; i++)
            cr_expect(gpu_scan_same(digest[i], want[k % 2]), "%s beside another job of it: run %zu",
                      m->name, i);
    }
    gpu_job_close(job[0]);
    gpu_job_close(job[1]);
    cr_assert(fine, "%s: %s", m->name, p.text);
}

Test(gpu_lookback, two_jobs_at_once)
{
    struct subject on[2] = {subject(FP32, (1 << 22) + 1, 5), subject(FP32, (1 << 21) + 99, 6)};
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = scan_at(i, FP32, FP32);
        if (m && gpu_scan_has_twin(m))
            hold_two(m, on);
    }
    drop(&on[0]);
    drop(&on[1]);
}
