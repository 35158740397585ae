/* A GPU's load is there while sums run, leaves room for them, and does not change their bits. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "experiments/system/clock.h"
#include "kernels/gpu/gpu.h"
#include "kernels/gpu/load.h"

enum { N = 1 << 20, RUNS = 200 };

/* Runs the sum in batches until the load has gone round `rounds` times more; false after 20 s. */
static bool run_beside(struct gpu_job *job, const struct load *load, uint64_t rounds,
                       struct hash128 due)
{
    static struct hash128 digest[RUNS];
    static double time_ns[RUNS];
    struct problem p = {0};
    uint64_t until = load_rounds(load) + rounds, begin = clock_ns();
    while (load_rounds(load) < until && clock_ns() - begin < UINT64_C(20000000000)) {
        bool fine = gpu_job_start(job, RUNS, &p) == STATUS_OK &&
                    gpu_job_wait(job, digest, time_ns, &p) == STATUS_OK;
        cr_assert(fine, "%s", p.text);
        for (size_t i = 0; i < RUNS; i++)
            cr_assert_eq(digest[i].word[0], due.word[0], "run %zu under load", i);
    }
    return load_rounds(load) >= until;
}

Test(gpu_load, sums_run_beside_it)
{
    struct problem p = {0};
    struct array a = {FP32, N, calloc(N, sizeof(float))};
    struct gpu_input *input = NULL;
    struct gpu_job *job = NULL;
    struct hash128 due;
    double idle_ns;
    cr_assert(a.data);
    for (size_t i = 0; i < N; i++)
        ((float *)a.data)[i] = (float)(i % 251) / 251;
    struct task task = {.out.format = FP32, .accumulator = FP32};
    task.shape = method_shape(method_named("sum/tiled"), DEVICE_CUDA, N, task.shape);
    bool fine = gpu_upload(&input, 0, &a, 0, &p) == STATUS_OK &&
                gpu_job_open(&job, input, method_named("sum/tiled"), &task, &p) == STATUS_OK &&
                gpu_job_start(job, 1, &p) == STATUS_OK &&
                gpu_job_wait(job, &due, &idle_ns, &p) == STATUS_OK;
    cr_assert(fine, "%s", p.text);
    for (int again = 0; again < 3; again++) {
        struct load *load;
        cr_assert(load_begin(&load, 0, &p) == STATUS_OK, "%s", p.text);
        cr_expect(run_beside(job, load, 20, due), "20 rounds of the load took more than 20 s");
        load_end(load);
    }
    gpu_job_close(job);
    gpu_release(input);
    free(a.data);
}
