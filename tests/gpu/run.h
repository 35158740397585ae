/* Runs on a GPU whose bits are to be the same. */
#pragma once

#include <criterion/criterion.h>

#include "kernels/gpu/gpu.h"

/* The result of a task, as gpu_job_open takes it, on an input: all of three runs are one, unless
 * nothing is promised. */
static inline uint64_t gpu_run_same(const struct gpu_input *input, const struct method *m,
                                    const struct task *task, const char *what)
{
    struct hash128 bits[3];
    double time_ns[3];
    struct problem p = {0};
    struct gpu_job *job = NULL;
    bool fine = gpu_job_open(&job, input, m, task, &p) == STATUS_OK &&
                gpu_job_start(job, 3, &p) == STATUS_OK &&
                gpu_job_wait(job, bits, time_ns, &p) == STATUS_OK;
    gpu_job_close(job);
    cr_assert(fine, "%s: %s", what, p.text);
    for (size_t i = 1; i < 3 && m->promise > PROMISE_NONE; i++)
        cr_assert_eq(bits[i].word[0], bits[0].word[0], "%s: run %zu differs", what, i);
    return bits[0].word[0];
}
