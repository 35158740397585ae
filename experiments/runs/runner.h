/* Running a case many times, on the CPU or on a GPU. */
#pragma once

#include <signal.h>

#include "experiments/system/device.h"
#include "kernels/gpu/gpu.h"

struct runner {
    const struct method *method;
    struct device device;
    const struct operands *of;   /* in host memory */
    const struct gpu_input *gpu; /* on a GPU: the same, uploaded */
    enum format accumulator, output;
    struct shape shape;                /* resolved */
    const volatile sig_atomic_t *stop; /* not 0: stop behind the run or batch in progress */
};

/* The results of consecutive runs. */
struct runner_results {
    size_t runs;
    const struct hash128 *digest; /* of each, as gpu_job_wait (kernels/gpu/gpu.h) says them */
    const uint64_t *time_ns;      /* or NULL: of a foreign method it may not be known */
    /* Copies the whole output of run i to host memory; while the results are digested. */
    enum status (*output)(void *source, size_t i, const struct array *to, struct problem *p);
    void *source;
};

/* Takes results, while the next runs are under way. */
typedef enum status (*runner_digest)(void *context, const struct runner_results *results,
                                     struct problem *p);

/* Runs it `runs` times. STATUS_INTERRUPTED where it was stopped; what `digest` returns, where that
 * is not STATUS_OK, ends it too. */
enum status runner_run(const struct runner *r, uint64_t runs, runner_digest digest, void *context,
                       struct problem *p);

/* A run, whose output has its format, and no place yet. */
struct task runner_task(const struct runner *r);

/* Of a result in host memory, as gpu_job_wait says it. */
struct hash128 runner_digest_of(const struct method *m, const struct array *out);

/* One run on the CPU, or of a foreign method, whose output goes to `out`. */
enum status runner_once(const struct runner *r, const struct array *out, struct problem *p);
